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
        settled(tab, "[data-testid=stMetric]" if path[:1] in ("", "?") else "h1, h2, h3, p")
        return tab

    yield visit
    context.close()


def settled(tab, sign="[data-testid=stMetric]"):
    tab.wait_for_selector(IDLE, timeout=90_000)
    tab.wait_for_selector(sign, timeout=90_000)
    tab.get_by_role("button", name="Copy link").wait_for(timeout=90_000)  # the last to be drawn
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


def test_pages_share_the_controls_and_the_link(open_page):
    tab = open_page("?dataset=karate&clients=3&alpha=0.5")
    for title, words in (("Split", "cut"), ("Smooth", "Follow one node"), ("Shrink", "λ")):
        tab.get_by_role("link", name=title).first.click()
        tab.wait_for_timeout(1500)
        tab.wait_for_selector(IDLE, timeout=90_000)
        assert query(tab)["dataset"] == "karate"
        assert query(tab)["alpha"] == "0.5"
        assert words in tab.locator("[data-testid=stMain]").inner_text()
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
        assert tab.get_by_role("spinbutton", name="Node").input_value() == "5"
        assert tab.locator("[data-testid=stException]").count() == 0
        tab.close()


def test_picking_a_cell_writes_its_formula(open_page):
    tab = open_page()
    plot = tab.locator(".st-key-weights")
    plot.scroll_into_view_if_needed()
    tab.wait_for_timeout(1500)
    box = plot.locator(".nsewdrag").first.bounding_box()
    # client 8 (of 10 rows), class 2 (of 10 columns): n = 3
    tab.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.85)
    tab.get_by_text("λ = 1/(1 + 0.5·3) = 0.40").wait_for(timeout=30_000)
    settled(tab)
    assert query(tab)["pick"] == "8,2"


def test_asking_for_a_node(open_page):
    tab = open_page("smooth")
    before = tab.get_by_role("spinbutton", name="Node").input_value()
    tab.get_by_role("button", name="A right one, please").click()
    tab.wait_for_timeout(1500)
    tab.wait_for_selector(IDLE, timeout=60_000)
    assert tab.get_by_role("spinbutton", name="Node").input_value() != before
    assert query(tab)["node"] == tab.get_by_role("spinbutton", name="Node").input_value()


def test_a_dataset_that_cannot_be_had_is_one_sentence(open_page):
    tab = open_page_without_metric(open_page, "?dataset=Squirrel")
    tab.get_by_text("Squirrel is not on disk and cannot be downloaded").wait_for(timeout=90_000)
    assert tab.locator("[data-testid=stException]").count() == 0
    tab.get_by_role("combobox", name="Dataset").click()
    tab.get_by_role("option", name="karate").click()
    settled(tab)
    assert query(tab)["dataset"] == "karate"


def open_page_without_metric(open_page, path):
    """For a view that shows a sentence instead of numbers."""
    tab = open_page()
    tab.goto(tab.url.split("?")[0] + path)
    return tab
