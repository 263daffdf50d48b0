"""Graphs that need no file: digits, karate, the synthetic one, and how labels are drawn."""

import numpy as np
import pytest
import torch

from spear_core import Settings, load, run
from spear_core import graph as graph_module
from spear_core.datasets import CATALOGUE, _base, _load, random_masks
from spear_core.memory.sizes import tensors_in


def test_sixteen_public_names_and_three_built_in():
    assert len([n for n in CATALOGUE if not CATALOGUE[n].builtin]) == 16
    assert [n for n in CATALOGUE if CATALOGUE[n].builtin] == ["digits", "karate", "synthetic"]


def test_digits():
    graph = load(Settings(dataset="digits"))
    assert (graph.num_nodes, graph.num_features, graph.classes) == (1797, 64, 10)
    assert [int(m.sum()) for m in (graph.train, graph.val, graph.test)] == [200, 500, 1000]
    assert torch.bincount(graph.y[graph.train]).tolist() == [20] * 10
    assert graph.adjacency.symmetric
    assert torch.bincount(graph.edge_index[0]).min() >= 10


def test_karate():
    graph = load(Settings(dataset="karate"))
    assert (graph.num_nodes, graph.num_edges) == (34, 156)
    assert torch.bincount(graph.y).tolist() == [17, 17]
    assert torch.bincount(graph.y[graph.train]).tolist() == [5, 5]
    assert int(graph.test.sum()) == 24


@pytest.mark.parametrize("homophily", [0.0, 0.3, 1.0])
def test_synthetic_has_the_asked_homophily_and_degree(homophily):
    s = Settings(dataset="synthetic", nodes=20000, degree=8, classes=5, homophily=homophily)
    result = run(s)
    assert result.metrics.homophily == pytest.approx(homophily, abs=0.01)
    assert result.graph.num_edges / 20000 == pytest.approx(8, rel=0.01)
    assert result.graph.adjacency.symmetric


def test_synthetic_features_carry_the_asked_strength():
    weak, strong = (
        run(Settings(dataset="synthetic", strength=s, alpha=0)).metrics.accuracy for s in (0.0, 1.0)
    )
    assert weak < 0.3
    assert strong > 0.95


def test_synthetic_without_edges():
    result = run(Settings(dataset="synthetic", nodes=50, degree=0, classes=2, clients=2))
    assert result.graph.num_edges == 0
    assert result.metrics.homophily is None


def test_random_split_is_20_40_40():
    train, val, test = random_masks(13752, 42)
    assert [int(m.sum()) for m in (train, val, test)] == [2750, 5501, 5501]
    assert not (train & val).any()
    assert (train | val | test).all()
    order = np.random.RandomState(42).permutation(13752)
    assert train[order[:2750]].all()


def test_few_labels_a_class():
    _load.clear()
    _base.clear()
    full, few = (load(Settings(dataset="digits", labels_per_class=n)) for n in (0, 2))
    assert torch.bincount(few.y[few.train]).tolist() == [2] * 10
    assert not bool((few.train & ~full.train).any())
    assert torch.equal(few.test, full.test)
    assert few.operator is full.operator
    other = load(Settings(dataset="digits", labels_per_class=2, seed=1))
    assert not torch.equal(few.train, other.train)


def test_a_dense_graph_is_loaded_without_a_copy_of_its_features_in_float64(monkeypatch):
    doubled = []
    monkeypatch.setattr(graph_module, "as_double", lambda x: doubled.append(x) or x.double())
    _load.clear()
    _base.clear()
    for seed in (1, 2):
        graph = load(Settings(dataset="synthetic", nodes=123, seed=seed))
        assert graph.features.layout == torch.strided
        assert all(t.dtype != torch.float64 for t in tensors_in(graph))
    assert doubled == []
