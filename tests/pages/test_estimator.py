"""The estimator switch: what it sets, what follows it, and LANCE on every page."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.pages import PAGES
from spear_core import Settings, run
from spear_core.explain import node, ridge_node, words
from spear_core.explain.gate import gate_words
from spear_core.explain.summary import summary
from spear_core.figures.message import message
from spear_core.lance import lance
from tests.apptest import said, sound
from tests.browser import ROOT

DIGITS = Settings(dataset="digits")


def opened(script=None, **query):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    for name, value in ({"v": "2", "dataset": "karate"} | query).items():
        app.query_params[name] = value
    sound(app.run())
    return sound(app.switch_page(script).run()) if script else app


def test_the_switch_sets_the_parts_and_the_link_follows():
    app = opened()
    assert app.sidebar.selectbox(key="estimator").value == "SPEAR"
    sound(app.sidebar.selectbox(key="estimator").set_value("LANCE").run())
    assert (app.session_state["head"], app.session_state["sketch"]) == ("ridge", 8.0)
    assert app.query_params["head"] == "ridge"
    assert app.sidebar.select_slider(key="gamma").disabled
    sound(app.sidebar.number_input(key="gate").set_value(0.2).run())
    assert app.sidebar.selectbox(key="estimator").value == "custom"
    sound(app.sidebar.selectbox(key="estimator").set_value("SPEAR").run())
    assert "head" not in app.query_params
    assert app.session_state["gate"] == 0.07


def test_a_scenario_keeps_the_estimator_and_the_paper_default_does_not():
    app = opened(smoothing="gated", head="ridge", sketch="8")
    assert app.sidebar.selectbox(key="estimator").value == "LANCE"
    sound(app.sidebar.selectbox(key="scenario").set_value("Extreme skew").run())
    assert app.session_state["head"] == "ridge"
    sound(app.sidebar.selectbox(key="scenario").set_value("Paper default").run())
    assert app.session_state["head"] == "cosine"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_stands_under_lance(page):
    app = opened(page.script, smoothing="gated", head="ridge", sketch="8")
    assert not app.error, [error.value for error in app.error]


def test_shrink_says_that_gamma_plays_no_part():
    app = opened("pages/shrink.py", dataset="digits", head="ridge")
    assert "γ plays no part" in said(app)
    assert not app.sidebar.select_slider(key="gamma").disabled  # what SPEAR would do is shown


def test_the_parts_of_a_score_add_up_to_what_the_run_said():
    r = run(lance(DIGITS))
    at = int(r.prediction.nodes[3])
    view = node.inspect(r, at)
    parts = ridge_node.parts(r, view)
    assert (parts.scores - view.after).abs().max() < 1e-4
    assert (r.prediction.scores[3] - view.after).abs().max() < 1e-4
    assert "from the residuals" in words.explain(r, view)
    assert ridge_node.parts(run(DIGITS), view) is None


def test_without_a_sketch_the_residuals_give_nothing():
    r = run(Settings(dataset="digits", head="ridge"))
    parts = ridge_node.parts(r, node.inspect(r, 0))
    assert parts.residuals.abs().max() < 1e-6


def test_a_node_is_smoothed_as_the_gate_says():
    r = run(lance(DIGITS))
    assert len(node.inspect(r, 0).rows) == r.settings.gate_steps + 1
    assert "above the gate" in gate_words(r)
    assert gate_words(run(DIGITS)) == ""


def test_the_sentence_and_the_picture_count_the_rows_of_the_sketch():
    r = run(lance(DIGITS))
    rows = len(r.sent.residuals.owner)
    assert f"{rows} rows of residuals" in summary(r)
    assert f"+ {rows} rows" in message(r)
    assert "rows" not in summary(run(DIGITS))
