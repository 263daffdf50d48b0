"""What moves on a page when a knob is moved: shifts the browser saw, and places frame by frame."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from pages.shared.link import SETTINGS
from pages.shared.pages import PAGES

MOVED = [name for name in SETTINGS if name != "dataset"]
SWITCHES = {
    "lab": ("noise", "liars", "private", "clean"),
    "estimator": ("LANCE", "custom", "SPEAR"),
}
ASIDE = ("side_edge_noise", "side_attacker_count", "side_defence", "side_epsilon")  # of the lab
ENABLED = "input:not([disabled]), [role=radio]:not([disabled])"

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
  const watched = () => [...document.querySelectorAll(WATCHED)].filter((e) => e.checkVisibility());
  still.calm = () => { // asked every frame: whether what came before has found its place
    const now = watched().map(place).join();
    still.same = now === still.last ? still.same + 1 : 0;
    still.last = now;
    return still.same > 10;
  };
  still.start = () => {
    const seen = watched();
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
    """Move every setting that an open page offers, then its switches: what happens, and by whom."""
    yield from _moved(tab, MOVED, seconds)
    for key, words in SWITCHES.items():
        for word in words:
            free = _of(tab, key).locator(ENABLED)
            if free.count() and _chosen(tab, key) != word:
                act = partial(_choose, tab, key, word)
                yield _watched(tab, f"{key}: {word}", _of(tab, key), act, seconds)
                yield from _moved(tab, ASIDE, seconds)


def _moved(tab: Any, names: Iterable[str], seconds: float) -> Iterator[Move]:
    """Each control of these settings, in the sidebar and on the page, one step."""
    for name in names:
        for i in range(_of(tab, name).count()):
            control = _of(tab, name).nth(i)
            if control.locator(ENABLED).count() and control.is_visible():
                yield _watched(tab, name, control, partial(_step, tab, control), seconds)


def _of(tab: Any, key: str) -> Any:
    return tab.locator(f"[data-testid=stElementContainer].st-key-{key}")


def _watched(tab: Any, name: str, on: Any, act: Callable[[], None], seconds: float) -> Move:
    on.evaluate("(control) => control.scrollIntoView({ block: 'center' })")
    tab.evaluate("() => { still.last = undefined; }")
    tab.wait_for_function("() => still.calm()", timeout=1000 * seconds, polling="raf")
    tab.evaluate("() => new Promise(requestAnimationFrame).then(still.start)")
    address = tab.url
    act()
    tab.wait_for_function("(was) => location.href !== was", arg=address, timeout=1000 * seconds)
    quiet(tab, seconds)
    told = tab.evaluate("() => still.stop()")
    return Move(name, told["shift"], told["far"], told["who"], told["gone"], told)


def _step(tab: Any, control: Any) -> None:
    """Another value of a control, by what kind it is."""
    part = control.locator(ENABLED).first
    role = part.get_attribute("role") or part.get_attribute("type")
    if role == "radio":
        control.locator("[role=radio][aria-checked=false]").first.click()
    elif role == "combobox":
        part.click()
        tab.locator("[role=option][aria-selected=false]").first.click()
    elif role == "switch":
        part.press("Space")
    elif role in ("range", "slider"):
        last = part.input_value() == part.get_attribute("max")
        part.press("ArrowLeft" if last else "ArrowRight")
    else:
        part.press("ArrowUp")


def _chosen(tab: Any, key: str) -> str:
    told = (
        "(e) => e.querySelector('[aria-checked=true]')?.innerText ?? e.querySelector('input').value"
    )
    return str(_of(tab, key).evaluate(told)).strip()


def _choose(tab: Any, key: str, word: str) -> None:
    if key == "lab":
        _of(tab, key).get_by_role("radio", name=word, exact=True).click()
    else:
        _of(tab, key).get_by_role("combobox").click()
        tab.get_by_role("option", name=word, exact=True).click()


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
