"""The map's own script in a bare page, without Streamlit or Jupyter: mounted, updated, ended."""

import json
from pathlib import Path

import plotly
import pytest

from spear_core.figures.map.script import SCRIPT, STYLE
from tests.browser import FLAGS, need_browser

pytestmark = pytest.mark.browser

MAP = "document.querySelector('.live-map')"
BARE = """
<style>{style} .live-map {{ --map-ink: rgb(1, 2, 3); }}</style>
<div id="root" style="width: 600px"></div>
<script type="module">{script}
window.picked = [];
window.asked = 0;
window.map = mount(document.getElementById("root"), async () => {{ asked += 1; return Plotly; }});
window.show = (figure, alt) =>
  map.update({{ figure, alt, height: 300, pick: (point) => picked.push(point) }});
</script>
"""


@pytest.fixture
def page():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=need_browser(), args=list(FLAGS))
        tab = chromium.new_page()
        tab.wrong = []
        tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
        tab.set_content(BARE.format(script=SCRIPT, style=STYLE))
        path = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
        tab.add_script_tag(path=path)
        yield tab
        assert tab.wrong == []
        chromium.close()


def show(page, x, alt):
    """One prototype at (x, 0), drawn."""
    point = {"type": "scatter", "mode": "markers", "x": [x, 9], "y": [0, 9], "meta": "ink"}
    figure = {"data": [{**point, "marker": {}, "customdata": [{"client": x}, {}]}], "layout": {}}
    drawn = page.evaluate(f"() => +({MAP}.dataset.drawn ?? 0)")
    page.evaluate("([figure, alt]) => show(figure, alt)", [json.dumps(figure), alt])
    page.wait_for_function(f"() => +({MAP}.dataset.drawn ?? 0) > {drawn}", timeout=30_000)


def test_it_is_mounted_updated_picked_from_and_ended(page):
    show(page, 3, "one at 3")
    page.evaluate(f"() => {{ window.kept = {MAP}; }}")
    show(page, 4, "one at 4")
    assert page.evaluate(f"() => {MAP} === kept && {MAP}._fullData[0].x[0]") == 4
    assert page.evaluate(f"() => {MAP}._fullData[0].marker.color") == "rgb(1, 2, 3)"
    assert page.get_by_role("figure", name="one at 4").count() == 1
    assert page.locator(".live-map").bounding_box()["height"] == 300
    page.locator(".live-map").focus()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    assert page.evaluate("() => picked") == [{"client": 4}]
    page.evaluate("() => map.destroy()")
    assert page.evaluate("() => document.getElementById('root').childElementCount") == 0
    assert page.evaluate("() => kept._fullLayout") is None  # its WebGL context is given back


def test_an_equal_figure_is_not_drawn_again_and_another_theme_is(page):
    show(page, 3, "one at 3")
    page.evaluate(f"() => show({MAP}.spear.figure, 'in other words')")
    assert page.evaluate("() => asked") == 1
    assert page.locator(".live-map-words").inner_text() == "in other words"
    page.evaluate(f"() => {MAP}.style.setProperty('--map-ink', 'rgb(7, 8, 9)')")
    page.wait_for_function(
        f"() => {MAP}._fullData[0].marker.color === 'rgb(7, 8, 9)'", timeout=30_000
    )


NODES = {  # of two classes, a training and two test nodes
    "id": [7, 8, 9],
    "label": [0, 0, 1],
    "role": [1, 2, 2],
    "client": [3, 3, 4],
    "named": [0, 1, 1],
    "rival": [1, 0, 0],
    "scale": 10_000,
    "about": False,
    "by": "class",
    "best": [9000, 8600, 7004],
    "second": [100, 8400, 7001],
    "names": ["1", "Theory"],
    "roles": ["", "training", "test", "validation"],
    "shares": ["class 1: 0 of 1 test nodes right", "class Theory: 1 of 1 test nodes right"],
}


def show_nodes(page, **changes):
    """Three nodes in a row at x = 0, 1 and 2, and the centroid of Theory far above them."""
    same = {"type": "scattergl", "mode": "markers", "meta": "nodes", "hoverinfo": "skip"}
    centroid = {"type": "scatter", "mode": "markers+text", "name": "true centroids"}
    centroid |= {"x": [1], "y": [1], "text": ["<b>Theory</b><br> "], "textposition": "top center"}
    data = [
        {**same, "x": [0, 1], "y": [0, 0], "name": "1"},
        {**same, "x": [2], "y": [0], "name": "Theory"},
        {**centroid, "customdata": [{"class": 1}]},
    ]
    axes = {"xaxis": {"range": [-1, 3]}, "yaxis": {"range": [-1, 2]}, "hoverdistance": 6}
    layout = axes | {"meta": {"nodes": NODES | changes}, "annotations": [{"text": "UMAP"}]}
    layout |= {"dragmode": "pan", "showlegend": True}
    drawn = page.evaluate(f"() => +({MAP}.dataset.drawn ?? 0)")
    figure = json.dumps({"data": data, "layout": layout})
    page.evaluate("(figure) => show(figure, 'nodes')", figure)
    page.wait_for_function(f"() => +({MAP}.dataset.drawn ?? 0) > {drawn}", timeout=30_000)


def spot(page, x, y):
    """Where a point of the map is on the screen."""
    return page.evaluate(
        f"""() => {{
            const gd = {MAP}, box = gd.getBoundingClientRect(), l = gd._fullLayout;
            return [box.x + l.xaxis._offset + l.xaxis.d2p({x}),
                    box.y + l.yaxis._offset + l.yaxis.d2p({y})];
        }}"""
    )


def tip(page):
    return page.locator(".map-tip p").all_inner_texts()


def test_a_hover_says_who_a_node_is_and_a_click_picks_it(page):
    show_nodes(page)
    x, y = spot(page, 1, 0)
    page.mouse.move(x + 5, y - 3)  # near it is enough
    page.locator(".map-tip").wait_for()
    assert tip(page) == [
        "node 8: a 1, named Theory",
        "test node of client 3 · .86 against .84 for 1",
        "why? click",
    ]
    page.mouse.click(x + 5, y - 3)
    assert page.evaluate("() => picked") == [{"node": 8}]
    page.mouse.move(*spot(page, 2, 0))
    page.wait_for_function("() => document.querySelector('.map-tip').innerText.includes('node 9')")
    assert tip(page)[1] == "test node of client 4 · .7004 against .7001 for 1"
    page.mouse.move(*spot(page, 2, 1.5))
    page.locator(".map-tip").wait_for(state="hidden")
    page.mouse.move(*spot(page, 0, 0))
    page.mouse.down()
    page.mouse.move(x + 60, y)  # a drag is no click
    page.mouse.up()
    assert page.evaluate("() => picked") == [{"node": 8}]


def test_a_class_says_its_share_by_its_name_its_legend_and_a_lasso(page):
    show_nodes(page)
    said = page.locator(".map-said")
    assert said.inner_text() == "UMAP · hover or click any"
    x, y = spot(page, 1, 1)
    page.mouse.click(x, y - 22)
    assert said.inner_text() == "class Theory: 1 of 1 test nodes right"
    page.locator(".legend .legendtoggle").first.click()
    page.get_by_text("class 1: 0 of 1 test nodes right").wait_for()
    page.wait_for_function(f"() => {MAP}._fullData[0].visible === 'legendonly'", timeout=30_000)
    page.mouse.move(*spot(page, 1, 0))  # hidden nodes do not answer
    page.mouse.move(*spot(page, 2, 0))
    page.locator(".map-tip").wait_for()
    page.mouse.move(*spot(page, 1, 0))
    page.locator(".map-tip").wait_for(state="hidden")
    page.locator(".legend .legendtoggle").first.click()
    page.wait_for_function(f"() => {MAP}._fullData[0].visible === true", timeout=30_000)
    page.evaluate(f"() => Plotly.relayout({MAP}, {{ dragmode: 'lasso' }})")
    corners = [(0.5, -0.5), (0.5, 0.5), (2.5, 0.5), (2.5, -0.5), (0.5, -0.5)]
    page.mouse.move(*spot(page, *corners[0]))
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*spot(page, *corner), steps=4)
    page.mouse.up()
    page.get_by_text("2 nodes: 50.0 % right, 1 of 2 test nodes; most are 1 (1)").wait_for(
        timeout=10_000
    )


def test_keys_step_through_the_nodes(page):
    show_nodes(page, asked=True)
    page.locator(".live-map").focus()
    page.keyboard.press("j")
    page.evaluate(f"() => Plotly.relayout({MAP}, {{ 'xaxis.range': [-1, 4] }})")
    page.keyboard.press("j")  # goes on from where it was, whatever was drawn in between
    said = page.locator(".map-said")
    assert said.get_attribute("aria-live") == "polite"
    page.get_by_text("node 8: a 1, named Theory, test node of client 3").wait_for()
    assert tip(page)[2] == "why? press Enter"
    page.keyboard.press("Enter")
    page.keyboard.press("k")
    page.keyboard.press("k")  # from the first to the last
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert page.evaluate("() => picked") == [{"node": 8}, {"node": 9}, {"node": None}]
    page.locator(".map-tip").wait_for(state="hidden")
