"""What moves on each page when a knob moves: `python -m benchmarks.shift`.

For every page, every setting that it offers and both switches of the sidebar: the sum of the
browser's layout shifts, those after recent input included, and how far the element that moved most
was from its place, in any frame.
"""

import argparse

from playwright.sync_api import sync_playwright

from pages.shared.pages import PAGES
from tests.browser import FLAGS, need_browser, running_app, settled
from tests.still import INIT, Move, moves, path, quiet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", default=[page.name for page in PAGES])
    parser.add_argument("--link", default="dataset=karate&clients=3")
    parser.add_argument("--who", action="store_true", help="name what moved")
    asked = parser.parse_args()
    print(f"{'page':12} {'knob':28} {'shifts':>7} {'px':>6} {'rebuilt':>7} {'WebGL':>5}")
    with running_app() as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=need_browser(), args=list(FLAGS))
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        tab.add_init_script(INIT)
        for page in asked.pages:
            tab.goto(f"{app}/{path(page)}?{asked.link}")
            settled(tab, "h1, h2, h3, p")
            quiet(tab, 120)
            for move in moves(tab, 120):
                report(page, move, asked.who)
        browser.close()


def report(page: str, move: Move, who: bool) -> None:
    print(
        f"{page:12} {move.knob:28} {move.shift:7.4f} {move.far:6.1f} {move.gone:7} "
        f"{move.told['alive']:5}",
        flush=True,
    )
    if who:
        for name, far in sorted(move.told["moved"].items(), key=lambda one: -one[1])[:6]:
            print(f"    {far:6.1f} px  {name}")
        for name, value in move.told["sources"][:6]:
            print(f"    {value:.4f}  {name}")


if __name__ == "__main__":
    main()
