// The message: one SVG that keeps its node. New data changes its parts in place, by their data-key.

const SHELL = `<div class="bar"><b>The message</b>
  <button class="play-again" title="Play what was sent once more">▶ play again</button>
  <button class="save" title="Save as one animated SVG file">save SVG</button></div>`;

function parsed(svg) {
  const made = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  made.classList.remove("play");
  return document.importNode(made, true);
}

function place(part) {
  // the attribute once more as a style, since only styles move gently
  const at = /^translate\((\S+) (\S+)\)$/.exec(part.getAttribute("transform") ?? "");
  if (at) part.style.transform = `translate(${at[1]}px, ${at[2]}px)`;
}

function dress(old, made) {
  for (const { name, value } of made.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  place(old);
}

function renew(old, made) {
  // groups keep their parts as long as there are such; what has no key of its own is replaced
  const kept = new Map([...old.children].map((part) => [part.dataset.key, part]));
  old.replaceChildren(...[...made.children].map((part) => {
    const before = part.dataset.key && kept.get(part.dataset.key);
    if (!before) {
      if (part.dataset.key) { place(part); part.querySelectorAll("[data-key]").forEach(place); }
      return part;
    }
    if (!before.isEqualNode(part)) { renew(before, part); dress(before, part); }
    return before;
  }));
}

function play(svg) {
  svg.classList.remove("play");
  svg.getBoundingClientRect(); // so that it starts anew
  svg.classList.add("play");
  const moves = svg.getAnimations({ subtree: true });
  if (!moves.length) return svg.classList.remove("play"); // still: motion is not wanted
  svg.dataset.plays = Number(svg.dataset.plays ?? 0) + 1;
  Promise.allSettled(moves.map((move) => move.finished)).then(() => {
    if (!svg.getAnimations({ subtree: true }).length) svg.classList.remove("play");
  });
}

function save({ svg, file }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export default function ({ data, parentElement: root }) {
  const made = parsed(data.svg);
  let svg = root.querySelector("svg.message");
  root.spearMessage = data;
  if (svg) {
    if (root.spearDrawn !== data.svg) renew(svg, made);
  } else {
    const shell = document.createElement("div");
    shell.innerHTML = SHELL;
    root.append(shell, made);
    svg = made;
    svg.querySelectorAll("[data-key]").forEach(place);
    root.querySelector(".play-again").onclick = () => play(svg);
    root.querySelector(".save").onclick = () => save(root.spearMessage);
    if (!window.spearMessagePlayed) {
      window.spearMessagePlayed = true;
      play(svg);
    }
  }
  root.spearDrawn = data.svg;
}
