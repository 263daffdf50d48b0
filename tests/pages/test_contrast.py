"""Every page under axe-core in a real browser, light and dark: nothing serious, text 4.5 : 1."""

import pytest

from pages.shared.pages import PAGES
from tests.browser import settled

pytestmark = pytest.mark.browser

GRAVE = ("serious", "critical")
LIGHT = "matchMedia('(prefers-color-scheme: light)').matches"
GROUND = """() => {
  const channels = getComputedStyle(document.querySelector('[data-testid=stApp]'))
    .backgroundColor.match(/\\d+/g).slice(0, 3).map(Number);
  return (channels.reduce((a, b) => a + b) > 380) === %s;
}"""


def told(response: dict) -> list[str]:
    """What is wrong on a page: the rule, the element, and the measured contrast."""
    return [
        f"{found['id']}: {node['html'][:120]} {_contrast(node)}"
        for found in response["violations"]
        if found["impact"] in GRAVE
        for node in found["nodes"]
    ]


def _contrast(node: dict) -> str:
    data = next((check["data"] for check in node["any"] if check["id"] == "color-contrast"), None)
    return f"{data['fgColor']} on {data['bgColor']}, {data['contrastRatio']} : 1" if data else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_serious_fault(open_page, page):
    from axe_playwright_python.sync_playwright import Axe

    tab = open_page(page.name if page is not PAGES[0] else "")
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        tab.wait_for_function(GROUND % LIGHT, timeout=30_000)
        settled(tab, "p")
        faults = told(Axe().run(tab).response)
        assert not faults, f"{scheme}: " + "; ".join(faults)
