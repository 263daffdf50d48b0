"""The map's own script in a bare page, without Streamlit or Jupyter: mounted, updated, ended."""

import json
from importlib.resources import files
from pathlib import Path

import plotly
import pytest

from tests.browser import FLAGS, need_browser

pytestmark = pytest.mark.browser

SCRIPT = files("spear_core.figures.map").joinpath("livemap.js").read_text(encoding="utf-8")
MAP = "document.querySelector('.live-map')"
BARE = """
<style>.live-map {{ --map-ink: rgb(1, 2, 3); }}</style>
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
        tab.set_content(BARE.format(script=SCRIPT))
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
    assert page.get_by_role("img", name="one at 4").count() == 1
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
