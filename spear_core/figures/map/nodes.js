// The nodes of a map answer: who is under the pointer, a click asks why, a lasso counts.
//
// What is known of them comes in `layout.meta.nodes` of the figure, in the order in which the
// traces with meta "nodes" draw them (nodes.py). Nothing here knows the host.

const REACH = 14; // pixels from which a node is found
const NUMBERS = {
  i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array,
  i4: Int32Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array,
};

function unpacked(list) {
  // numbers as Plotly's JSON has them: a list, or base64 with the kind of number
  if (!list?.bdata) return list ?? [];
  const bytes = Uint8Array.from(atob(list.bdata), (letter) => letter.charCodeAt(0));
  return new NUMBERS[list.dtype](bytes.buffer);
}

function part(name, root) {
  const made = document.createElement("div");
  made.className = name;
  root.append(made);
  return made;
}

function a(name) {
  // a class in a sentence: "a 1", "an 8", and names as they are
  if (!/^\d+$/.test(name)) return name;
  return (/^(8|11$|18$)/.test(name) ? "an " : "a ") + name;
}

export function askable(gd, root) {
  // Lets the nodes of a drawn map answer. `root` is the positioned element around the plot.
  const tip = part("map-tip", root), ring = part("map-here", root), said = part("map-said", root);
  said.setAttribute("aria-live", "polite");
  let nodes, traces = [], x = [], y = [], at = -1, busy = false, down = null, title = "";
  let stepped = null; // the id of the node that the keys are at: a redraw does not lose it

  function update(figure) {
    // the nodes of a figure that was just drawn
    const told = figure.layout.meta?.nodes;
    said.hidden = !told;
    hide();
    traces = [];
    if (!told) return;
    nodes = { ...told };
    for (const name of ["id", "label", "role", "client", "named", "rival", "best", "second"]) {
      nodes[name] = unpacked(told[name]);
    }
    [x, y] = [[], []];
    figure.data.forEach((trace, curve) => {
      if (trace.meta !== "nodes") return;
      traces.push({ curve, start: x.length });
      x.push(...unpacked(trace.x));
      y.push(...unpacked(trace.y));
    });
    title = (figure.layout.annotations?.[0]?.text ?? "").replace(/<[^>]*>/g, "");
    say(told.said);
  }

  const shown = ({ curve }) => gd._fullData[curve]?.visible === true;

  function every(visit) {
    traces.forEach((trace, i) => {
      if (!shown(trace)) return;
      for (let n = trace.start; n < (traces[i + 1]?.start ?? x.length); n++) visit(n);
    });
  }

  function pixel(n) {
    const { xaxis, yaxis } = gd._fullLayout;
    return [xaxis._offset + xaxis.d2p(x[n]), yaxis._offset + yaxis.d2p(y[n])];
  }

  function inside(px, py) {
    const { xaxis, yaxis } = gd._fullLayout;
    const within = (p, axis) => p >= axis._offset && p <= axis._offset + axis._length;
    return within(px, xaxis) && within(py, yaxis);
  }

  function nearest(px, py) {
    let found = -1, least = REACH * REACH;
    every((n) => {
      const [u, v] = pixel(n), far = (u - px) ** 2 + (v - py) ** 2;
      if (far < least) [found, least] = [n, far];
    });
    return found;
  }

  function nearer(event) {
    // whether a node lies nearer to the pointer than the mark that Plotly has found
    const p = event.points[0];
    if (!traces.length || !event.event || p?.x === undefined) return false;
    const [px, py] = local(event.event), n = nearest(px, py);
    if (n < 0) return false;
    const { xaxis, yaxis } = gd._fullLayout;
    const [u, v] = [xaxis._offset + xaxis.d2p(p.x), yaxis._offset + yaxis.d2p(p.y)];
    const [a, b] = pixel(n);
    return Math.hypot(a - px, b - py) + 2 < Math.hypot(u - px, v - py);
  }

  const score = (v, digits) => (v / nodes.scale).toFixed(digits).replace(/^(-?)0\./, "$1.");

  function sure(n) {
    const [best, second] = [nodes.best[n], nodes.second[n]];
    if (second <= -nodes.scale * 2) return "no other class has a prototype";
    const digits = [2, 3].find((d) => score(best, d) !== score(second, d)) ?? 4;
    const about = nodes.about ? "about " : "";
    const rival = nodes.names[nodes.rival[n]];
    return `${about}${score(best, digits)} against ${score(second, digits)} for ${rival}`;
  }

  function words(n) {
    const [own, given] = [nodes.names[nodes.label[n]], nodes.names[nodes.named[n]]];
    const role = nodes.roles[nodes.role[n]];
    return [
      `node ${nodes.id[n]}: ${a(own)}, named ${given}`,
      `${role && role + " node of "}client ${nodes.client[n]} · ${sure(n)}`,
    ];
  }

  function point(n, how) {
    // the tooltip at a node; `how` says how it is asked why
    if (n !== at) gd.spear.hover?.(nodes.id[n]);
    at = n;
    const [px, py] = pixel(n);
    const lines = [...words(n), how];
    tip.replaceChildren(...lines.map((line) => {
      const p = document.createElement("p");
      p.textContent = line;
      return p;
    }));
    tip.classList.toggle("wrong", nodes.label[n] !== nodes.named[n]);
    tip.style.display = ring.style.display = "block";
    const left = px + 14 + tip.offsetWidth > gd.clientWidth ? px - 14 - tip.offsetWidth : px + 14;
    const top = Math.max(0, py - tip.offsetHeight - 8);
    tip.style.transform = `translate(${Math.max(0, left)}px, ${top}px)`;
    ring.style.transform = `translate(${px}px, ${py}px)`;
  }

  function hide() {
    if (at >= 0) gd.spear.hover?.(null);
    at = -1;
    tip.style.display = ring.style.display = "none";
  }

  function say(text) {
    said.textContent = text || (gd.layout.meta.pair ? title : `${title} · hover or click any`);
  }

  function count(some, name) {
    // how many of some nodes are right, counted on the test nodes among them
    const tested = some.filter((n) => nodes.roles[nodes.role[n]] === "test");
    const right = tested.filter((n) => nodes.label[n] === nodes.named[n]).length;
    const by = new Map();
    some.forEach((n) => by.set(nodes.label[n], (by.get(nodes.label[n]) ?? 0) + 1));
    const most = [...by].sort((one, two) => two[1] - one[1])[0];
    const which = most ? `; most are ${nodes.names[most[0]]} (${most[1].toLocaleString("en")})` : "";
    const share = tested.length ? `${(100 * right / tested.length).toFixed(1)} % right, ` : "";
    const [all, of] = [some, tested].map((part) => part.length.toLocaleString("en"));
    say(`${name}${all} nodes: ${share}${right.toLocaleString("en")} of ${of} test nodes${which}`);
  }

  function local(event) {
    const box = gd.getBoundingClientRect();
    return [event.clientX - box.x, event.clientY - box.y];
  }

  function label(px, py) {
    // the class whose name is written there
    const trace = gd._fullData.find((one) => one.name === "true centroids" && one.text?.length);
    const { xaxis, yaxis } = gd._fullLayout;
    const near = (c, i) => {
      const sides = [trace.textposition].flat(), wide = 4 * nodes.names[c.class].length + 6;
      const [up, along] = (sides[i] ?? sides[0]).split(" ");
      const x = xaxis._offset + xaxis.d2p(trace.x[i]) + { left: -wide, center: 0, right: wide }[along];
      const y = yaxis._offset + yaxis.d2p(trace.y[i]) + { top: -23, middle: 0, bottom: 23 }[up];
      return trace.text[i] && Math.abs(x - px) < wide && Math.abs(y - py) < 15;
    };
    return trace?.customdata?.find(near);
  }

  function answer(customdata) {
    // a class is answered here, whatever else was picked is for the host
    if (customdata?.class === undefined || !nodes) return false;
    say(nodes.shares[customdata.class]);
    return true;
  }

  function move(event) {
    if (!traces.length || busy || event.buttons) return hide();
    const [px, py] = local(event), n = inside(px, py) ? nearest(px, py) : -1;
    if (n < 0) return hide();
    if (n !== at) point(n, "why? click");
  }

  function press(event) {
    down = event.target.closest?.(".nsewdrag") ? local(event) : null;
  }

  function release(event) {
    if (!down || !traces.length || busy) return;
    const [px, py] = local(event);
    if (Math.hypot(px - down[0], py - down[1]) > 4) return;
    const n = nearest(px, py), written = n < 0 && label(px, py);
    if (n >= 0) gd.spear.pick({ node: nodes.id[n] });
    else if (written) answer(written);
  }

  function step(by) {
    // to the next node that is shown, for the keyboard
    const all = [];
    every((n) => all.push(n));
    if (!all.length) return;
    const now = all.findIndex((n) => nodes.id[n] === stepped);
    const n = all[now < 0 ? (by > 0 ? 0 : all.length - 1) : (now + by + all.length) % all.length];
    stepped = nodes.id[n];
    point(n, "why? press Enter");
    gd.spear.at = { customdata: { node: nodes.id[n] } };
    say(words(n).join(", "));
  }

  function leave() {
    hide();
    stepped = null;
    say();
    if (nodes?.asked) gd.spear.pick({ node: null });
  }

  function listen() {
    // to Plotly's own events
    gd.on("plotly_hover", (event) => {
      busy = !nearer(event);
      if (busy) hide();
      else gd.spear.Plotly.Fx.unhover(gd);
    });
    gd.on("plotly_unhover", () => { busy = false; });
    gd.on("plotly_relayout", hide);
    gd.on("plotly_selected", (event) => {
      if (!event || !traces.length) return;
      const start = new Map(traces.map((trace) => [trace.curve, trace.start]));
      const some = event.points.filter((p) => start.has(p.curveNumber));
      count(some.map((p) => start.get(p.curveNumber) + p.pointNumber), "");
    });
    gd.on("plotly_deselect", () => say());
    gd.on("plotly_legendclick", (event) => {
      const g = traces.findIndex(({ curve }) => curve === event.curveNumber);
      if (g < 0) return;
      if (nodes.by === "class") {
        answer({ class: g });
        return;
      }
      const some = [];
      for (let n = traces[g].start; n < (traces[g + 1]?.start ?? x.length); n++) some.push(n);
      count(some, `${event.data[event.curveNumber].name}, `);
    });
  }

  gd.addEventListener("mousemove", move);
  gd.addEventListener("mouseleave", hide);
  gd.addEventListener("pointerdown", press, true);
  window.addEventListener("pointerup", release, true);

  function destroy() {
    window.removeEventListener("pointerup", release, true);
    [tip, ring, said].forEach((one) => one.remove());
  }

  return { update, listen, step, answer, hide, leave, destroy };
}
