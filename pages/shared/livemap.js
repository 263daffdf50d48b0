// One Plotly node that is updated in place, so that zoom, pan and legend survive every rerun.

const SVG_BUTTON = {
  name: "svg",
  title: "Download as SVG",
  icon: {
    width: 24, height: 24,
    path: "M12 16l-5-5h3V4h4v7h3zM5 18h14v2H5z",
  },
  click: (gd) => window.Plotly.downloadImage(gd, { format: "svg", filename: "spear-map" }),
};

function plotly(source) {
  // Plotly of the installed package, loaded once a page
  window.spearPlotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      window.spearPlotly = undefined;
      reject(new Error("Plotly could not be loaded from " + source));
    };
    document.head.appendChild(script);
  });
  return window.spearPlotly;
}

function dressed(figure, root) {
  // the figure in the colours of Streamlit's theme
  const style = getComputedStyle(root);
  const colour = (name, other) => style.getPropertyValue(name).trim() || other;
  const text = colour("--st-text-color", "#31333f");
  const page = colour("--st-background-color", "#ffffff");
  const layout = figure.layout;
  layout.font = { ...layout.font, color: text, family: colour("--st-font", "sans-serif") };
  layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
  layout.hoverlabel = {
    bgcolor: page, bordercolor: text, font: { color: text, size: 13 }, align: "left",
  };
  layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: text + "99", activecolor: text };
  layout.uirevision ??= "live map";
  layout.autosize = true;
  delete layout.template;
  for (const trace of figure.data) {
    // "ink" is drawn in the colour of the text, "outlined" has a rim of it
    const ink = trace.meta === "ink";
    if (ink && trace.line) trace.line.color = text;
    if (ink && trace.marker) trace.marker.color = text;
    if ((ink || trace.meta === "outlined") && trace.marker?.line) trace.marker.line.color = text;
  }
  return figure;
}

function keys(gd, event) {
  // + and - zoom, 0 shows all, arrows move, n and p step through the prototypes, Enter picks one
  const [x, y] = [gd._fullLayout.xaxis, gd._fullLayout.yaxis];
  const range = (axis, by, shift) => {
    const [low, high] = axis.range;
    const [middle, half] = [(low + high) / 2, ((high - low) / 2) * by];
    return [middle - half + shift * half, middle + half + shift * half];
  };
  const show = (by, right, up) =>
    window.Plotly.relayout(gd, { "xaxis.range": range(x, by, right), "yaxis.range": range(y, by, up) });
  const moves = {
    "+": () => show(0.8, 0, 0), "=": () => show(0.8, 0, 0), "-": () => show(1.25, 0, 0),
    ArrowLeft: () => show(1, -0.2, 0), ArrowRight: () => show(1, 0.2, 0),
    ArrowUp: () => show(1, 0, 0.2), ArrowDown: () => show(1, 0, -0.2),
    0: () => window.Plotly.relayout(gd, { "xaxis.autorange": true, "yaxis.autorange": true }),
    n: () => step(gd, 1), p: () => step(gd, -1),
    Enter: () => gd.spear.at && gd.spear.pick(gd.spear.at.customdata),
  };
  if (moves[event.key] && !event.ctrlKey && !event.metaKey) {
    moves[event.key]();
    event.preventDefault();
    event.stopPropagation();
  }
}

function step(gd, by) {
  const points = [];
  gd.data.forEach((trace, curveNumber) => {
    if (trace.visible === "legendonly" || !Array.isArray(trace.customdata)) return;
    trace.customdata.forEach((customdata, pointNumber) =>
      points.push({ curveNumber, pointNumber, customdata }));
  });
  if (!points.length) return;
  const last = gd.spear.at ? gd.spear.index : by > 0 ? -1 : 0;
  gd.spear.index = (last + by + points.length) % points.length;
  gd.spear.at = points[gd.spear.index];
  const { curveNumber, pointNumber } = gd.spear.at;
  window.Plotly.Fx.hover(gd, [{ curveNumber, pointNumber }]);
}

async function draw(gd, root) {
  const state = gd.spear;
  const Plotly = await plotly(state.source);
  if (!gd.isConnected) return;
  const { data, layout } = dressed(JSON.parse(state.figure), root);
  const config = {
    displaylogo: false,
    responsive: false, // the observer below sees more than the window's size
    displayModeBar: true,
    showSendToCloud: false, // nothing leaves this machine
    plotlyServerURL: "",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    modeBarButtonsToAdd: [SVG_BUTTON],
    toImageButtonOptions: { filename: "spear-map", scale: 2 },
  };
  await Plotly.react(gd, data, layout, config);
  if (!state.listening) {
    state.listening = true;
    gd.on("plotly_click", (event) => {
      const point = event.points.find((p) => p.customdata !== undefined);
      if (point) state.pick(point.customdata);
    });
    gd.addEventListener("keydown", (event) => keys(gd, event));
    state.sized = new ResizeObserver(() => {
      if (gd.isConnected && gd.clientWidth) Plotly.Plots.resize(gd);
    });
    state.sized.observe(gd);
  }
  state.drawn = (state.drawn ?? 0) + 1;
  gd.dataset.drawn = state.drawn; // how often it was updated, for tests
}

function theme(root) {
  const style = getComputedStyle(root);
  return ["--st-text-color", "--st-background-color", "--st-font"]
    .map((name) => style.getPropertyValue(name)).join("|");
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement;
  let gd = root.querySelector(".live-map");
  if (!gd) {
    gd = document.createElement("div");
    gd.className = "live-map";
    gd.tabIndex = 0;
    gd.setAttribute("role", "img");
    gd.spear = {};
    const words = document.createElement("p");
    words.className = "live-map-words";
    root.append(gd, words);
  }
  const state = gd.spear;
  gd.setAttribute("aria-label", data.alt);
  root.querySelector(".live-map-words").textContent = data.alt;
  gd.style.height = data.height + "px";
  state.pick = (customdata) => setTriggerValue("picked", customdata);
  state.source = data.source;
  const look = theme(root);
  if (state.figure !== data.figure || state.look !== look) {
    Object.assign(state, { figure: data.figure, look });
    draw(gd, root).catch((error) => { gd.textContent = error.message; });
  }
  state.watch ??= setInterval(() => {
    // Streamlit changes its theme without a rerun
    if (gd.isConnected && theme(root) !== state.look) {
      state.look = theme(root);
      draw(gd, root);
    }
  }, 500);
  return () => {
    clearInterval(state.watch);
    state.watch = undefined;
    setTimeout(() => {
      if (gd.isConnected) return; // only a rerun
      state.sized?.disconnect();
      window.Plotly?.purge(gd); // gives its WebGL context back
    }, 1000);
  };
}
