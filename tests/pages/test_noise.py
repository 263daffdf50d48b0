"""The Noise page: its controls move it, every view draws, and its lines run."""

import json

import pytest

from pages.shared import link
from spear_core import Settings, run
from spear_core.explain.noise_curve import words
from spear_core.paper import perturbation
from spear_core.paper.printed import row
from spear_core.studies.noise_curve import VALUES, curve
from tests.apptest import charts, opened, printed, put, said

EDGES, FEATURES, LABELS, KEPT, WHERE, PAPER = link.choices("noise_view")


@pytest.fixture
def page():
    return opened("noise")


def show(page, view):
    return said(put(page, noise_view=view))


@pytest.mark.parametrize("view", [EDGES, FEATURES, LABELS, KEPT])
def test_a_sweep_draws_and_its_lines_run(page, view):
    text = show(page, view)
    assert len(charts(page)) == 2
    assert "Smoothing with α = 0.15 gives" in text
    assert "nan" not in text
    if view == FEATURES:
        assert words(curve(Settings(), "feature_noise", draws=2)) in text
        assert "From η = 0 to η = 0.9" in printed(page)


def test_a_slider_spoils_the_run_and_the_table_says_so(page):
    assert "no noise yet" in said(page)
    page.slider(key="label_noise").set_value(0.5).run()
    page.slider(key="edge_noise").set_value(0.5).run()
    assert "no noise yet" not in said(page)
    assert "of one class" in said(page)
    found = page.table[0].value
    clean, now = (float(cell.split()[0]) for cell in found.iloc[:2, 0])
    assert clean - now > 5
    code = page.code[0].value
    assert "label_noise=0.5" in code
    here = run(Settings(label_noise=0.5, edge_noise=0.5)).metrics.accuracy
    assert printed(page).startswith(f"{here} {run(Settings()).metrics.accuracy}")


def test_the_curve_is_that_of_the_slider_that_was_moved(page):
    for slider, view in (
        ("label_noise", LABELS),
        ("feature_noise", FEATURES),
        ("edge_noise", EDGES),
    ):
        page.slider(key=slider).set_value(0.25).run()
        assert page.session_state["noise_view"] == view
    page.segmented_control(key="feature_rule").set_value("nodes").run()
    assert page.session_state["noise_view"] == FEATURES
    show(page, WHERE)
    page.slider(key="edge_noise").set_value(0.5).run()
    assert page.session_state["noise_view"] == WHERE  # it looks at all kinds


def test_controls_are_in_the_link(page):
    page.slider(key="feature_noise").set_value(0.3).run()
    page.segmented_control(key="feature_rule").set_value("nodes").run()
    page.toggle(key="noise_test").set_value(True).run()
    written = page.session_state["_written"]
    query = {"feature_noise": "0.3", "feature_rule": "nodes", "noise_test": "true"}
    assert {k: written[k] for k in query} == query


def test_where_noise_acts(page):
    assert "Choose ρ or η" in [*map(str, show(page, WHERE).splitlines()), page.info[0].value][-1]
    page.slider(key="feature_noise").set_value(0.5).run()
    show(page, WHERE)
    table = page.table[0].value
    clients, both = (float(table.iloc[i, 0].split()[0]) for i in (0, 2))
    assert both < clients
    assert len(printed(page).splitlines()) == 3


def test_the_papers_table_is_the_file(page):
    text = show(page, PAPER)
    rows = perturbation.read()
    for kind in ("edge", "feature"):
        assert perturbation.words(rows, kind) in text
    assert perturbation.words(rows, "feature") in printed(page)
    assert len(charts(page)) == 2


def test_hidden_controls_stay_hidden(page):
    page.session_state["hide"] = "edge_noise,draw"
    page.run()
    assert {s.key for s in page.main.slider} == {"feature_noise", "label_noise"}


def test_a_pinned_setting_and_no_smoothing(page):
    next(b for b in page.sidebar.button if b.label == "Pin").click().run()
    page.session_state["alpha"] = 0.0
    assert "Smoothing is off" in show(page, FEATURES)
    spec = str(next(iter(charts(page).values())))
    assert "pinned" in spec


def test_karate(page):
    page.sidebar.selectbox(key="dataset").select("karate").run()
    for view in link.choices("noise_view"):
        show(page, view)


# what the page is made from ------------------------------------------------------------------
def test_the_file_holds_every_rule_on_every_dataset():
    rows = perturbation.read()
    spear = row("perturbation", "SPEAR")
    rules = {
        name: [(r.kind, r.rule) for r in rows if r.dataset == name]
        for name in perturbation.DATASETS
    }
    assert rules["Cora"] == rules["CiteSeer"] == rules["PubMed"]
    assert len(set(rules["Cora"])) == 34
    assert len(rows) == 3 * 34
    for r in rows:
        values = [float(value) for value in r.values.split()]
        assert len(values) == r.draws * len(r.seeds.split()) >= 20
        assert r.mean == pytest.approx(sum(values) / len(values), abs=0.01)
        assert r.printed == spear[f"{r.dataset} {r.kind}"]


def test_a_stored_figure_is_what_a_run_gives():
    from tests.conftest import need

    need("Cora")
    rule = "each entry with η/2"
    kept = next(r for r in perturbation.read() if (r.rule, r.dataset) == (rule, "Cora"))
    changes = json.loads(kept.settings)
    assert changes == {"feature_noise": 0.25}
    found = [
        100 * run(Settings(dataset="Cora", **changes, seed=int(seed), draw=draw)).metrics.accuracy
        for seed in kept.seeds.split()
        for draw in range(kept.draws)
    ]
    assert sum(found) / len(found) == pytest.approx(kept.mean, abs=0.01)


def test_a_curve_pairs_its_runs():
    found = curve(Settings(dataset="karate", clients=3), "edge_noise", seeds=(42, 0))
    assert found.values == VALUES["edge_noise"]
    assert found.smoothed.shape == (6, 2)
    one = run(Settings(dataset="karate", clients=3, edge_noise=0.5, seed=0)).metrics.accuracy
    assert found.smoothed[3, 1] == pytest.approx(100 * one)
    assert (found.raw == found.raw[0]).all()  # without smoothing edges do not matter
