"""The live map in a real browser: zoom survives, a click comes back, nothing is asked outside."""

import pytest

from tests.browser import FLAGS, IDLE, ROOT, need_browser, running_app

pytestmark = pytest.mark.browser

MAP = "document.querySelector('.live-map')"


@pytest.fixture(scope="module")
def address():
    need_browser()
    with running_app(ROOT / "tests" / "apps" / "livemap_app.py") as url:
        yield url


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=need_browser(), args=list(FLAGS))
        yield chromium.new_context(viewport={"width": 1000, "height": 900}, color_scheme="light")
        chromium.close()


@pytest.fixture
def page(browser, address):
    tab = browser.new_page()
    tab.asked, tab.received, tab.wrong = [], [], []
    tab.on("request", lambda r: tab.asked.append(r.url))
    tab.on("pageerror", lambda e: tab.wrong.append(str(e)))
    tab.on("websocket", lambda w: w.on("framereceived", lambda f: tab.received.append(len(f))))
    tab.goto(address)
    tab.wait_for_selector(IDLE, timeout=60_000)
    tab.wait_for_function(f"() => {MAP}?.dataset.drawn", timeout=60_000)
    yield tab
    assert tab.wrong == []
    tab.close()


def move(page):
    """Move the slider one step and wait for the new picture."""
    drawn = page.evaluate(f"() => +{MAP}.dataset.drawn")
    page.get_by_role("slider").press("ArrowRight")
    page.wait_for_function(f"() => +{MAP}.dataset.drawn > {drawn}", timeout=30_000)


def first_x(page):
    """Where the first prototype really is."""
    return page.evaluate(f"() => {MAP}.calcdata[1][0].x")


def on_screen(page, x, y):
    return page.evaluate(
        f"""() => {{
            const gd = {MAP}, box = gd.getBoundingClientRect(), l = gd._fullLayout;
            return [box.x + l.xaxis._offset + l.xaxis.d2p({x}),
                    box.y + l.yaxis._offset + l.yaxis.d2p({y})];
        }}"""
    )


def test_zoom_and_legend_survive_an_update_of_the_same_node(page):
    page.evaluate(f"() => {{ window.kept = {MAP}; }}")
    for _ in range(2):
        page.locator(".modebar-btn[data-title='Zoom in']").click()
    page.wait_for_function(f"() => {MAP}._fullLayout.xaxis.range[0] > 1")
    zoomed = page.evaluate(f"() => {MAP}._fullLayout.xaxis.range")
    page.locator(".legend .traces", has_text="trace 0").click()
    page.wait_for_function(f"() => {MAP}._fullData[0].visible === 'legendonly'", timeout=30_000)
    assert first_x(page) == 3
    move(page)
    assert first_x(page) == 3.1
    assert page.evaluate(f"() => {MAP} === window.kept")
    assert page.evaluate(f"() => {MAP}._fullLayout.xaxis.range") == zoomed
    assert page.evaluate(f"() => {MAP}._fullData[0].visible") == "legendonly"


def test_a_click_returns_customdata_once(page):
    at = on_screen(page, 7, 5)
    page.mouse.move(at[0] - 4, at[1])
    page.mouse.move(*at)
    page.wait_for_selector(".live-map .hoverlayer .hovertext", timeout=30_000)
    page.mouse.click(*at)
    page.get_by_text("picked {'client': 4, 'label': 0}").wait_for(timeout=30_000)
    move(page)  # a trigger lasts one run
    page.get_by_text("picked None").wait_for(timeout=30_000)


def test_keys_step_pick_and_zoom(page):
    page.locator(".live-map").focus()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    page.get_by_text("picked {'client': 3, 'label': 1}").wait_for(timeout=30_000)
    wide = page.evaluate(f"() => {MAP}._fullLayout.xaxis.range")
    page.locator(".live-map").focus()
    page.keyboard.press("+")
    page.wait_for_function(f"() => {MAP}._fullLayout.xaxis.range[0] > {wide[0]}", timeout=30_000)


def test_nothing_is_asked_outside_and_plotly_comes_once(page, address):
    page.get_by_text("a second map").click()
    page.wait_for_function("() => document.querySelectorAll('.live-map[data-drawn]').length === 2")
    before = len(page.received)
    move(page)
    ours = (address, address.replace("http", "ws"), "data:", "blob:")
    assert [url for url in page.asked if not url.startswith(ours)] == []
    assert len([url for url in page.asked if "plotly.min.js" in url]) == 1
    assert sum(page.received[before:]) < 100_000  # not Plotly's 4.7 MB again
    titles = page.locator(".live-map .modebar-btn").evaluate_all(
        "buttons => buttons.map(b => b.dataset.title)"
    )
    assert "Save as SVG, with title and settings" in titles
    assert not any("cloud" in title.lower() or "share" in title.lower() for title in titles)


def test_the_picture_is_told_in_words(page):
    image = page.get_by_role("figure", name="Two prototypes, shifted by 0.")
    assert image.count() == 1
    words = page.locator(".live-map-words")
    assert words.inner_text() == "Two prototypes, shifted by 0."
    assert words.bounding_box()["width"] <= 1
    move(page)
    assert words.inner_text() == "Two prototypes, shifted by 1."


def test_colours_follow_the_theme(page):
    light = page.evaluate(f"() => {MAP}._fullData[1].marker.color")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => {MAP}._fullData[1].marker.color !== '{light}'", timeout=30_000)
    assert page.evaluate(f"() => {MAP}._fullLayout.font.color") != light


def test_a_narrow_window_cuts_nothing_off(page):
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_function(f"() => {MAP}._fullLayout.width < 400", timeout=30_000)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
