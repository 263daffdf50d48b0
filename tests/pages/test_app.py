"""Every page, run by Streamlit's own test runner."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.controls import SCENARIOS
from pages.shared.pages import PAGES
from pages.shared.view_notebook import mirror
from spear_core import Settings, defaults, run
from tests.apptest import charts, live
from tests.browser import ROOT


@pytest.fixture
def app():
    test = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    assert not test.exception
    return test


def accuracy(app):
    return next(m.value for m in app.metric if m.label == "Accuracy on test nodes")


def expected(**changes):
    return f"{100 * run(Settings(**changes)).metrics.accuracy:.1f} %"


def test_first_screen(app):
    assert accuracy(app) == expected()
    assert {"strip", "weights"} <= set(charts(app))


def test_every_control_reaches_the_engine(app):
    app.sidebar.select_slider(key="beta").set_value(1.0).run()
    assert accuracy(app) == expected(beta=1.0)
    app.sidebar.select_slider(key="clients").set_value(30).run()
    app.sidebar.number_input(key="seed").set_value(7).run()
    app.sidebar.slider(key="alpha").set_value(0.8).run()
    app.sidebar.slider(key="steps").set_value(5).run()
    app.sidebar.select_slider(key="gamma").set_value(0.0).run()
    assert not app.exception
    assert accuracy(app) == expected(beta=1.0, clients=30, seed=7, alpha=0.8, steps=5, gamma=0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("selectbox", "partition", "iid"),
        ("selectbox", "peers", "semantic"),
        ("selectbox", "reliability", "degree"),
        ("toggle", "shrinkage", False),
        ("toggle", "count_weights", False),
        ("number_input", "labels_per_class", 1),
    ],
)
def test_every_variant_reaches_the_engine(app, kind, name, value):
    getattr(app.sidebar, kind)(key=name).set_value(value).run()
    assert not app.exception
    assert accuracy(app) == expected(**{name: value})


def test_the_shape_of_the_synthetic_graph_reaches_the_engine(app):
    shape = {"nodes": 200, "classes": 3, "features": 20, "degree": 4.0, "homophily": 0.3}
    app.sidebar.selectbox(key="dataset").select("synthetic").run()
    for name, value in shape.items():
        kind = app.sidebar.slider if isinstance(value, float) else app.sidebar.number_input
        kind(key=name).set_value(value).run()
    app.sidebar.slider(key="strength").set_value(1.5).run()
    assert not app.exception
    assert accuracy(app) == expected(dataset="synthetic", strength=1.5, **shape)


def test_a_published_split_that_is_not_there_is_one_sentence(app):
    app.sidebar.number_input(key="split").set_value(3).run()
    assert not app.exception
    assert "use split 0" in app.error[0].value


@pytest.mark.slow
def test_every_scenario_sets_its_controls_and_paper_defaults_resets_them(app):
    for name, (changes, words) in SCENARIOS.items():
        app.sidebar.selectbox(key="scenario").set_value(name).run()
        assert not app.exception
        assert not app.error
        assert any(caption.value == words for caption in app.sidebar.caption)
        assert all(app.session_state[key] == value for key, value in changes.items())
    app.sidebar.selectbox(key="dataset").select("karate").run()
    next(b for b in app.sidebar.button if b.label == "Paper defaults").click().run()
    assert all(
        app.session_state[k] == v
        for k, v in vars(defaults("karate")).items()
        if k in app.session_state
    )


@pytest.mark.slow
@pytest.mark.parametrize("view", ["Silhouette", "Confusion", "Prototypes", "Time and bytes"])
def test_every_view_of_every_small_graph(app, view):
    drawn = {"Silhouette": "silhouettes", "Confusion": "confusion", "Prototypes": "pictures"}
    app.segmented_control(key="view").set_value(view).run()
    assert drawn.get(view, "traffic") in set(charts(app))
    shown = "Silhouette" if view == "Prototypes" else view  # pictures are there for digits alone
    for dataset in ("karate", "synthetic"):  # the latter has the most controls beside the charts
        app.sidebar.selectbox(key="dataset").select(dataset).run()
        assert not app.exception
        assert app.session_state["view"] == shown
        assert drawn.get(shown, "traffic") in set(charts(app))


@pytest.mark.parametrize(("name", "value"), [("show", "global"), ("colour", "right or wrong")])
def test_the_switches_of_the_map(app, name, value):
    before = live(app)["map"]
    app.segmented_control(key=name).set_value(value).run()
    assert not app.exception
    assert live(app)["map"] != before


def drawn(app):
    """The names of all controls on the page."""
    kinds = ("selectbox", "number_input", "slider", "select_slider", "toggle", "button_group")
    return {control.key for kind in kinds for control in app.get(kind)}


SIDEBAR = (
    *("scenario", "dataset", "nodes", "classes", "features", "degree", "homophily", "strength"),
    *("seed", "beta", "clients", "alpha", "steps", "gamma", "partition", "peers", "reliability"),
    *("shrinkage", "count_weights", "labels_per_class", "split", "estimator", "smoothing"),
    *("head", "sketch", "sketch_cap", "gate", "gate_alpha", "gate_steps", "ridge"),
)
CONTROLS = {  # page -> its own controls, with the view that has them all
    "explore": ({}, ("view", "show", "colour")),
    "split": ({}, ("split_count",)),
    "smooth": ({}, ("smooth_curve",)),
    "shrink": ({"shrink": "Proposition 1"}, ("shrink", "centroid", "sigma2", "tau2", "samples")),
    "noise": ({}, ("edge_noise", "feature_noise", "noise_test", "noise_when", "noise_view")),
    "attack": ({}, ("attackers", "attacker_count", "flip", "inflate", "forge", "defence")),
    "privacy": ({}, ("epsilon", "delta", "mechanism")),
    "sensitivity": ({"sens": "Two knobs"}, ("sens", "sens_x", "sens_y")),
    "paper": ({}, ("paper", "paper_table")),
}


@pytest.mark.slow
@pytest.mark.parametrize("page", CONTROLS)
def test_a_link_hides_any_control(page):
    """A teacher leaves on the screen what the lesson is about."""
    query, own = CONTROLS[page]
    names = {*SIDEBAR, *own}
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    hide = {"hide": ",".join(sorted(names))}
    for name, value in ({"dataset": "synthetic", "nodes": "200"} | query | hide).items():
        app.query_params[name] = value
    app.run()
    if page != "explore":
        app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    assert not app.warning
    assert not names & drawn(app)
    assert app.session_state["nodes"] == 200
    words = {block.proto.popover.label for block in app.get("popover")}
    assert not words & {"Variants", "Shape of the synthetic graph"}  # nothing is left in them
    for name in ("", *(sorted(names) if page == "explore" else own)):
        app.session_state["hide"] = name
        app.run()
        assert not app.exception
        assert names - drawn(app) == ({name} if name else set())


def test_hiding_what_is_not_there_is_said():
    test = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    test.query_params["hide"] = "beta,colours"
    test.run()
    assert "beta" not in drawn(test)
    assert "hide=colours in the link was left out" in test.warning[0].value


def test_karate_brings_three_clients(app):
    app.sidebar.selectbox(key="dataset").select("karate").run()
    assert app.sidebar.select_slider(key="clients").value == 3
    assert accuracy(app) == expected(dataset="karate", clients=3)


def test_what_was_left_out_is_said_until_something_is_moved():
    """A map that is swapped in draws the page again: the sentence must survive that."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    app.query_params["beta"] = "-3"
    app.run()
    app.run()
    assert "beta=-3 in the link was left out" in app.warning[0].value
    app.sidebar.select_slider(key="gamma").set_value(1.0).run()
    assert not app.warning


def test_what_cannot_be_run_is_one_sentence(app):
    app.sidebar.selectbox(key="dataset").select("karate").run()
    app.sidebar.select_slider(key="clients").set_value(50).run()
    assert not app.exception
    assert "clients must be at most the number of nodes" in app.error[0].value
    app.sidebar.select_slider(key="clients").set_value(4).run()
    assert not app.error
    assert accuracy(app) == expected(dataset="karate", clients=4)


def test_a_dataset_that_cannot_be_had_is_one_sentence(app, monkeypatch, tmp_path):
    from spear_core.datasets import fetch

    def nothing(*_):
        raise fetch.DataMissing("no connection")

    monkeypatch.setenv("SPEAR_DATA", str(tmp_path))
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "_supervise", nothing)
    app.sidebar.selectbox(key="dataset").select("Squirrel").run()
    assert not app.exception
    assert "Squirrel is not on disk and cannot be downloaded" in app.error[0].value


@pytest.mark.slow
@pytest.mark.parametrize("page", [page.name for page in PAGES if page.name != "learn"])
def test_every_page_hands_out_its_own_notebook(page):
    test = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    test.query_params["dataset"], test.query_params["clients"] = "karate", "3"
    test.run()
    if page != "explore":
        test.switch_page(f"pages/{page}.py").run()
    assert not test.exception
    labels = [button.proto.label for button in test.get("download_button")]
    assert f"The notebook of this page ({mirror(page).name})" in labels
