// One Plotly node that is updated in place, so that zoom, pan and legend survive every update.
//
// It knows neither Streamlit nor Jupyter: a host calls `mount` and then `update` as often as it
// likes. What the nodes of a map answer is in nodes.js, which comes before this. Colours come from
// the custom properties --map-ink, --map-paper and --map-font, if the host sets them.

const SAVE_ICON = { width: 24, height: 24, path: "M12 16l-5-5h3V4h4v7h3zM5 18h14v2H5z" };

function saveButton(format, options) {
  return {
    name: "save-" + format,
    title: "Save as " + format.toUpperCase() + ", with title and settings",
    icon: SAVE_ICON,
    click: (gd) => gd.spear.Plotly.downloadImage(asFile(gd), { ...options, format, ...room(gd) }),
  };
}

function room(gd) {
  const names = gd.querySelectorAll(".legend .traces").length;
  return { width: Math.max(gd.clientWidth, 900), height: Math.max(gd.clientHeight, 22 * names) + 90 };
}

function asFile(gd) {
  // the figure on its ground, with title, settings and the whole legend beside it
  const { title = "", settings = "" } = gd.spear.saved ?? {};
  const short = title.length > 100 ? title.slice(0, 99) + "…" : title;
  const { width, height, ...layout } = gd.layout;
  const place = { x: 1.02, xanchor: "left", y: 1, yanchor: "top" };
  return {
    data: gd.data,
    layout: {
      ...layout,
      title: {
        text: short.replaceAll("<", "&lt;"), x: 0.01, xanchor: "left", y: 0.98, yanchor: "top",
        font: { size: 16 },
        subtitle: { text: settings.replaceAll("<", "&lt;"), font: { size: 12 } },
      },
      margin: { ...layout.margin, t: 90, r: 200 },
      legend: { ...layout.legend, orientation: "v", ...place },
      paper_bgcolor: theme(gd).split("|")[1] || "#ffffff",
    },
  };
}

const FAINT = "rgba(128,128,128,0.22)";
const CONFIG = {
  displaylogo: false,
  responsive: false, // the observer below sees more than the window's size
  showSendToCloud: false, // nothing leaves this machine
  plotlyServerURL: "",
};
const MAP_CONFIG = {
  displayModeBar: true,
  modeBarButtonsToRemove: ["select2d", "autoScale2d"],
  toImageButtonOptions: { filename: "spear-map", scale: 2 },
  formats: ["png", "svg"],
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
  layout.modebar = {
    ...layout.modebar, bgcolor: "rgba(0,0,0,0)", color: text + "99", activecolor: text,
  };
  layout.uirevision ??= "live map";
  layout.autosize = true;
  const axis = { automargin: true, gridcolor: FAINT, zerolinecolor: FAINT };
  layout.template = { layout: { xaxis: axis, yaxis: axis } };
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
  // + and - zoom, 0 shows all, arrows move, n and p step through the prototypes, j and k through
  // the nodes, Enter picks one, Escape leaves it
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
    j: () => gd.spear.nodes.step(1), k: () => gd.spear.nodes.step(-1),
    Enter: () => gd.spear.at && take(gd, gd.spear.at.customdata),
    Escape: () => gd.spear.nodes.leave(),
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
  gd.spear.nodes.hide();
  gd.spear.Plotly.Fx.hover(gd, [{ curveNumber, pointNumber }]);
}

function plain(customdata) {
  return ArrayBuffer.isView(customdata) ? Array.from(customdata) : customdata;
}

function lead(gd) {
  // the maps of a pair show the same part
  if (!gd.layout.meta?.pair) return;
  const part = (one) => [one._fullLayout.xaxis.range, one._fullLayout.yaxis.range];
  for (const other of document.querySelectorAll(".live-map[data-drawn]")) {
    if (other.layout.meta?.pair !== gd.layout.meta.pair || `${part(other)}` === `${part(gd)}`) continue;
    const [x, y] = part(gd);
    gd.spear.Plotly.relayout(other, { "xaxis.range": [...x], "yaxis.range": [...y] });
  }
}

function take(gd, customdata) {
  // what the nodes of a map do not answer themselves is for the host
  if (!gd.spear.nodes?.answer(customdata)) gd.spear.pick(plain(customdata));
}

function configured({ formats = [], ...config }) {
  // Plotly's config; a button for each format takes the place of its camera
  const options = config.toImageButtonOptions;
  return {
    ...CONFIG, ...config,
    modeBarButtonsToRemove: ["toImage", ...(config.modeBarButtonsToRemove ?? [])],
    modeBarButtonsToAdd: formats.map((format) => saveButton(format, options)),
  };
}

async function draw(gd, getPlotly) {
  const state = gd.spear;
  const Plotly = state.Plotly = await getPlotly();
  if (!gd.isConnected) return;
  const { data, layout } = dressed(JSON.parse(state.figure), state.look);
  if (!state.buttons || state.buttons.of !== state.config) {
    // the same object every time: with another one Plotly would draw anew and forget the zoom
    const config = configured(state.config ? JSON.parse(state.config) : MAP_CONFIG);
    state.buttons = { of: state.config, config };
  }
  await Plotly.react(gd, data, layout, state.buttons.config);
  if (state.listens !== gd._ev) {
    // another config has made Plotly forget who listens
    state.listens = gd._ev;
    gd.on("plotly_click", (event) => {
      const point = event.points.find((p) => typeof p.customdata === "object");
      if (point) take(gd, point.customdata);
    });
    state.nodes?.listen();
    gd.on("plotly_relayout", () => lead(gd));
  }
  if (!state.sized) {
    if (!state.config) gd.addEventListener("keydown", (event) => keys(gd, event));
    state.sized = new ResizeObserver(() => {
      if (gd.isConnected && gd.clientWidth) Plotly.Plots.resize(gd);
    });
    state.sized.observe(gd);
  }
  state.nodes?.update({ data, layout });
  state.drawn = (state.drawn ?? 0) + 1;
  gd.dataset.drawn = state.drawn; // how often it was updated, for tests
}

export function mount(root, getPlotly, kind = "live-map") {
  // A map in an element of the host's; `getPlotly` gives a promise of Plotly. Returns
  // `update({ figure, alt, height, pick, hover, config, saved })`, the figure as JSON, `pick` called
  // with the customdata of a point that was chosen, `hover` with the id of the node under the
  // pointer or null, `config` Plotly's as JSON for a chart that is no map
  // and has no keys; and `destroy()`.
  const gd = document.createElement("div");
  gd.className = kind;
  if (kind === "live-map") gd.tabIndex = 0;
  gd.setAttribute("role", "figure"); // it has buttons, which an image may not
  const words = document.createElement("p");
  words.className = "live-map-words";
  const frame = document.createElement("div");
  frame.className = "map-frame";
  frame.append(gd);
  root.append(frame, words);
  const state = gd.spear = { figure: undefined, look: undefined, pick: () => {} };
  if (kind === "live-map") state.nodes = askable(gd, frame);

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

  function update({ figure, alt, height, pick, hover, config, saved }) {
    gd.setAttribute("aria-label", alt);
    words.textContent = alt;
    gd.style.height = height + "px";
    Object.assign(state, { pick, hover });
    state.saved = saved;
    const look = theme(gd);
    if (state.figure !== figure || state.look !== look || state.config !== config) {
      Object.assign(state, { figure, look, config });
      redraw();
    }
  }

  function destroy() {
    clearInterval(watch);
    state.sized?.disconnect();
    state.Plotly?.purge(gd); // gives its WebGL context back
    state.nodes?.destroy();
    frame.remove();
    words.remove();
  }

  return { update, destroy };
}
