"""The Shrink page: every view, every unusual setting, and the lines behind it."""

import pytest

from pages.shared.knobs import GAMMAS
from spear_core import Settings, run
from spear_core.explain.ablation import gamma_words, words
from spear_core.explain.risk import held, simulated
from spear_core.studies.ablation import ablation, gamma_curve
from spear_core.studies.risk import simulate
from spear_core.studies.risk_check import check
from tests.apptest import charts, opened, printed, put, said

VIEWS = {"Accuracy over γ": 3, "What carries the gain": 3, "Proposition 1": 3}
VIEWS["Does the model hold"] = 4


@pytest.fixture
def page():
    return opened("shrink")


def show(page, view):
    return said(put(page, shrink=view))


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_draws_and_its_lines_run(page, view):
    text = show(page, view)
    assert len(charts(page)) == VIEWS[view]
    out = printed(page)
    assert "'shrunk'" in out
    if view == "Accuracy over γ":
        curve = gamma_curve(Settings(), GAMMAS, seeds=[42])
        assert gamma_words(GAMMAS, curve[0], 0.5) in text
        assert str(curve) in out
    if view == "What carries the gain":
        sentences = words(ablation(Settings()))
        assert all(sentence in text and sentence in out for sentence in sentences)
    if view == "Proposition 1":
        sentences = simulated(simulate(1, 0.5, 3))
        assert sentences in text
        assert sentences in out
    if view == "Does the model hold":
        sentences = held(check(run(Settings())))
        assert all(sentence in text and sentence in out for sentence in sentences.values())


def test_gamma_moves_the_page(page):
    page.sidebar.select_slider(key="gamma").set_value(0.05).run()
    text = show(page, "Accuracy over γ")
    assert gamma_words(GAMMAS, gamma_curve(Settings(), GAMMAS, seeds=[42])[0], 0.05) in text
    assert any("0.05" in block.value for block in page.latex)


def test_sliders_of_the_proposition(page):
    show(page, "Proposition 1")
    page.select_slider(key="samples").set_value("10").run()
    page.select_slider(key="tau2").set_value("0.1").run()
    assert any("0.500" in block.value for block in page.latex)  # λ* = 0.1 / (0.1 + 0.1)
    assert "simulate(1, 0.1, 10)" in page.code[0].value


def test_both_readings_of_the_centroid(page):
    page.session_state["centroid"] = "all nodes"
    text = show(page, "Does the model hold")
    assert held(check(run(Settings()), "all nodes"))["slope"] in text
    assert "centroids_of('all nodes')" in page.code[0].value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value"), [("clients", 1), ("clients", 200), ("gamma", 0.0), ("gamma", float("inf"))]
)
def test_extreme_sliders(page, key, value):
    page.sidebar.select_slider(key=key).set_value(value).run()
    for view in VIEWS:
        assert "nan" not in show(page, view).lower()


def test_variants_and_a_pinned_setting(page):
    next(b for b in page.sidebar.button if b.label == "Pin").click().run()
    page.session_state["reliability"] = "degree"
    show(page, "Accuracy over γ")
    page.session_state["peers"] = "semantic"
    page.session_state["shrinkage"] = False
    for view in VIEWS:
        show(page, view)
    assert any("Shrinkage is off" in block.value for block in page.markdown)
    assert page.latex[0].value.strip("$\n") == r"\lambda = 0"


def test_the_page_opens_with_what_lambda_is_for_in_live_numbers(page):
    """The smallest n that has peers is 1: λ = 1/(1 + 0.5 · 1)."""
    assert "λ says how much of it is taken from its peers" in page.markdown[0].value
    assert "67 % of its prototype comes from the peers" in page.markdown[0].value
    assert page.latex[0].value.strip("$\n").endswith(r"\frac{1}{1 + 0.5 \cdot 1} = 0.67")


def test_karate(page):
    page.sidebar.selectbox(key="dataset").select("karate").run()
    for view in VIEWS:
        show(page, view)


def test_a_run_without_any_upload_is_drawn():
    """Ten liars who send no numbers: the server drops all of it."""
    page = put(opened("shrink"), attacker_count=10, forge="nan")
    assert page.session_state["attacker_count"] == 10
