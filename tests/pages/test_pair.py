"""A against B: both numbers, two maps with the same places, and what cannot differ says so."""

import json

import pytest

from pages.shared.pinned import both, silhouettes_alike
from spear_core import Settings, run
from tests.browser import eventually, settled
from tests.pages.test_card import started


def test_both_numbers_and_what_lies_between():
    now, then = run(Settings()), run(Settings(gamma=0.0))
    a, b = (100 * r.metrics.accuracy for r in (then, now))
    assert both(then, now) == f"A {a:.1f} % · B {b:.1f} % · +{b - a:.1f}"
    assert both(now, now).endswith(" · ±0.0")


def test_silhouettes_say_when_they_cannot_differ():
    now = run(Settings())
    assert "cannot differ" in silhouettes_alike(run(Settings(beta=1.0)), now)
    assert silhouettes_alike(run(Settings(alpha=0.5)), now) == ""


def maps(app):
    found = (json.loads(c.proto.json or "{}").get("figure", "") for c in app.get("bidi_component"))
    return [json.loads(text) for text in found if '"pair":true' in text]


def test_pinning_shows_two_maps_with_the_same_places():
    app = started(pin="beta:0.3")
    now, then = maps(app)
    assert "B, now" in now["layout"]["annotations"][0]["text"]
    assert "A, pinned" in then["layout"]["annotations"][0]["text"]
    for axis in ("xaxis", "yaxis"):
        assert now["layout"][axis]["range"] == then["layout"][axis]["range"]
    nodes = [[t["x"] for t in m["data"] if t.get("meta") == "nodes"] for m in (now, then)]
    assert nodes[0] == nodes[1]
    local = [next(t for t in m["data"] if t.get("name") == "local") for m in (now, then)]
    assert local[0]["x"] != local[1]["x"]
    words = next(c.value for c in app.caption if "Pinned:" in c.value)
    assert "A has β = 0.3 (now 0.05)" in words
    assert both(run(Settings(beta=0.3)), run(Settings())) in words
    assert maps(started()) == []


@pytest.mark.browser
def test_the_maps_of_a_pair_zoom_together_in_four_contexts(open_page):
    tab = open_page("?pin=beta:0.3")
    maps = "[...document.querySelectorAll('.live-map[data-drawn]')]"
    tab.wait_for_function(f"() => {maps}.length === 2", timeout=90_000)
    settled(tab)
    tops = [box["y"] for box in (tab.locator(".live-map").nth(i).bounding_box() for i in (0, 1))]
    assert abs(tops[0] - tops[1]) < 2  # side by side
    tab.locator(".live-map").first.focus()
    before = tab.evaluate(f"() => {maps}[1]._fullLayout.xaxis.range")
    tab.keyboard.press("+")

    def same():
        one, two = tab.evaluate(f"() => {maps}.map((m) => m._fullLayout.xaxis.range)")
        assert one == two != before

    eventually(tab, same)
    gl = "canvas => !!(canvas.getContext('webgl') || canvas.getContext('webgl2'))"
    used = tab.locator(".gl-canvas-context, .gl-canvas-focus").evaluate_all(
        f"all => all.filter({gl}).length"
    )
    assert used <= 4
