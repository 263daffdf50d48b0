"""Every page, run by Streamlit's own test runner."""

import pytest
from streamlit.testing.v1 import AppTest

from spear_core import Settings, run
from tests.browser import ROOT


@pytest.fixture
def app():
    test = AppTest.from_file(ROOT / "app.py", default_timeout=120).run()
    assert not test.exception
    return test


def accuracy(app):
    return next(m.value for m in app.metric if m.label == "Accuracy on test nodes")


def expected(**changes):
    return f"{100 * run(Settings(**changes)).metrics.accuracy:.2f} %"


def test_first_screen(app):
    assert accuracy(app) == expected()
    assert {"strip", "weights"} <= {chart.key for chart in app.get("plotly_chart")}


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


def test_karate_brings_three_clients(app):
    app.sidebar.selectbox(key="dataset").select("karate").run()
    assert app.sidebar.select_slider(key="clients").value == 3
    assert accuracy(app) == expected(dataset="karate", clients=3)


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
