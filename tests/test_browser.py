"""The main flows, driven in a real browser."""

import pytest

from tests.browser import FLAGS, IDLE, need_browser, running_app

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address():
    need_browser()
    with running_app() as url:
        yield url


@pytest.fixture
def page(address):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=need_browser(), args=list(FLAGS))
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.outside = []
        tab.on(
            "request",
            lambda r: (
                tab.outside.append(r.url)
                if not r.url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))
                else None
            ),
        )
        tab.goto(address)
        tab.wait_for_selector(IDLE, timeout=90_000)
        tab.wait_for_selector(".js-plotly-plot .main-svg", timeout=90_000)
        yield tab
        browser.close()


def metric(page, label):
    return page.locator("[data-testid=stMetric]", has_text=label).inner_text().split("\n")[-1]


def test_first_screen_shows_a_real_result(page):
    assert metric(page, "Accuracy on test nodes") == "91.00 %"
    assert page.locator(".js-plotly-plot").count() == 2
    assert page.outside == []


def test_moving_a_slider_changes_the_result(page):
    page.get_by_role("slider", name="α, weight of the neighbours").press("End")
    page.wait_for_function(
        "() => !document.querySelector('[data-testid=stMetric]').innerText.includes('91.00')",
        timeout=30_000,
    )
    assert metric(page, "Accuracy on test nodes") != "91.00 %"
