"""The Privacy page: its controls, what it says, every unusual setting, and the lines behind it."""

import math
import re

import pytest

from pages.parts.privacy_views import cost_of
from spear_core import Settings, run
from spear_core.studies import privacy_cost as cost_module
from spear_core.studies import sketch_exposure
from spear_core.studies.exposure import exposure
from spear_core.studies.sketch_attack import revealed
from tests.apptest import charts, opened, printed, put, said


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    """Two seeds and one draw: the page asks for the curve with its defaults."""
    quick = (cost_module.EPSILONS, (42, 0), 1)
    monkeypatch.setattr(cost_module.privacy_cost, "__defaults__", quick)
    cost_of.clear()  # other tests of this process may have left the whole curve there
    yield
    cost_of.clear()


@pytest.fixture
def page():
    return opened("privacy")


def at(page, **values):
    return {m.label: m.value for m in put(page, **values).metric}


def test_without_noise_lone_nodes_are_found(page):
    shown = at(page)
    seen = exposure(run(Settings()))
    alone = int(seen.alone.sum())
    assert alone == 2
    assert shown["Lone nodes found"] == "2 of 2"
    assert shown["Membership AUC"] == f"{seen.membership:.2f}"
    assert shown["Noise on a sum"] == "none"
    assert len(page.dataframe[0].value) == alone
    assert set(charts(page)) == {
        "privacy_cost", "privacy_exposed", "privacy_members", "privacy_digit",
        "privacy_sketches",
    }  # fmt: skip


def test_epsilon_moves_the_page(page):
    exact = at(page)
    page.select_slider(key="epsilon").set_value(1.0).run()
    private = at(page)
    assert float(private["Accuracy"].split()[0]) < float(exact["Accuracy"].split()[0]) - 30
    assert float(private["Lone nodes found"].split()[0]) < 2
    assert any("privacy costs everything" in block.value for block in page.markdown)
    assert any(r"\sigma" in block.value for block in page.latex)
    assert "epsilon=1.0" in page.code[0].value
    page.segmented_control(key="mechanism").set_value("laplace").run()
    at(page)
    assert page.select_slider(key="delta").disabled
    assert any(r"\sqrt F" in block.value for block in page.latex)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("head", ["cosine", "ridge"])
def test_the_formula_gives_the_noise_it_says(page, head, mechanism):
    """The numbers of the fraction, worked out, are the number after it."""
    at(page, epsilon=10.0, head=head, mechanism=mechanism)
    sums, *others = (block.value for block in page.latex)
    top, below, said = re.search(r"= \\frac\{(\d\S*?)\}\{(\S.*)\} = ([\d.e+-]+)", sums).groups()
    value = lambda text: math.prod(  # noqa: E731
        math.sqrt(float(root)) if root else float(plain)
        for root, plain in re.findall(r"\\sqrt\{([\d.]+)\}|([\d.]+)", text)
    )
    assert value(top) / value(below) == pytest.approx(float(said), rel=0.02)
    names = r"\sigma_q" if mechanism == "gaussian" else "b_q"
    assert any(names in text for text in others) == (head == "ridge")
    assert any("Δ_q" in c.value for c in page.caption) == (head == "ridge")


def test_what_sketches_reveal_is_shown_from_the_table_and_for_the_ridge_head_now(page):
    at(page)
    assert "privacy_sketches" in charts(page)
    assert "This run sends none." in said(page)
    assert len(page.table[0].value) == 5
    at(page, head="ridge", sketch=8.0)
    found = revealed(run(Settings(head="ridge", sketch=8)))
    assert f"{found.found} of {found.rows} training nodes are named rightly" in said(page)
    assert sketch_exposure.words() in said(page)
    assert "privacy_sketches" in charts(page)


def test_the_lines_run_and_say_what_the_page_says(page):
    at(page, epsilon=100.0)
    out = printed(page)
    seen = exposure(run(Settings(epsilon=100)))
    assert str(seen.membership) in out
    shown = said(page)
    assert [line for line in out.splitlines()[1:] if line not in shown] == []


def test_pin_karate_one_client_and_no_lone_node(page):
    next(b for b in page.sidebar.button if b.label == "Pin").click().run()
    at(page, clients=1, epsilon=10.0)
    assert any("No upload stands for a single node" in block.value for block in page.info)
    names = [t["name"] for t in charts(page)["privacy_cost"]["data"]]
    assert "pinned" in names
    at(page, dataset="karate", clients=3)
    assert "privacy_digit" not in charts(page)


@pytest.mark.slow
def test_with_liars_and_many_clients(page):
    at(page, epsilon=3.0, attacker_count=3, flip="next", forge="nan", pick="0,0")
    at(page, clients=200, beta=1.0, epsilon=1e-6)


def test_many_long_runs_wait_for_a_click(page, monkeypatch):
    monkeypatch.setattr("pages.parts.privacy_views.MOST_TOUCHED", 1000)
    shown = put(page, seed=7)
    assert "privacy_cost" not in charts(shown)
    assert any("runs" in button.label for button in shown.button)


def test_more_comparisons_than_anybody_waits_for_are_refused(page, monkeypatch):
    monkeypatch.setattr("pages.parts.privacy_views.MOST_COMPARED", 1000)
    page.session_state["seed"] = 7
    page.run()
    assert not page.exception
    (error,) = page.error
    assert "choose fewer clients or a smaller graph" in error.value
