"""The link and the pages in a real browser: what is moved is written, what is opened is shown."""

from urllib.parse import urlparse

import pytest

from tests.browser import (
    IDLE,
    differs,
    eventually,
    go_to,
    metric,
    need_browser,
    node_is,
    press,
    query,
    running_app,
    settled,
    wait_for_query,
)

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("name", "parameter", "key"),
    [
        ("α, weight of the neighbours", "alpha", "End"),
        ("T, smoothing steps", "steps", "ArrowRight"),
        ("β, label skew", "beta", "End"),
        ("K, clients", "clients", "ArrowRight"),
        ("γ, trust in own counts", "gamma", "Home"),
    ],
)
def test_every_slider_reaches_the_link(open_page, name, parameter, key):
    tab = open_page()
    before = query(tab)
    press(tab, name, key)

    def only_this():
        after = query(tab)
        assert {k for k in {*after, *before} if after.get(k) != before.get(k)} == {parameter}

    eventually(tab, only_this)


def test_the_other_controls_reach_the_link(open_page):
    tab = open_page()
    tab.get_by_role("spinbutton", name="Seed").fill("7")
    tab.get_by_role("spinbutton", name="Seed").press("Enter")
    wait_for_query(tab, "seed", "7")
    tab.get_by_role("button", name="Variants").click()
    tab.get_by_text("Weigh clients by their counts").click()
    wait_for_query(tab, "count_weights", "false")
    tab.keyboard.press("Escape")
    tab.get_by_role("radio", name="Confusion").click()
    wait_for_query(tab, "view", "Confusion")
    tab.get_by_role("radio", name="right or wrong").click()
    wait_for_query(tab, "colour", "right or wrong")
    tab.get_by_role("combobox", name="Scenario").click()
    tab.get_by_role("option", name="Heterophilous").click()
    wait_for_query(tab, "homophily", "0.05")
    settled(tab)
    assert query(tab)["dataset"] == "synthetic"
    assert "seed" not in query(tab)  # a scenario starts from the defaults
    tab.get_by_role("button", name="Paper defaults").click()
    wait_for_query(tab, "alpha", None)


def test_the_link_reopens_the_view(open_page):
    tab = open_page("?dataset=karate&clients=3&alpha=0.5&gamma=inf&view=Confusion&pick=0,0")
    again = open_page("?" + urlparse(tab.url).query)

    def same():
        assert metric(again) == metric(tab)
        assert query(again) == query(tab)
        assert query(again)["gamma"] == "inf"
        assert again.get_by_text("predicted class").count()

    eventually(again, same)


def test_the_back_button_returns_to_the_last_setting(open_page):
    tab = open_page()
    press(tab, "α, weight of the neighbours", "End")
    eventually(tab, lambda: differs(metric(tab), "91.0 %"))
    tab.go_back()

    def returned():
        assert query(tab) == {"v": "2"}
        assert metric(tab) == "91.0 %"

    eventually(tab, returned)


def test_back_needs_one_press(open_page):
    """One entry in the history a click: not one for a page and another for its query."""
    tab = open_page("?alpha=0.3")
    begun = tab.evaluate("history.length")
    for title in ("Smooth", "Shrink"):
        go_to(tab, title)
        tab.wait_for_url(f"**/{title.lower()}?*alpha=0.3*", timeout=60_000)
        settled(tab, "h1, h2, h3")
    assert tab.evaluate("history.length") == begun + 2
    tab.go_back()
    tab.wait_for_url("**/smooth?*alpha=0.3*", timeout=60_000)
    tab.get_by_text("Follow one node").first.wait_for(timeout=60_000)
    settled(tab, "h1, h2, h3")
    tab.go_back()
    eventually(tab, lambda: same_query(tab, {"v": "2", "alpha": "0.3"}))
    assert urlparse(tab.url).path == "/"
    settled(tab)


def same_query(tab, wanted):
    assert query(tab) == wanted


def test_a_bad_link_still_opens(open_page):
    tab = open_page("?beta=-3&alpha=0.3&nonsense=1")

    def told():
        assert tab.get_by_text("beta=-3 in the link was left out").count() == 1
        assert tab.get_by_text("nonsense=1 in the link was left out").count() == 1
        assert query(tab)["alpha"] == "0.3"
        assert "beta" not in query(tab)

    eventually(tab, told)


def test_a_pinned_setting_is_compared(open_page):
    tab = open_page()
    tab.get_by_role("button", name="Pin").click()
    tab.get_by_role("button", name="Unpin").wait_for(timeout=30_000)
    press(tab, "γ, trust in own counts", "Home")
    wait_for_query(tab, "pin", "default")
    tab.get_by_text("Pinned: A has γ = 0.5 (now 0).").wait_for(timeout=30_000)
    tab.locator(".st-key-strip", has_text="pinned").wait_for(timeout=30_000)
    tab.locator(".st-key-weights", has_text="above B, now; below A, pinned").wait_for(
        timeout=30_000
    )
    tab.wait_for_selector(".st-key-map_a .live-map[aria-label^=Pinned]", timeout=30_000)
    tab.get_by_role("button", name="Unpin").click()
    tab.locator(".st-key-map_a").wait_for(state="detached", timeout=30_000)
    wait_for_query(tab, "pin", None)


def test_a_pin_of_another_dataset_is_told(open_page):
    tab = open_page("?pin=default&dataset=karate&clients=3&view=Confusion")
    tab.get_by_text("That is another graph").wait_for(timeout=60_000)
    assert tab.locator(".st-key-map_a").count() == 0
    assert tab.locator("[data-testid=stAlert]").count() == 0


def test_hidden_controls_are_not_drawn(open_page):
    tab = open_page("?hide=beta,gamma,view&view=Confusion")
    tab.get_by_role("slider", name="α, weight of the neighbours").wait_for(timeout=60_000)
    tab.get_by_text("predicted class").first.wait_for(timeout=60_000)
    wait_for_query(tab, "hide", "beta,gamma,view")
    assert tab.get_by_role("slider", name="β, label skew").count() == 0
    assert tab.get_by_role("radio", name="Silhouette").count() == 0


def test_two_tabs_do_not_disturb_each_other(open_page):
    one, two = open_page(), open_page("?dataset=karate&clients=3")
    press(one, "T, smoothing steps", "ArrowRight")
    wait_for_query(one, "steps", "3")
    assert "steps" not in query(two)
    assert query(two)["dataset"] == "karate"


def test_pages_share_the_controls_and_the_link(open_page):
    tab = open_page("?dataset=karate&clients=3&alpha=0.5")
    for title, words in (("Split", "cut"), ("Smooth", "Follow one node"), ("Shrink", "λ")):
        go_to(tab, title)
        tab.wait_for_url(f"**/{title.lower()}?**", timeout=60_000)
        wait_for_query(tab, "dataset", "karate")  # the page's own address starts empty
        wait_for_query(tab, "alpha", "0.5")
        tab.locator("[data-testid=stMain]", has_text=words).wait_for(timeout=60_000)
        tab.wait_for_selector(IDLE, timeout=90_000)
        assert tab.locator("[data-testid=stException]").count() == 0


def test_a_link_straight_to_a_page_of_a_cold_server(browser):
    """Streamlit opens a file of pages/ by itself until the frame has run once."""
    need_browser()
    with running_app() as url:
        tab = browser.new_page()
        tab.goto(f"{url}/smooth?dataset=karate&clients=3&node=5")
        tab.wait_for_selector(IDLE, timeout=120_000)
        tab.get_by_text("Follow one node").first.wait_for(timeout=60_000)
        tab.get_by_role("slider", name="α, weight of the neighbours").wait_for(timeout=60_000)
        eventually(tab, lambda: node_is(tab, "5"))
        assert tab.locator("[data-testid=stException]").count() == 0
        tab.close()
