"""From key press to updated number and updated map, in a real browser.

`python -m benchmarks.click` starts the app and, beside it, a Streamlit script that does nothing
but print its slider's value. Times are taken in the page itself: from the key event to the change
of the number, and to Plotly's redraw of the map. Ratios are to the trivial script, in one run.
The engine's share is what the same presses cost without a page: the run, and places on the map.
"""

import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from pages.shared.knobs import GAMMAS
from spear_core import Settings, embed, run
from spear_core.figures.map.places import distances, placed
from tests.browser import FLAGS, IDLE, need_browser, running_app

TRIVIAL = """
import streamlit as st
value = st.slider("value", 0, 1000, 500, key="value")
st.metric("Accuracy on test nodes", f"{value} %")
"""
PRESSES = 40
SHARE = 30  # ms that the engine may take of a click
# γ moves the number and every prototype
BASE: dict[str, Any] = {"beta": 0.3, "gamma": 0.01, "clients": 20}

WATCH = """
() => {
  window.spear = { start: 0, number: null, map: null };
  addEventListener("keydown", () => {
    spear.start = performance.now(); spear.number = spear.map = null;
  }, true);
  const value = () =>
    document.querySelector("[data-testid=stMetric] [data-testid=stMetricValue]")?.innerText;
  let last = value();
  new MutationObserver(() => {
    const now = value();
    if (now && now !== last) {
      last = now;
      if (spear.start && spear.number === null) spear.number = performance.now() - spear.start;
    }
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
  document.querySelector(".live-map")?.on("plotly_afterplot", () => {
    if (spear.start && spear.map === null) spear.map = performance.now() - spear.start;
  });
}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        script = Path(folder) / "trivial.py"
        script.write_text(TRIVIAL)
        browser = playwright.chromium.launch(executable_path=need_browser(), args=list(FLAGS))
        with running_app(script) as trivial, running_app() as app:
            base, _, _ = measure(browser.new_page(), trivial, "value", has_map=False)
            report("trivial rerun", base, base)
            for dataset in ("digits", "Cora"):
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                url = f"{app}/?dataset={dataset}&" + "&".join(f"{k}={v}" for k, v in BASE.items())
                number, drawn, outside = measure(page, url, "γ, trust in own counts", has_map=True)
                report(f"{dataset}, number", number, base)
                report(f"{dataset}, map", drawn, base)
                print(f"{dataset}: {len(outside)} requests left this machine")
                report_engine(dataset)
        browser.close()


def measure(
    page: Page, url: str, slider: str, has_map: bool
) -> tuple[list[float], list[float], list[str]]:
    """Milliseconds to the number and to the map for every press, and outside requests."""
    outside: list[str] = []
    page.on(
        "request",
        lambda r: (
            None
            if "127.0.0.1" in r.url or r.url[:5] in ("data:", "blob:")
            else outside.append(r.url)
        ),
    )
    page.goto(url)
    page.wait_for_selector(IDLE, timeout=120_000)
    if has_map:
        page.wait_for_selector(".live-map .main-svg", timeout=120_000)
        page.wait_for_function("() => document.body.innerText.includes('UMAP ·')", timeout=300_000)
    page.wait_for_timeout(2000)
    page.evaluate(WATCH)
    handle = page.get_by_role("slider", name=slider)
    number, drawn = [], []
    for press in range(PRESSES):
        handle.press("ArrowRight" if _up(press) else "ArrowLeft")
        page.wait_for_timeout(150)
        page.wait_for_selector(IDLE, timeout=60_000)
        page.wait_for_timeout(450)
        seen = page.evaluate("() => [spear.number, spear.map]")
        if seen[0] is not None:
            number.append(seen[0])
        if seen[1] is not None:
            drawn.append(seen[1])
    return number, drawn, outside


def _up(press: int) -> bool:
    """Seven steps up, seven down."""
    return press % 14 < 7


def engine(dataset: str) -> tuple[list[float], list[float]]:
    """Milliseconds of the engine for every press: to the number, and to the places on the map."""
    s = Settings(dataset=dataset, **BASE)
    place = GAMMAS.index(s.gamma)
    number, both = [], []
    for press in range(PRESSES + 1):
        start = time.perf_counter()
        result = run(replace(s, gamma=GAMMAS[place]))
        result.metrics.accuracy  # noqa: B018  computed when read
        number.append(1000 * (time.perf_counter() - start))
        graph = result.graph
        shown = embed.ready(graph, s.alpha, s.steps) or embed.preview(graph, s.alpha, s.steps)
        placed(shown, result)
        distances(result)
        both.append(1000 * (time.perf_counter() - start))
        place += 1 if _up(press) else -1
    return number[1:], both[1:]  # the first one loads the graph


def report_engine(dataset: str) -> None:
    number, both = (statistics.median(values) for values in engine(dataset))
    print(
        f"{dataset}: the engine's share of a click is {number:.1f} ms to the number, {both:.1f} ms "
        f"with the map, asked for under {SHARE}: {'yes' if both < SHARE else 'NO'}"
    )


def report(name: str, values: list[float], base: list[float]) -> None:
    ranked = sorted(values)
    median, late = statistics.median(ranked), ranked[int(0.95 * (len(ranked) - 1))]
    print(
        f"{name:16} median {median:6.0f} ms, 95th percentile {late:6.0f} ms, "
        f"{median / statistics.median(base):4.1f} × the trivial rerun ({len(values)} presses)"
    )


if __name__ == "__main__":
    main()
