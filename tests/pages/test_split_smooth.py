"""The pages Split and Smooth, run by Streamlit's own test runner."""

import pytest
import torch
from streamlit.testing.v1 import AppTest

from pages.parts.smooth_curves import ALPHAS, SILHOUETTE
from spear_core import Settings, run
from spear_core.explain import neighbourhood as around
from spear_core.explain import node as look
from spear_core.explain.words import explain
from spear_core.measures.silhouette import silhouette
from tests.apptest import charts
from tests.browser import ROOT


@pytest.fixture(params=["split", "smooth"])
def page(request):
    return opened(request.param)


def opened(name):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    app.switch_page(f"pages/{name}.py").run()
    assert not app.exception
    return app


def metric(app, label):
    return next(m.value for m in app.metric if m.label == label)


def press(app, label):
    next(b for b in app.button if b.label == label).click().run()


def node(app):
    return app.number_input(key="node_id").value


def names_of(code):
    """Run the lines; what they name."""
    scope = {}
    exec(code, scope)
    return scope


@pytest.mark.slow
def test_every_control_moves_the_page_without_a_complaint(page):
    def move(knob, value):
        if not knob.disabled:  # where it does nothing
            knob.set_value(value).run()

    move(page.sidebar.select_slider(key="beta"), 1.0)
    move(page.sidebar.slider(key="alpha"), 0.0)
    move(page.sidebar.slider(key="steps"), 0)
    move(page.sidebar.select_slider(key="clients"), 200)
    move(page.sidebar.select_slider(key="gamma"), 0.0)
    page.sidebar.selectbox(key="dataset").select("karate").run()
    move(page.sidebar.slider(key="steps"), 12)
    page.sidebar.selectbox(key="dataset").select("synthetic").run()
    assert not page.exception
    assert not page.error


def test_what_cannot_be_run_is_one_sentence(page):
    page.sidebar.selectbox(key="dataset").select("karate").run()
    page.sidebar.select_slider(key="clients").set_value(50).run()
    assert not page.exception
    assert "clients must be at most the number of nodes" in page.error[0].value


@pytest.mark.slow
def test_a_pinned_setting_is_drawn_beside(page):
    press(page, "Pin")
    page.sidebar.select_slider(key="beta").set_value(10.0).run()
    assert not page.exception
    assert "pinned" in str(charts(page))


def test_split_tells_what_the_engine_tells():
    app = opened("split")
    part = run(Settings()).partition
    share = 100 * part.cut_edges / part.graph.num_edges
    assert metric(app, "Edges cut") == f"{part.cut_edges:,} ({share:.1f} %)"
    assert metric(app, "Redraws") == str(part.redraws)
    app.sidebar.select_slider(key="clients").set_value(1000).run()
    assert any("the last was kept" in caption.value for caption in app.caption)


def test_split_in_python():
    app = opened("split")
    app.sidebar.select_slider(key="beta").set_value(0.3).run()
    names = names_of(app.code[0].value)
    assert torch.equal(names["p"].counts, run(Settings(beta=0.3)).partition.counts)


def test_smooth_follows_a_node():
    app, result = opened("smooth"), run(Settings())
    assert node(app) == look.find(result, right=False)
    press(app, "A wrong one, please")
    second = node(app)
    assert second == look.find(result, False, look.find(result, False))
    press(app, "A right one, please")
    assert node(app) == look.find(result, True, second)
    app.number_input(key="node_id").set_value(7).run()
    said = explain(result, look.inspect(result, 7))
    assert any(m.value == said for m in app.markdown)
    app.selectbox(key="step_to").select_index(0).run()
    assert node(app) == int(around.neighbours(result.graph, 7)[0])
    app.sidebar.slider(key="alpha").set_value(0.5).run()
    assert node(app) == int(around.neighbours(result.graph, 7)[0])  # it stays the same one


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [-1, 1797, 10**9])
def test_a_bad_id_is_one_sentence(wrong):
    app = opened("smooth")
    before = node(app)
    app.number_input(key="node_id").set_value(wrong).run()
    assert not app.exception
    assert f"There is no node {wrong} in digits; use 0 to 1796." in app.error[0].value
    assert node(app) == before


def test_another_dataset_brings_another_node():
    app = opened("smooth")
    app.number_input(key="node_id").set_value(1700).run()
    app.sidebar.selectbox(key="dataset").select("karate").run()
    assert not app.error
    assert node(app) == look.find(run(Settings(dataset="karate", clients=3)), right=False)


@pytest.mark.parametrize(
    ("curve", "words"),
    [("Accuracy over T", "T, smoothing steps"), ("Silhouette over α", "raw features")],
)
def test_the_other_curves(curve, words):
    app = opened("smooth")
    app.segmented_control(key="smooth_curve").set_value(curve).run()
    assert not app.exception
    figure = str(charts(app)["smooth_curve_chart"])
    assert "you are here" in figure
    assert words in figure


def test_a_large_graph_waits_to_be_asked():
    app = opened("smooth")
    app.session_state["nodes"] = 31_000
    app.session_state["dataset"] = "synthetic"
    app.run()
    assert not app.exception
    assert "you are here" not in str(charts(app))


def test_smooth_in_python(capsys):
    app = opened("smooth")
    app.sidebar.slider(key="alpha").set_value(0.5).run()
    capsys.readouterr()
    names_of(app.code[0].value)
    said = capsys.readouterr().out.strip()
    assert said
    assert any(m.value == said for m in app.markdown)


def test_silhouettes_are_of_the_graph_that_the_clients_made():
    """With edges changed inside clients and the test graph too, another split is another graph."""
    app, drawn = opened("smooth"), []
    noisy = {"edge_noise": 0.5, "noise_test": True, "smooth_curve": SILHOUETTE}
    for beta in (0.05, 1.0):
        for name, value in (noisy | {"beta": beta}).items():
            app.session_state[name] = value
        app.run()
        assert not app.exception
        drawn.append(charts(app)["smooth_curve_chart"]["data"][0]["y"])
        graph = run(Settings(edge_noise=0.5, noise_test=True, beta=beta)).graph
        want = [silhouette(graph, alpha, 2) for alpha in ALPHAS]
        assert drawn[-1] == pytest.approx(want, abs=1e-6)
    assert drawn[0] != pytest.approx(drawn[1], abs=1e-4)
