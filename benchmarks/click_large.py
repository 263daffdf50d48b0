"""From key press to updated number on large graphs, in a real browser, every slider.

`python -m benchmarks.click_large` opens Coauthor-CS (if it is there) and a synthetic graph of the
size of ogbn-arxiv, waits until the map is there, and presses each slider a few times with a rest
between. Times are taken in the page: from the key event to the change of the number or of the
difference below it (presses that change neither are left out), and to the end of the run with its
charts.
"""

import statistics

from playwright.sync_api import Page, sync_playwright

from spear_core.datasets import CATALOGUE, store
from tests.browser import FLAGS, IDLE, need_browser, running_app

GRAPHS = {
    "Coauthor-CS": "dataset=Coauthor-CS",
    "169,343 nodes": "dataset=synthetic&nodes=169343&degree=13.7&features=128&classes=40",
}
SLIDERS = {
    "γ": "γ, trust in own counts",
    "α": "α, weight of the neighbours",
    "T": "T, smoothing steps",
    "β": "β, label skew",
    "K": "K, clients",
}
PRESSES = (*((name, "ArrowRight", 3) for name in SLIDERS), ("T", "End", 1))
AGAIN = tuple((name, "ArrowLeft", 2) for name in SLIDERS)  # at T = 20
REST = 3500  # ms between two presses
ASKED = 1.0  # seconds

WATCH = """
() => {
  window.spear = { start: 0, number: null, idle: null };
  addEventListener("keydown", () => {
    spear.start = performance.now(); spear.number = spear.idle = null;
  }, true);
  const since = () => (performance.now() - spear.start) / 1000;
  const text = () => document.querySelector("[data-testid=stMetric]")?.innerText;
  let last = text();
  new MutationObserver(() => {
    const now = text();
    if (now && now !== last) { last = now; spear.number ??= since(); }
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
  const app = document.querySelector("[data-testid=stApp]");
  new MutationObserver(() => {
    if (app.dataset.testScriptState === "notRunning" && spear.number) spear.idle ??= since();
  }).observe(app, { attributeFilter: ["data-test-script-state"] });
}
"""


def main() -> None:
    with running_app() as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=need_browser(), args=list(FLAGS))
        for name, query in GRAPHS.items():
            entry = CATALOGUE.get(name)
            if entry and not store.found(entry):
                print(f"{name}: not on disk, left out")
                continue
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{app}/?{query}")
            page.wait_for_selector(IDLE, timeout=300_000)
            page.wait_for_function(
                "() => document.body.innerText.includes('UMAP ·')", timeout=300_000
            )
            page.wait_for_timeout(REST)
            page.evaluate(WATCH)
            slowest = max(
                press(page, name, when, *what)
                for when, some in (("", PRESSES), (" at T = 20", AGAIN))
                for what in some
            )
            print(
                f"{name}: the slowest number took {slowest:.2f} s, asked for under {ASKED:g}: "
                f"{'yes' if slowest < ASKED else 'NO'}"
            )
            page.close()
        browser.close()


def press(page: Page, graph: str, when: str, slider: str, key: str, times: int) -> float:
    """Press a slider's key some times; the longest wait for the number, in seconds."""
    handle = page.get_by_role("slider", name=SLIDERS[slider])
    number, idle = [], []
    for _ in range(times):
        handle.press(key)
        page.wait_for_timeout(REST)
        page.wait_for_selector(IDLE, timeout=60_000)
        seen = page.evaluate("() => [spear.number, spear.idle]")
        if None not in seen:
            number.append(seen[0])
            idle.append(seen[1])
    print(
        f"{graph}, {slider} {key}{when}: number {_seconds(number)} s, "
        f"charts too {_seconds(idle)} s ({len(number)} presses, median and most)",
        flush=True,
    )
    return max(number, default=0.0)


def _seconds(values: list[float]) -> str:
    if not values:
        return "unchanged"
    return f"{statistics.median(values):.2f} … {max(values):.2f}"


if __name__ == "__main__":
    main()
