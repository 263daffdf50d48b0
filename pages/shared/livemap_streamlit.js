// The live map as a Streamlit component: appended to livemap.js, whose `mount` it calls.

export default function ({ data, parentElement: root, setTriggerValue }) {
  if (!root.querySelector(".live-map")) {
    root.liveMap = mount(root, () => plotlyFrom(data.source));
  }
  const { liveMap } = root;
  liveMap.update({ ...data, pick: (customdata) => setTriggerValue("picked", customdata) });
  return () => setTimeout(() => {
    if (!root.isConnected) liveMap.destroy(); // else it was only a rerun
  }, 1000);
}
