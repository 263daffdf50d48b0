"""From key press to updated number and updated map in JupyterLab, in a real browser.

`python -m benchmarks.widget` opens a notebook with the explorer and, above it, an ipywidgets slider
that does nothing but print its value. Times are taken in the page itself: from the key event to the
change of the number, and to Plotly's redraw of the map. Ratios are to the slider that prints, in
one run; presses of the two alternate, so that a busy machine slows both.
"""

import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests import jupyter
from tests.browser import FLAGS, need_browser

PRESSES = 20
PRINTS = """
import ipywidgets as ui
value, said = ui.IntSlider(50), ui.Output()
def tell(change):
    said.clear_output(wait=True)
    with said:
        print("value", change["new"])
value.observe(tell, "value")
ui.VBox([value, said])
"""
EXPLORE = """
from spear_core import Settings
from spear_core.widgets import explore
explore(Settings(dataset="{}", beta=0.3, gamma=0.01, clients=20))
"""
WATCH = """
() => {
  window.spear = { start: 0, number: null, map: null, printed: null };
  addEventListener("keydown", () => {
    Object.assign(spear, { start: performance.now(), number: null, map: null, printed: null });
  }, true);
  const since = () => performance.now() - spear.start;
  const number = () => document.querySelector(".spear-accuracy")?.innerText;
  const printed = () =>
    [...document.querySelectorAll("pre")].find((e) => e.innerText.startsWith("value "))?.innerText;
  let last = number(), told = printed();
  new MutationObserver(() => {
    const [now, said] = [number(), printed()];
    if (now && now !== last) { last = now; spear.number ??= since(); }
    if (said && said !== told) { told = said; spear.printed ??= since(); }
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
  document.querySelector(".live-map").on("plotly_afterplot", () => { spear.map ??= since(); });
}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place) / "books"
        folder.mkdir()
        browser = playwright.chromium.launch(executable_path=need_browser(), args=list(FLAGS))
        with jupyter.running_lab(folder) as lab:
            for dataset in ("digits", "Cora"):
                jupyter.write(folder, dataset, PRINTS, EXPLORE.format(dataset))
                page = browser.new_page(viewport={"width": 1280, "height": 1000})
                report(dataset, *measure(page, lab, dataset))
                page.close()
        browser.close()


def measure(page: Page, lab: str, name: str) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds to the printed value, to the number and to the map, for every press."""
    jupyter.open_notebook(page, lab, name)
    prints = jupyter.run_cell(page, 0).get_by_role("slider")
    explorer = jupyter.run_cell(page, 1)
    explorer.locator(".live-map[data-drawn]").wait_for(timeout=jupyter.SLOW)
    page.locator(".spear-stale").first.wait_for(state="detached", timeout=jupyter.SLOW)
    page.evaluate(WATCH)
    gamma = explorer.get_by_role("slider", name="γ, trust in own counts")
    printed, number, drawn = [], [], []
    for press in range(PRESSES):
        key = "ArrowRight" if press % 14 < 7 else "ArrowLeft"
        printed.append(pressed(page, prints, key, "printed"))
        drawn.append(pressed(page, gamma, key, "map"))
        page.locator(".spear-stale").first.wait_for(state="detached", timeout=60_000)
        number.append(page.evaluate("() => spear.number"))
    return printed, [value for value in number if value is not None], drawn


def pressed(page: Page, slider: Any, key: str, what: str) -> float:
    """Milliseconds from a key on a slider to what it changes."""
    slider.press(key)
    page.wait_for_function(f"() => spear.{what} !== null", timeout=60_000)
    return float(page.evaluate(f"() => spear.{what}"))


def report(name: str, printed: list[float], number: list[float], drawn: list[float]) -> None:
    base = statistics.median(printed)
    print(f"{name}: a slider that prints, median {base:.0f} ms ({len(printed)} presses)")
    for what, values, most in (("number", number, 2), ("map", drawn, 4)):
        median = statistics.median(values)
        ratio = median / base
        print(
            f"{name}: {what}, median {median:.0f} ms, {ratio:.2f} × that, asked for at most "
            f"{most}: {'yes' if ratio <= most else 'NO'} ({len(values)} presses)",
            flush=True,
        )


if __name__ == "__main__":
    main()
