"""What moves on a page when a knob is moved: shifts the browser saw, and places frame by frame."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pages.shared.pages import PAGES

# run before the page's own scripts; counts WebGL contexts that are alive, too
INIT = """
(() => {
  const still = window.still = { shift: 0, runs: 0, contexts: new Set(), sources: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) { // those after recent input as well
      still.shift += entry.value;
      for (const s of entry.sources) still.sources.push([still.name(s.node), entry.value]);
    }
  }).observe({ type: "layout-shift", buffered: true });
  const get = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    const context = get.call(this, kind, ...more);
    if (context && /webgl/.test(kind)) still.contexts.add(context);
    return context;
  };
  still.alive = () => [...still.contexts].filter(
    (c) => !c.isContextLost() && c.canvas.isConnected).length;
  still.name = (node) => {
    const element = node?.nodeType === 1 ? node : node?.parentElement;
    if (!element) return "nothing";
    const keyed = element.closest("[class*=st-key-]")?.className.match(/st-key-(\\S+)/)?.[1] ?? "";
    const words = (element.innerText ?? "").trim().slice(0, 40).replaceAll("\\n", " ");
    const kind = element.dataset.testid ?? element.closest("[data-testid]")?.dataset.testid ?? "";
    return `${kind} ${keyed} ${words}`;
  };
  const WATCHED = "[data-testid=stMain] :is([data-testid=stElementContainer], .stColumn, h1, h2, "
    + "h3, h4, [data-testid=stMetric], [data-testid=stVerticalBlock], .live-map, .live-chart, "
    + ".js-plotly-plot), [data-testid=stSidebar] [data-testid=stElementContainer]";
  const place = (e) => {
    const box = e.getBoundingClientRect();
    const scroller = document.querySelector("[data-testid=stMain]");
    return [box.x, box.y + (e.closest("[data-testid=stMain]") ? scroller.scrollTop : 0)];
  };
  still.start = () => {
    const seen = [...document.querySelectorAll(WATCHED)].filter((e) => e.checkVisibility());
    const from = seen.map(place);
    const charts = [...document.querySelectorAll(".js-plotly-plot")];
    const move = still.move = { far: 0, who: "", gone: 0, moved: {}, frames: 0 };
    still.shift = 0;
    still.sources = [];
    still.from = still.runs;
    const token = still.token = {};
    const frame = () => {
      if (still.token !== token) return;
      move.frames += 1;
      seen.forEach((e, i) => {
        if (!e.isConnected || !e.checkVisibility()) return;
        const now = place(e);
        const far = Math.max(Math.abs(now[0] - from[i][0]), Math.abs(now[1] - from[i][1]));
        if (far > 2) move.moved[still.name(e)] = Math.max(move.moved[still.name(e)] ?? 0, far);
        if (far > move.far) { move.far = far; move.who = still.name(e); }
      });
      move.gone = charts.filter((e) => !e.isConnected).length;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  };
  still.stop = () => {
    still.token = undefined;
    return { ...still.move, shift: still.shift, sources: still.sources, alive: still.alive() };
  };
  still.busy = () => {
    const app = document.querySelector("[data-testid=stApp]");
    return app?.dataset.testScriptState !== "notRunning";
  };
  addEventListener("DOMContentLoaded", () => {
    let state;
    new MutationObserver(() => {
      const now = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState;
      if (now !== state && now === "running") still.runs += 1;
      state = now;
    }).observe(document.body, {
      subtree: true, childList: true, attributes: true,
      attributeFilter: ["data-test-script-state"],
    });
  });
})();
"""


@dataclass(frozen=True)
class Move:
    """What one move of a knob did to a page."""

    knob: str
    shift: float  # the browser's layout shifts, all of them
    far: float  # px that the element which moved most was from its place
    who: str
    gone: int  # charts that were rebuilt
    told: dict[str, Any]


def moves(tab: Any, seconds: float = 60) -> Iterator[Move]:
    """Move every knob of an open page once: those of the sidebar, or the page's own."""
    side = tab.get_by_test_id("stSidebar").get_by_role("slider", disabled=False)
    knobs = side if side.count() else tab.get_by_role("slider", disabled=False)
    for i in range(knobs.count()):
        knob = knobs.nth(i)
        name = knob.get_attribute("aria-label") or str(i)
        knob.focus()
        tab.wait_for_timeout(100)
        tab.evaluate("() => still.start()")
        last = knob.input_value() == knob.get_attribute("max")
        knob.press("ArrowLeft" if last else "ArrowRight")
        tab.wait_for_function("() => still.runs > still.from", timeout=1000 * seconds)
        quiet(tab, seconds)
        told = tab.evaluate("() => still.stop()")
        yield Move(name, told["shift"], told["far"], told["who"], told["gone"], told)


def path(page: str) -> str:
    """Where a page is in the address: the default one has no path."""
    return "" if page == PAGES[0].name else page


def quiet(tab: Any, seconds: float = 60) -> None:
    """Wait until no script has run for half a second."""
    tab.wait_for_function(
        """() => {
            if (still.busy()) still.idle = undefined; else still.idle ??= performance.now();
            return still.idle !== undefined && performance.now() - still.idle > 500;
        }""",
        timeout=1000 * seconds,
        polling=50,
    )
    tab.evaluate("() => { still.idle = undefined; }")
