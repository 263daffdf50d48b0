"""The message in a real browser: it plays, keeps its node, stands still where that is wanted."""

from xml.etree import ElementTree

import pytest

from tests.browser import eventually, press, settled

pytestmark = pytest.mark.browser

PICTURE = "svg.message"


def plays(tab, times):
    def check():
        assert int(tab.locator(PICTURE).get_attribute("data-plays") or 0) == times

    eventually(tab, check)


def test_it_plays_keeps_its_node_and_can_be_saved(open_page):
    tab = open_page()
    picture = tab.locator(PICTURE)
    plays(tab, 1)
    node = picture.element_handle()
    node.evaluate("svg => { svg.mine = true; }")
    press(tab, "label skew", "End")
    eventually(tab, lambda: still_mine(picture, 60))
    plays(tab, 1)  # a knob does not play it again
    tab.get_by_role("button", name="play again").click()
    plays(tab, 2)
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="save SVG").click()
    assert saved.value.suggested_filename == "spear-message-digits.svg"
    root = ElementTree.parse(saved.value.path()).getroot()
    assert root.get("class") == "message play"
    assert tab.outside == []


def still_mine(picture, least):
    """The node that was marked, with what the new setting sends."""
    assert picture.evaluate("svg => svg.mine") is True
    assert picture.locator(".upload").count() >= least


def test_it_is_still_where_motion_is_not_wanted(browser, address):
    for look in ({"reduced_motion": "reduce"}, {"viewport": {"width": 400, "height": 850}}):
        context = browser.new_context(**look)
        tab = context.new_page()
        tab.goto(address)
        settled_enough(tab, look)
        moving = "svg => svg.getAnimations({ subtree: true }).length"
        assert tab.locator(PICTURE).evaluate(moving) == 0
        assert tab.locator(PICTURE).get_attribute("data-plays") is None
        context.close()


def settled_enough(tab, look):
    """A narrow page has its sidebar, which is drawn last, folded away."""
    if "viewport" not in look:
        settled(tab)
    tab.locator(f"{PICTURE} .upload").first.wait_for(timeout=90_000)
