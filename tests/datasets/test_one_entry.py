"""A dataset is added by one entry: a toy that PyG reads, and a toy of one's own with pictures."""

import pytest
from streamlit.testing.v1 import AppTest

from spear_core import Settings, cli, figures, load, run
from spear_core.datasets import CATALOGUE, Entry, _base, _load
from spear_core.settings import defaults
from tests import rawfiles
from tests.apptest import charts, put, sound
from tests.browser import ROOT

MAKER = '''"""Twenty pictures of 2 x 3 pixels in a ring, bright at the left or at the right."""

import numpy as np


def toy():
    y = np.arange(20) % 2
    x = np.tile(np.where(y == 0, 1.0, 0.1)[:, None], (1, 6)).astype(np.float32)
    x[:, [2, 5]] = np.where(y == 0, 0.1, 1.0)[:, None]
    ring = np.stack([np.arange(20), (np.arange(20) + 2) % 20])
    train = np.arange(20) < 8
    edges = np.concatenate([ring, ring[::-1]], axis=1)
    return {"x": x, "edge_index": edges, "y": y, "train": train, "val": ~train, "test": ~train}
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """One file and one entry."""
    (tmp_path / "toy_maker.py").write_text(MAKER)
    monkeypatch.syspath_prepend(tmp_path)
    entry = Entry(
        "toy",
        "bright at the left or at the right",
        maker="toy_maker:toy",
        nodes=20,
        class_names=("left", "right"),
        picture=(2, 3),
        clients=2,
    )
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    yield entry
    _load.clear()
    _base.clear()


def test_a_toy_of_ones_own_runs(toy):
    settings = Settings(dataset="Toy", clients=2, beta=5)
    assert settings.dataset == "toy"
    assert defaults("toy").clients == 2
    assert load(settings).class_names == ("left", "right")
    assert run(settings).metrics.accuracy == 1.0


def test_a_toy_has_its_pictures(toy):
    figure = figures.pictures(run(Settings(dataset="toy", clients=2, beta=5)), label=1)
    assert {trace.z.shape for trace in figure.data} == {(2, 3)}
    assert all((trace.z[:, 2] > trace.z[:, 0]).all() for trace in figure.data)


def test_a_toy_is_on_the_list(toy, capsys):
    cli.main(["data"])
    assert "toy               bright at the left or at the right" in capsys.readouterr().out


def test_a_toy_is_in_the_app(toy):
    app = sound(AppTest.from_file(ROOT / "app.py", default_timeout=600).run())
    assert "toy" in app.sidebar.selectbox(key="dataset").options
    app = put(app, dataset="toy", clients=2, beta=5.0, view="Prototypes", digit="7")
    assert app.session_state["digit"] == "0"  # it has two classes, not ten
    assert "pictures" in charts(app)
    offered = [option.content for one in app.get("button_group") for option in one.proto.options]
    assert {"left", "right"} < set(offered)


def test_a_toy_that_pyg_reads(data, monkeypatch):
    rawfiles.roman_empire(data, name="minesweeper")
    entry = Entry(
        "Minesweeper",
        "a board of the game",
        reader="HeterophilousGraphDataset",
        arguments=("Minesweeper",),
        folder="HeterophilousGraphDataset/minesweeper/raw",
        files=("minesweeper.npz",),
        class_names=("clear", "mine", "flag", "border"),
    )
    monkeypatch.setitem(CATALOGUE, entry.name, entry)
    graph = load(Settings(dataset="minesweeper", split=9))
    assert (graph.num_nodes, graph.classes) == (30, 4)
    assert graph.class_names[1] == "mine"
    assert run(Settings(dataset="Minesweeper", clients=3)).metrics.accuracy is not None
