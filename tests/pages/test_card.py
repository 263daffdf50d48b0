"""A map you can ask: the card of a node beside the map, by link, by search and by hand."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from spear_core import Settings, run
from spear_core.explain import node as look
from spear_core.explain.words import explain
from spear_core.figures.card import builder_bars, similarity_bars
from tests.browser import ROOT, eventually, query, settled, wait_for_query

MAP = "document.querySelector('.live-map')"
ALONE = """() => {
  // a wrong test node with room around it: its id and its place on the screen
  const gd = document.querySelector('.live-map'), box = gd.getBoundingClientRect();
  const { xaxis: X, yaxis: Y } = gd._fullLayout, told = gd.layout.meta.nodes;
  const kinds = { u1: Uint8Array, i2: Int16Array };
  const [id, label, named, role] = ["id", "label", "named", "role"].map((k) => new kinds[
    told[k].dtype](Uint8Array.from(atob(told[k].bdata), (c) => c.charCodeAt(0)).buffer));
  const others = [], nodes = [];
  for (const t of gd._fullData) for (let i = 0; i < t.x.length; i++) {
    const at = [X._offset + X.d2p(t.x[i]), Y._offset + Y.d2p(t.y[i])];
    if (isFinite(at[0])) (t.meta === "nodes" ? nodes : others).push(at);
  }
  const apart = (p, q) => p === q ? 99 : Math.hypot(p[0] - q[0], p[1] - q[1]);
  const far = (p, all) => Math.min(...all.map((q) => apart(p, q)));
  let best = -1, most = -1;
  nodes.forEach((p, n) => {
    if (label[n] === named[n] || role[n] !== 2) return;
    const room = Math.min(far(p, others) / 4, far(p, nodes));
    if (room > most) [best, most] = [n, room];
  });
  return [id[best], box.x + nodes[best][0], box.y + nodes[best][1]];
}"""


def started(**params):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    for name, value in params.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def the_map(app):
    """The figure that the browser gets."""
    (found,) = (c for c in app.get("bidi_component") if '"meta":{"nodes"' in _figure(c))
    return json.loads(_figure(found))


def _figure(component):
    return json.loads(component.proto.json).get("figure", "") if component.proto.json else ""


def test_the_card_says_why_and_is_closed():
    result = run(Settings())
    view = look.inspect(result, 298)
    app = started(node="298")
    assert any("Node 298: class 1, wrong" in m.value for m in app.markdown)
    assert any(explain(result, view) == m.value for m in app.markdown)
    assert {t["name"] for t in the_map(app)["data"] if "name" in t} >= {"asked", "neighbours"}
    app.button(key="card_close").click().run()
    assert not any("Node 298" in m.value for m in app.markdown)
    assert "asked" not in {t.get("name") for t in the_map(app)["data"]}
    assert app.session_state["node"] == ""


def test_a_search_finds_or_says_a_sentence():
    app = started()
    app.text_input(key="find_node").set_value("12").run()
    assert any("Node 12:" in m.value for m in app.markdown)
    there = "There is no node 1797 in digits; use 0 to 1796."
    for wrong, words in (("1797", there), ("x", "by its number")):
        app.text_input(key="find_node").set_value(wrong).run()
        assert not app.exception
        assert words in the_map(app)["layout"]["meta"]["nodes"]["said"]
        assert any("Node 12:" in m.value for m in app.markdown)  # the last one stays


def test_a_node_that_smooth_proposes_opens_no_card():
    app = started()
    app.switch_page("pages/smooth.py").run()
    assert app.session_state["node"]
    app.switch_page("pages/explore.py").run()
    assert not any("Node " in m.value for m in app.markdown)


def test_bars_name_the_winner_and_the_true_class():
    result = run(Settings())
    view = look.inspect(result, 298)
    bars = similarity_bars(result, view)
    assert bars.index(">8<") < bars.index(">1<")
    assert f">{float(view.after[8]):.2f}<" in bars
    makers = look.builders(result, 8)
    assert builder_bars(result, view).count("client") == min(4, len(makers.client))


@pytest.mark.browser
def test_hover_click_search_and_keys(open_page):
    tab = open_page("")
    tab.wait_for_function(f"() => {MAP}?.dataset.drawn", timeout=90_000)
    settled(tab)
    node, x, y = tab.evaluate(ALONE)
    view = look.inspect(run(Settings()), node)
    tab.mouse.move(x, y)
    tab.locator(".map-tip").wait_for(timeout=30_000)
    first, second, last = tab.locator(".map-tip p").all_inner_texts()
    assert first.split(": ")[0] == f"node {node}"
    assert first.endswith(f"{view.true}, named {view.predicted}")
    assert "client" in second
    assert "against" in second
    assert last == "why? click"
    before = tab.locator(".live-map").bounding_box()
    tab.mouse.click(x, y)
    card = tab.locator(".st-key-node_card")
    card.get_by_text(f"Node {node}:").wait_for(timeout=60_000)
    wait_for_query(tab, "node", str(node))
    assert tab.locator(".live-map").bounding_box() == before  # nothing moved
    lines = f"() => {MAP}._fullData.find((t) => t.name === 'neighbours').x.length / 3"
    eventually(tab, lambda: _is(tab.evaluate(lines), len(view.neighbours)))
    tab.get_by_label("Find a node").fill("7")
    tab.get_by_label("Find a node").press("Enter")
    card.get_by_text("Node 7:").wait_for(timeout=60_000)
    settled(tab)
    tab.locator(".live-map").focus()
    tab.keyboard.press("j")
    tab.keyboard.press("Enter")
    eventually(tab, lambda: _is(query(tab)["node"] != "7", True))
    card.get_by_role("button", name="Close").click()
    card.wait_for(state="detached", timeout=60_000)


def _is(value, expected):
    assert value == expected
