// A live map or chart as an anywidget: appended to livemap.js, whose `mount` it calls.

const asked = (window.spearAsked ??= {}); // by kernel: one that was restarted never answers

function initialize({ model }) {
  // Plotly's own file comes over the kernel, once a page, and is no part of the widget's state
  model.on("msg:custom", (message, buffers) => {
    if (message.kind !== "plotly") return;
    const file = new Blob([buffers[0]], { type: "text/javascript" });
    asked[model.get("kernel")].resolve(plotlyFrom(URL.createObjectURL(file)));
  });
}

function overKernel(model) {
  if (window.spearPlotly) return window.spearPlotly;
  const kernel = model.get("kernel");
  if (!asked[kernel]) {
    asked[kernel] = Promise.withResolvers();
    model.send({ kind: "plotly?" });
  }
  return asked[kernel].promise;
}

function name(el) {
  // what a screen reader says of the sliders around a map: ipywidgets leaves them without a name
  for (const handle of el.closest(".spear-explorer")?.querySelectorAll("[role=slider]") ?? []) {
    const control = handle.closest(".spear-control");
    handle.setAttribute("aria-label", control.querySelector("label").textContent);
    handle.setAttribute("aria-valuetext", control.querySelector(".widget-readout").textContent);
  }
}

function render({ model, el }) {
  const kind = model.get("kind");
  const live = mount(el, () => overKernel(model), kind);
  el.querySelector("." + kind).classList.toggle("picks", model.get("picks"));
  el.setAttribute("data-lm-suppress-shortcuts", "true"); // or Jupyter takes the map's keys for its own
  const pick = (customdata) => model.get("picks") && model.send({ kind: "pick", customdata });
  const hover = (node) => {
    model.set("hovered", node);
    model.save_changes();
  };
  const update = () => {
    live.update({ ...model.get("drawing"), pick, hover });
    requestAnimationFrame(() => name(el));
  };
  model.on("change:drawing", update);
  update();
  return () => {
    model.off("change:drawing", update);
    live.destroy();
  };
}

export default { initialize, render };
