"""A grid gives at every point exactly what a single run gives."""

import math
from dataclasses import replace

import pytest
import torch

from spear_core import Settings, SpearError, grid, run
from spear_core.grids import recombine
from tests.conftest import need, random_graph

ALPHAS, GAMMAS, STEPS = (0.0, 0.15, 0.8), (0.0, 0.5, math.inf), (0, 2, 5)


def assert_same_as_single_runs(settings, graph=None):
    whole = grid(settings, ALPHAS, GAMMAS, STEPS, graph)
    for i, a in enumerate(ALPHAS):
        for j, g in enumerate(GAMMAS):
            for k, t in enumerate(STEPS):
                one = run(replace(settings, alpha=a, gamma=g, steps=t), graph)
                assert torch.equal(whole.labels[i, j, k], one.prediction.labels), (a, g, t)
                assert whole.accuracy[i, j, k].item() == pytest.approx(one.metrics.accuracy)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [{}, {"count_weights": False}, {"reliability": "degree"}, {"peers": "semantic"}],
    ids=str,
)
def test_digits(changes):
    assert_same_as_single_runs(Settings(dataset="digits", **changes))


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_random_graphs_with_ties(directed):
    for seed in range(5):
        graph = random_graph(seed, directed)
        assert_same_as_single_runs(Settings(clients=4, beta=0.5), graph)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Cora", "CiteSeer", "Texas", "Actor"])
def test_real_graphs(name):
    need(name)
    assert_same_as_single_runs(Settings(dataset=name))


def test_narrow_features_are_propagated_themselves():
    """More columns of scores than features: the other branch of the basis."""
    s = Settings(dataset="synthetic", nodes=400, features=8, classes=6, clients=5)
    assert_same_as_single_runs(s)


@pytest.mark.slow
def test_a_large_dense_graph():
    """Several blocks of nodes, and classes enough for rounding to leave some in doubt."""
    s = Settings(dataset="synthetic", nodes=20_000, features=24, classes=30, degree=6)
    assert_same_as_single_runs(s)


@pytest.mark.parametrize("dense", [True, False])
def test_far_out_points_are_runs_and_memory_stays(monkeypatch, dense):
    """Pairs of powers grow with T²: a hundred steps took 670 MB on Cora, and 150 times as long."""
    wide = {"dataset": "synthetic", "nodes": 300, "features": 4 if dense else 900, "classes": 4}
    s = Settings(**wide, clients=3, beta=1.0)
    made, way = [], "by_features" if dense else "by_products"
    with monkeypatch.context() as told:
        told.setattr(recombine, way, lambda *given: made.append(given))
        grid(s, [0.3, 0.9], [0.5], range(4))
        assert len(made) == 1
        grid(s, [0.3, 0.9], [0.5], (2, 300))
        assert len(made) == 1 + dense
    far = grid(s, [0.9], [0.5], [2, 300])
    for k, steps in enumerate((2, 300)):
        one = run(replace(s, alpha=0.9, steps=steps))
        assert torch.equal(far.labels[0, 0, k], one.prediction.labels)
    monkeypatch.setattr(recombine, "HELD", 1000)
    monkeypatch.setattr(recombine, "by_features", None)
    monkeypatch.setattr(recombine, "by_products", None)
    assert_same_as_single_runs(s)


def test_a_grid_refuses_what_a_run_refuses():
    with pytest.raises(SpearError, match="alpha must be below 1"):
        grid(Settings(), [0.5, 1.0], [0.5], [2])


def test_a_grid_takes_what_settings_take():
    whole = grid(Settings(dataset="karate", clients=3), ["0.1"], ["inf"], [2.0])
    assert (whole.alphas, whole.gammas, whole.steps) == ((0.1,), (math.inf,), (2,))
    with pytest.raises(SpearError, match="at least one value of gamma"):
        grid(Settings(), [0.1], [], [2])
    graph = random_graph(1)
    graph = graph.replace(test=torch.zeros(40, dtype=torch.bool))
    with pytest.raises(SpearError, match="no test node"):
        grid(Settings(clients=4, beta=1), [0.1], [0.5], [2], graph)
