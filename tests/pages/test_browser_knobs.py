"""Knobs in a real browser: typed, played and stopped by a touch; the sidebar in one screen."""

from itertools import pairwise

import pytest

from tests.browser import eventually, press, query, settled, wait_for_query

pytestmark = pytest.mark.browser

ALPHA = "α, weight of the neighbours"


def field(tab, name):
    return tab.get_by_role("textbox", name=f"{name}: type a value")


def test_typed_values_move_the_slider_and_bad_ones_are_said(open_page):
    tab = open_page()
    field(tab, ALPHA).fill("0.97")
    field(tab, ALPHA).press("Enter")
    wait_for_query(tab, "alpha", "0.97")
    field(tab, "β, label skew").fill("none")
    field(tab, "β, label skew").press("Enter")
    tab.get_by_text("beta must be a number").wait_for(timeout=60_000)
    assert field(tab, "β, label skew").input_value() == "none"
    assert query(tab) == {"v": "2", "alpha": "0.97"}
    settled(tab)
    press(tab, "β, label skew", "ArrowRight")
    eventually(tab, lambda: said(tab, "0.07"))


def said(tab, value):
    assert field(tab, "β, label skew").input_value() == value


def test_a_knob_plays_until_anything_is_touched(open_page):
    tab = open_page()
    entries = tab.evaluate("history.length")
    tab.get_by_role("button", name="Play α").click()
    eventually(tab, lambda: moved(tab, 0.1))
    tab.mouse.click(640, 20)
    tab.get_by_role("button", name="Play α").wait_for(timeout=60_000)
    settled(tab)
    value = field(tab, ALPHA).input_value()
    wait_for_query(tab, "alpha", value)
    assert tab.evaluate("history.length") == entries + 1  # one press leads back to before


def moved(tab, least):
    assert least <= float(field(tab, ALPHA).input_value()) < 0.95
    assert float(field(tab, ALPHA).input_value()) != 0.15 or least > 0.15


def test_all_of_it_is_in_sight(open_page):
    tab = open_page()
    tab.set_viewport_size({"width": 1280, "height": 800})
    places = tab.evaluate(
        """() => ['dataset', 'knob_beta', 'knob_clients', 'knob_alpha', 'knob_steps', 'knob_gamma',
                  'lab', 'lab_area', 'foot'].map((name) => {
            const box = document.querySelector(`.st-key-${name}`).getBoundingClientRect();
            return [box.top, box.bottom]; })"""
    )
    for (_, above), (below, end) in pairwise(places):
        assert above <= below + 1
        assert end <= 800
    for card in ("card_map", "card_message", "card_weights"):  # the first screen is one screen
        box = tab.locator(f".st-key-{card}").bounding_box()
        assert box["y"] + box["height"] <= 800, card
    assert not tab.locator(".now").is_visible()


def test_the_accuracy_is_on_the_bar_of_a_phone_on_every_page(open_page):
    for page in ("", "smooth"):
        tab = open_page(page)
        tab.set_viewport_size({"width": 400, "height": 850})
        settled(tab, "h1")
        foot = tab.locator(".foot b").text_content()
        assert tab.locator(".now").inner_text() == f"digits {foot}"
        box = tab.locator(".now").bounding_box()
        assert box["x"] > 200
        assert box["x"] + box["width"] <= 400
        assert box["y"] < 60


def test_large_type_cuts_off_no_button(open_page):
    tab = open_page("?v=2&present=1")
    side = tab.get_by_test_id("stSidebar").bounding_box()
    last = tab.get_by_role("button", name="Copy link").bounding_box()
    assert last["x"] + last["width"] <= side["x"] + side["width"]
