"""The main flows, driven in a real browser."""

from urllib.parse import parse_qs, urlparse

import pytest

from tests.browser import FLAGS, IDLE, need_browser, running_app

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address():
    need_browser()
    with running_app() as url:
        yield url


@pytest.fixture(scope="module")
def browser():
    path = need_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(address, browser):
    """Opens the app at a path; every tab notes the requests that leave this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})

    def visit(path=""):
        tab = context.new_page()
        tab.outside = []
        own = (address, address.replace("http", "ws"), "data:", "blob:")
        tab.on("request", lambda r: None if r.url.startswith(own) else tab.outside.append(r.url))
        tab.goto(f"{address}/{path}")
        settled(tab)
        return tab

    yield visit
    context.close()


def settled(tab):
    tab.wait_for_selector(IDLE, timeout=90_000)
    tab.wait_for_selector("[data-testid=stMetric]", timeout=90_000)
    tab.wait_for_timeout(400)
    tab.wait_for_selector(IDLE, timeout=90_000)


def metric(tab, label="Accuracy on test nodes"):
    lines = tab.locator("[data-testid=stMetric]", has_text=label).inner_text().split("\n")
    return next(line for line in lines if line.endswith("%"))


def query(tab):
    return {k: v[0] for k, v in parse_qs(urlparse(tab.url).query).items()}


def press(tab, name, key, times=1):
    slider = tab.get_by_role("slider", name=name)
    for _ in range(times):
        slider.press(key)
    tab.wait_for_timeout(600)
    settled(tab)


def test_first_screen_shows_a_real_result(open_page):
    tab = open_page()
    assert metric(tab) == "91.00 %"
    tab.wait_for_selector(".js-plotly-plot .main-svg", timeout=90_000)
    assert tab.outside == []


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
    after = query(tab)
    assert after[parameter] != before[parameter]
    assert {k for k in after if after[k] != before.get(k)} == {parameter}


def test_the_link_reopens_the_view(open_page):
    tab = open_page("?dataset=karate&clients=3&alpha=0.5&gamma=inf&view=Confusion&pick=0,0")
    shown = metric(tab)
    again = open_page("?" + urlparse(tab.url).query)
    assert metric(again) == shown
    assert query(again) == query(tab)
    assert query(again)["gamma"] == "inf"
    assert again.get_by_text("predicted class").count()


def test_the_back_button_returns_to_the_last_setting(open_page):
    tab = open_page()
    press(tab, "α, weight of the neighbours", "End")
    moved = metric(tab)
    assert moved != "91.00 %"
    tab.go_back()
    tab.wait_for_timeout(1000)
    settled(tab)
    assert query(tab)["alpha"] == "0.15"
    assert metric(tab) == "91.00 %"


def test_a_bad_link_still_opens(open_page):
    tab = open_page("?beta=-3&alpha=0.3&nonsense=1")
    assert tab.get_by_text("beta=-3 in the link was left out").count() == 1
    assert tab.get_by_text("nonsense=1 in the link was left out").count() == 1
    assert query(tab)["alpha"] == "0.3"
    assert query(tab)["beta"] == "0.05"


def test_a_pinned_setting_is_compared(open_page):
    tab = open_page()
    tab.get_by_role("button", name="Pin").click()
    tab.wait_for_timeout(500)
    press(tab, "α, weight of the neighbours", "End")
    assert query(tab)["pin"] == "default"
    assert tab.locator(".js-plotly-plot", has_text="pinned").count() >= 1


def test_hidden_controls_are_not_drawn(open_page):
    tab = open_page("?hide=beta,gamma")
    assert tab.get_by_role("slider", name="β, label skew").count() == 0
    assert tab.get_by_role("slider", name="α, weight of the neighbours").count() == 1
    assert query(tab)["hide"] == "beta,gamma"


def test_two_tabs_do_not_disturb_each_other(open_page):
    one, two = open_page(), open_page("?dataset=karate&clients=3")
    press(one, "T, smoothing steps", "ArrowRight")
    assert query(two)["steps"] == "2"
    assert query(two)["dataset"] == "karate"
    assert query(one)["steps"] == "3"
