// One Plotly node that is updated in place, so that zoom, pan and legend survive every update.
//
// It knows neither Streamlit nor Jupyter: a host calls `mount` and then `update` as often as it
// likes. Colours come from the custom properties --map-ink, --map-paper and --map-font, if the
// host sets them on .live-map.

const SVG_BUTTON = {
  name: "svg",
  title: "Download as SVG",
  icon: {
    width: 24, height: 24,
    path: "M12 16l-5-5h3V4h4v7h3zM5 18h14v2H5z",
  },
  click: (gd) => gd.spear.Plotly.downloadImage(gd, { format: "svg", filename: "spear-map" }),
};

export function plotlyFrom(source) {
  // Plotly from an address of the host's, loaded once a page
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

function theme(gd) {
  const style = getComputedStyle(gd);
  return ["--map-ink", "--map-paper", "--map-font"]
    .map((name) => style.getPropertyValue(name).trim()).join("|");
}

function dressed(figure, look) {
  // the figure in the colours of the host's theme
  const [ink, paper, font] = look.split("|");
  const [text, page] = [ink || "#31333f", paper || "#ffffff"];
  const layout = figure.layout;
  layout.font = { ...layout.font, color: text, family: font || "sans-serif" };
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
    gd.spear.Plotly.relayout(gd, { "xaxis.range": range(x, by, right), "yaxis.range": range(y, by, up) });
  const moves = {
    "+": () => show(0.8, 0, 0), "=": () => show(0.8, 0, 0), "-": () => show(1.25, 0, 0),
    ArrowLeft: () => show(1, -0.2, 0), ArrowRight: () => show(1, 0.2, 0),
    ArrowUp: () => show(1, 0, 0.2), ArrowDown: () => show(1, 0, -0.2),
    0: () => gd.spear.Plotly.relayout(gd, { "xaxis.autorange": true, "yaxis.autorange": true }),
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
  gd.spear.Plotly.Fx.hover(gd, [{ curveNumber, pointNumber }]);
}

async function draw(gd, getPlotly) {
  const state = gd.spear;
  const Plotly = state.Plotly = await getPlotly();
  if (!gd.isConnected) return;
  const { data, layout } = dressed(JSON.parse(state.figure), state.look);
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
  if (!state.sized) {
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

export function mount(root, getPlotly) {
  // A map in an element of the host's; `getPlotly` gives a promise of Plotly. Returns
  // `update({ figure, alt, height, pick })`, the figure as JSON, `pick` called with the
  // customdata of a point that was chosen; and `destroy()`.
  const gd = document.createElement("div");
  gd.className = "live-map";
  gd.tabIndex = 0;
  gd.setAttribute("role", "img");
  const words = document.createElement("p");
  words.className = "live-map-words";
  root.append(gd, words);
  const state = gd.spear = { figure: undefined, look: undefined, pick: () => {} };

  function redraw() {
    draw(gd, getPlotly).catch((error) => { gd.textContent = error.message; });
  }

  const watch = setInterval(() => {
    // a host changes its theme without an update
    if (gd.isConnected && state.figure && theme(gd) !== state.look) {
      state.look = theme(gd);
      redraw();
    }
  }, 500);

  function update({ figure, alt, height, pick }) {
    gd.setAttribute("aria-label", alt);
    words.textContent = alt;
    gd.style.height = height + "px";
    state.pick = pick;
    const look = theme(gd);
    if (state.figure !== figure || state.look !== look) {
      Object.assign(state, { figure, look });
      redraw();
    }
  }

  function destroy() {
    clearInterval(watch);
    state.sized?.disconnect();
    state.Plotly?.purge(gd); // gives its WebGL context back
    gd.remove();
    words.remove();
  }

  return { update, destroy };
}
