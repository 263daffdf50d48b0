"""The main flows, driven in a real browser."""

import pytest

from tests.browser import eventually, metric, node_is, query, settled, wait_for_query

pytestmark = pytest.mark.browser

OUTSIDE = """() => {
    const wrong = [];
    for (const plot of document.querySelectorAll('.js-plotly-plot')) {
        const box = plot.getBoundingClientRect();
        const name = plot.closest('[class*=st-key-]')?.className ?? 'map';
        for (const text of plot.querySelectorAll('text')) {
            const at = text.getBoundingClientRect();
            if (at.width && (at.left < box.left - 1 || at.right > box.right + 1
                || at.top < box.top - 1 || at.bottom > box.bottom + 1))
                wrong.push(name + ': ' + text.textContent);
        }
        for (const bar of plot.querySelectorAll('.legend .scrollbar'))
            if (bar.getBoundingClientRect().width) wrong.push(name + ': its legend scrolls');
    }
    for (const table of document.querySelectorAll('[data-testid=stTable] table'))
        if (table.scrollWidth > table.parentElement.clientWidth + 1)
            wrong.push('a table is too wide');
    if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is too wide');
    return wrong;
}"""


def test_first_screen_shows_a_real_result(open_page):
    tab = open_page()

    def numbers():
        assert metric(tab) == "91.0 %"
        assert metric(tab, "Mean of five seeds").startswith("91.0\u00a0±\u00a00.3")

    eventually(tab, numbers)
    tab.set_viewport_size({"width": 1280, "height": 800})
    tab.locator("svg.message .upload").first.wait_for(timeout=90_000)
    parts = (".live-map", ".st-key-weights", ".st-key-strip")
    for part in parts:
        tab.locator(f"{part} .main-svg").first.wait_for(timeout=90_000)
    for part in (*parts, ".head", ".st-key-summary", "svg.message"):  # without any click or scroll
        box = tab.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 800, part
        assert box["x"] + box["width"] <= 1280, part
    assert tab.outside == []
    tab.set_viewport_size({"width": 1920, "height": 1080})
    eventually(tab, lambda: taller(tab.locator(".live-map .main-svg").first, 640))


def taller(part, least):
    assert part.bounding_box()["height"] >= least


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("page", ["", "split", "smooth", "shrink"])
def test_nothing_is_cut_off(open_page, page, width):
    """No chart writes outside itself, no legend has to be scrolled, nothing is too wide."""
    tab = open_page(f"{page}?pin=gamma:5&view=Confusion&shrink=What+carries+the+gain")
    tab.set_viewport_size({"width": width, "height": 900})
    tab.wait_for_selector(".js-plotly-plot .main-svg", timeout=90_000)

    def inside():
        assert tab.evaluate(OUTSIDE) == []

    tab.wait_for_timeout(2500)  # charts are laid out anew after the width has changed
    eventually(tab, inside, 20)


def test_picking_a_cell_writes_its_formula(open_page):
    tab = open_page()

    def click():
        plot = tab.locator(".st-key-weights")
        plot.scroll_into_view_if_needed()
        tab.wait_for_timeout(1500)
        box = plot.locator(".nsewdrag").first.bounding_box()
        # client 8 (of 10 rows), class 2 (of 10 columns): n = 3
        tab.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.85)
        tab.get_by_text("λ = 1/(1 + 0.5·3) = 0.40").wait_for(timeout=15_000)

    eventually(tab, click)
    wait_for_query(tab, "pick", "8,2")


def test_asking_for_a_node(open_page):
    tab = open_page("smooth")
    before = tab.get_by_role("spinbutton", name="Node").input_value()
    tab.get_by_role("button", name="A right one, please").click()

    def another():
        now = tab.get_by_role("spinbutton", name="Node").input_value()
        assert now != before
        assert query(tab)["node"] == now

    eventually(tab, another)


def test_clicking_a_neighbour_follows_it(open_page):
    tab = open_page("smooth?dataset=karate&clients=3&node=5")
    chart = "document.querySelector('[class*=smooth_around] .js-plotly-plot')"
    tab.wait_for_function(f"() => {chart}?.querySelector('.nsewdrag')", timeout=90_000)

    def click():
        node, x, y = tab.evaluate(
            f"""() => {{
                const gd = {chart}, box = gd.getBoundingClientRect(), l = gd._fullLayout;
                const trace = gd.data.find(t => t.marker?.size?.includes?.(17));
                const i = trace.marker.size.indexOf(17);
                return [trace.customdata[i][0], box.x + l.xaxis._offset + l.xaxis.d2p(trace.x[i]),
                        box.y + l.yaxis._offset + l.yaxis.d2p(trace.y[i])];
            }}"""
        )
        tab.mouse.click(x, y)
        wait_for_query(tab, "node", str(node), 15_000)
        eventually(tab, lambda: node_is(tab, str(node)), 15)

    tab.wait_for_timeout(1000)
    eventually(tab, click)


def test_a_dataset_that_cannot_be_had_is_one_sentence(open_page):
    tab = open_page_without_metric(open_page, "?dataset=Squirrel")
    tab.get_by_text("Squirrel is not on disk and cannot be downloaded").wait_for(timeout=90_000)
    assert tab.locator("[data-testid=stException]").count() == 0
    tab.get_by_role("combobox", name="Dataset").click()
    tab.get_by_role("option", name="karate").click()
    settled(tab)
    wait_for_query(tab, "dataset", "karate")


def open_page_without_metric(open_page, path):
    """For a view that shows a sentence instead of numbers."""
    tab = open_page()
    tab.goto(tab.url.split("?")[0] + path)
    return tab
