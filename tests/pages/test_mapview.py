"""The map of a large graph: the page never waits for it, and never shows an old one unsaid."""

import threading

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import background, mapview, runs
from tests.browser import ROOT


@pytest.fixture
def drawn(monkeypatch):
    """What is handed to the browser: (figure, words) of every run."""
    seen = []
    monkeypatch.setattr(
        mapview, "live_map", lambda figure, key, alt, height: seen.append((figure, alt))
    )
    return seen


def kind(drawn):
    return drawn[-1][0].layout.annotations[0].text


def test_a_large_graph_keeps_the_last_map_until_the_new_one_is_there(monkeypatch, drawn):
    monkeypatch.setattr(runs, "SMALL", 0)  # every graph is a large one
    monkeypatch.setattr(background, "PATIENCE", 0.05)
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    first = drawn[-1][0]
    assert "last setting" not in kind(drawn)
    hold, prepared = threading.Event(), mapview._prepared
    monkeypatch.setattr(mapview, "_prepared", lambda *runs: hold.wait(600) and prepared(*runs))
    before = app.metric[0].value
    app.sidebar.select_slider(key="beta").set_value(1.0).run()
    assert not app.exception
    assert app.metric[0].value != before  # the number is there
    assert kind(drawn).endswith("still of the last setting")
    assert drawn[-1][1].startswith("Still of the last setting.")
    (was,), (now,) = ([t for t in f.data if t.name == "local"] for f in (first, drawn[-1][0]))
    assert list(was.x) == list(now.x)
    hold.set()
    assert app.session_state["_background"].placing.ended.wait(600)
    app.run()
    assert "last setting" not in kind(drawn)
    (now,) = (t for t in drawn[-1][0].data if t.name == "local")
    assert len(now.x) != len(was.x)
