// A live map or chart as a Streamlit component: appended to livemap.js, whose `mount` it calls.

export default function ({ data, parentElement: root, setTriggerValue }) {
  root.liveMap ??= mount(root, () => plotlyFrom(data.source), data.kind);
  const { liveMap } = root;
  root.querySelector("." + data.kind).classList.toggle("picks", data.picks);
  const pick = (customdata) => data.picks && setTriggerValue("picked", customdata);
  liveMap.update({ ...data, pick });
  return () => setTimeout(() => {
    if (!root.isConnected) liveMap.destroy(); // else it was only a rerun
  }, 1000);
}
