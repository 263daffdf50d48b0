"""A page stands still: no knob moves, rebuilds or hides anything, and few charts take WebGL."""

import pytest

from pages.shared.knobs import KNOBS
from pages.shared.pages import PAGES
from tests.browser import settled
from tests.still import INIT, moves, path, quiet

pytestmark = pytest.mark.browser

PIXELS, SHIFT, CONTEXTS = 2, 0.01, 4  # the most that is allowed
KARATE = "dataset=karate&clients=3"
DRAWN = """() => [...document.querySelectorAll('.live-map, .live-chart')].every(
    (chart) => chart.dataset.drawn)"""
VIEWS = {"explore": "view", "paper": "paper", "compare": "compare", "attack": "attack_view"}
KINDS = ("warning", "error")
SKIPPED = {"GL Driver Message", "404"}  # of software rendering; Streamlit's look for its address


@pytest.fixture(scope="module")
def tab(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.add_init_script(INIT)
    page.complaints = []
    page.on("console", lambda m: page.complaints.append(m.text) if m.type in KINDS else None)
    yield page
    page.close()


def open_at(tab, address, page, link):
    tab.goto(f"{address}/{path(page)}?{link}")
    settled(tab, "h1, h2, h3, p")
    tab.wait_for_function(DRAWN, timeout=120_000)


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_no_knob_moves_or_rebuilds_anything(tab, address, page):
    open_at(tab, address, page, KARATE)
    quiet(tab, 120)
    seen = list(moves(tab, 120))
    dimmed = next(one for one in PAGES if one.name == page).idle
    assert seen or set(KNOBS) <= set(dimmed), "there is no knob"
    for move in seen:
        assert move.far <= PIXELS, (move.knob, move.who, move.told["moved"])
        assert move.shift < SHIFT, (move.knob, move.told["sources"])
        assert move.gone == 0, move.knob


@pytest.mark.parametrize("page", VIEWS)
def test_few_charts_take_webgl_in_any_view(tab, address, page):
    named = next(one for one in PAGES if one.name == page).views[VIEWS[page]]
    tab.complaints.clear()
    for view in named:
        open_at(tab, address, page, f"{KARATE}&{VIEWS[page]}={view.replace(' ', '+')}")
        assert tab.evaluate("() => still.alive()") <= CONTEXTS, view
    said = [text for text in tab.complaints if not any(word in text for word in SKIPPED)]
    assert said == []
