"""The explorer in JupyterLab, in a real browser: moved, clicked, restarted, saved and reopened."""

import nbformat
import pytest

from spear_core import Settings, run
from tests import jupyter
from tests.browser import FLAGS, eventually, need_browser
from tests.jupyter import SLOW, open_notebook, printed, run_cell

pytestmark = [pytest.mark.browser, pytest.mark.notebook]

HEAD = "from spear_core import Settings, run\nfrom spear_core.widgets import explore, live_map"
LOOK = "print(e.settings.gamma, e.selected, e.hovered, f'{100 * e.result.metrics.accuracy:.1f} %')"
GAMMA = "γ, trust in own counts"
PLACE = """(gd, n) => {
  const l = gd._fullLayout, t = gd._fullData[0], box = gd.getBoundingClientRect();
  return [box.x + l.xaxis._offset + l.xaxis.d2p(t.x[n]),
          box.y + l.yaxis._offset + l.yaxis.d2p(t.y[n])];
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lab") / "books"


@pytest.fixture(scope="module")
def lab(folder):
    need_browser()
    folder.mkdir()
    with jupyter.running_lab(folder) as address:
        yield address


@pytest.fixture(scope="module")
def chromium():
    path = need_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def tab(lab, chromium):
    """A tab that notes the requests which leave this machine, and errors of scripts."""
    page = chromium.new_page(viewport={"width": 1300, "height": 1000})
    page.outside, page.wrong = [], []
    own = (lab, lab.replace("http", "ws"), "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(own) else page.outside.append(r.url))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    yield page
    assert page.outside == []
    page.close()


def drawn(part, more_than=0):
    """How often a map was drawn, once it was drawn more often than that."""
    part.locator(".live-map[data-drawn]").first.wait_for(timeout=SLOW)
    times = int(part.locator(".live-map").first.get_attribute("data-drawn"))
    assert times > more_than
    return times


def number(part):
    return part.locator(".spear-accuracy b").inner_text()


def shows(part, text):
    assert number(part) == text


def told(gamma):
    return f"{100 * run(Settings(gamma=gamma)).metrics.accuracy:.1f} %"


def test_a_slider_and_a_click_reach_python_and_the_other_way_round(lab, folder, tab):
    jupyter.write(folder, "one", f"{HEAD}\ne = explore(Settings())\ne", LOOK, "e.selected = 8")
    open_notebook(tab, lab, "one")
    part = run_cell(tab, 0).locator(".spear-explorer")
    first = drawn(part)
    assert number(part) == told(0.5)
    slider = part.get_by_role("slider", name=GAMMA)
    eventually(tab, lambda: slider.press("End", timeout=1000))
    eventually(tab, lambda: shows(part, told(float("inf"))))
    eventually(tab, lambda: drawn(part, first))
    part.locator(".spear-late b").first.wait_for(timeout=SLOW)

    live = part.locator(".live-map")
    live.scroll_into_view_if_needed()
    x, y = live.evaluate(PLACE, 0)
    tab.mouse.move(x, y)
    part.locator(".map-tip").wait_for()
    who = part.locator(".map-tip p").first.inner_text().split(":")[0].removeprefix("node ")
    tab.mouse.click(x, y)
    part.get_by_text(f"Node {who}: class").wait_for(timeout=SLOW)
    assert printed(tab, 1) == f"inf {who} None {told(float('inf'))}"
    run_cell(tab, 2)
    part.get_by_text("Node 8: class").wait_for(timeout=SLOW)
    assert tab.wrong == []


def test_the_keys_of_the_map_are_not_jupyters(lab, folder, tab):
    jupyter.write(folder, "keys", f"{HEAD}\nm = live_map(run(Settings()))\nm", "print(m.selected)")
    open_notebook(tab, lab, "keys")
    part = run_cell(tab, 0)
    drawn(part)
    part.locator(".live-map").focus()
    tab.keyboard.press("j")  # to JupyterLab: the next cell
    part.locator(".map-tip").wait_for()
    who = part.locator(".map-tip p").first.inner_text().split(":")[0].removeprefix("node ")
    tab.keyboard.press("Enter")
    part.get_by_text(f"Node {who}: class").wait_for(timeout=SLOW)
    assert printed(tab, 1) == who


def test_two_at_once_and_a_kernel_that_was_restarted(lab, folder, tab):
    one = f"{HEAD}\ne = explore(Settings())\ne"
    jupyter.write(folder, "two", one, "other = explore(Settings(gamma=2.0))\nother")
    open_notebook(tab, lab, "two")
    first = run_cell(tab, 0).locator(".spear-explorer")
    second = run_cell(tab, 1).locator(".spear-explorer")
    drawn(first)
    times = drawn(second)
    eventually(tab, lambda: second.get_by_role("slider", name=GAMMA).press("Home", timeout=1000))
    eventually(tab, lambda: shows(second, told(0.0)))
    eventually(tab, lambda: drawn(second, times))
    assert number(first) == told(0.5)

    jupyter.restart(tab)
    dead = "() => getComputedStyle(document.querySelector('.spear-explorer'), '::before').content"
    tab.wait_for_function(f"{dead[6:]}.includes('run this cell again')", timeout=SLOW)
    again = run_cell(tab, 0).locator(".spear-explorer")
    drawn(again)
    eventually(tab, lambda: again.get_by_role("slider", name=GAMMA).press("Home", timeout=1000))
    eventually(tab, lambda: shows(again, told(0.0)))
    assert tab.wrong == []


def test_a_saved_notebook_shows_its_picture_without_its_kernel(lab, folder, tab, chromium):
    jupyter.write(folder, "saved", f"{HEAD}\ne = explore(Settings())\ne")
    open_notebook(tab, lab, "saved")
    drawn(run_cell(tab, 0))
    jupyter.save(tab)
    tab.close()
    jupyter.end_kernels(lab)

    later = chromium.new_page()  # trusted, with a new kernel that knows of no widget
    open_notebook(later, lab, "saved")
    dead = later.locator(".jp-OutputArea-output.jupyter-widgets")
    dead.get_by_text("model not found").wait_for(timeout=SLOW)
    look = dead.evaluate("e => [getComputedStyle(e, '::before').backgroundImage, e.offsetHeight]")
    assert look[0].startswith('url("data:image/png;base64,iVBOR')
    assert look[1] > 200
    later.close()

    book = nbformat.read(folder / "saved.ipynb", as_version=4)
    book.cells[0].source += "  # from somebody else, and so not trusted"
    nbformat.write(book, folder / "foreign.ipynb")
    other = chromium.new_page()
    open_notebook(other, lab, "foreign")
    picture = other.locator(".jp-OutputArea-output img")
    picture.wait_for(timeout=SLOW)
    assert picture.count() == 1
    assert picture.evaluate("e => [e.naturalWidth, e.offsetWidth > 300]") == [1840, True]
    other.close()
