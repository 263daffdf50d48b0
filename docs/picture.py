"""README's picture: the app's first screen, photographed from the app that is here.

python -m docs.picture          # or `make picture`; Cora where it is at hand, else digits
"""

import shutil
import sys
from pathlib import Path

from spear_core.datasets import CATALOGUE, store
from tests.browser import FLAGS, running_app, settled

OUT = Path(__file__).with_name("explore.png")
SIZE = {"width": 1280, "height": 800}


def main() -> None:
    """Open the app in a browser of its own, wait until all is drawn, and keep the picture."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("There is no Chromium here; install it, then call this again.")
    from playwright.sync_api import sync_playwright

    name = "Cora" if store.on_disk(CATALOGUE["Cora"]) else "digits"
    with running_app() as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=list(FLAGS))
        tab = chromium.new_page(viewport=SIZE, reduced_motion="reduce", color_scheme="light")
        tab.goto(f"{address}/?dataset={name}")
        settled(tab)
        tab.get_by_text("UMAP · ").first.wait_for(state="attached", timeout=300_000)  # no preview
        for part in (".st-key-strip .main-svg", ".st-key-weights .main-svg", "svg.message .upload"):
            tab.locator(part).first.wait_for(timeout=90_000)
        settled(tab)
        tab.screenshot(path=OUT)
        chromium.close()
    print(f"{OUT} shows {name}.")


if __name__ == "__main__":
    main()
