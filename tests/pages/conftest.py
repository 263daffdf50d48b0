"""What tests of pages share: one running app a file, and tabs of a real browser."""

import pytest

from tests.browser import FLAGS, need_browser, running_app, settled


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


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Rows and runs of this test alone."""
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path))
    return tmp_path
