"""Partitions: exact fixtures, the odd cases, and what a partition reports of itself."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Settings, SpearError, load, make_graph, run, split
from spear_core.partition import dirichlet, louvain
from tests.conftest import need

FIXTURES = {
    "Cora": (
        [351, 107, 24, 443, 347, 74, 403, 217, 323, 419],
        [7, 9, 3, 11, 20, 11, 16, 18, 23, 22],
        13,
    ),
    "CiteSeer": (
        [87, 831, 549, 705, 30, 571, 152, 59, 70, 273],
        [0, 27, 34, 20, 0, 20, 4, 3, 2, 10],
        13,
    ),
    "PubMed": (
        [2076, 114, 4849, 92, 3082, 2277, 5687, 1430, 26, 84],
        [12, 0, 11, 0, 8, 9, 14, 5, 0, 1],
        10,
    ),
}


@pytest.mark.parametrize("name", FIXTURES)
def test_published_partition(name):
    need(name)
    result = run(Settings(dataset=name, seed=42, clients=10, beta=0.05))
    sizes, trained, pairs = FIXTURES[name]
    assert result.partition.sizes.tolist() == sizes
    assert result.partition.train_counts.sum(1).tolist() == trained
    assert len(result.uploads.client) == pairs


@given(
    seed=st.integers(0, 1000),
    clients=st.integers(1, 12),
    beta=st.sampled_from([0.05, 0.5, 5.0]),
    classes=st.integers(1, 6),
)
def test_every_node_has_one_owner(seed, clients, beta, classes):
    y = np.random.default_rng(seed).integers(0, classes, 150)
    owner, redraws, under = dirichlet(y, clients, beta, seed)
    sizes = np.bincount(owner, minlength=clients)
    assert sizes.sum() == 150
    assert len(sizes) == clients
    assert under == (sizes.min() < 10)
    assert 0 <= redraws < 100
    assert (redraws == 99) >= under


def test_skew_grows_as_beta_falls():
    y = np.arange(2000) % 10

    def mean_share_of_the_largest_class(beta):
        owner, _, _ = dirichlet(y, 10, beta, 0)
        table = np.zeros((10, 10))
        np.add.at(table, (owner, y), 1)
        return (table.max(1) / table.sum(1)).mean()

    shares = [mean_share_of_the_largest_class(b) for b in (100, 1, 0.05)]
    assert shares[0] < 0.15 < shares[1] < shares[2]


def test_too_small_a_beta_is_refused():
    with pytest.raises(SpearError, match="use a larger beta"):
        split(load(Settings(dataset="karate")), Settings(dataset="karate", clients=3, beta=1e-9))


def test_more_clients_than_nodes_are_refused():
    with pytest.raises(SpearError, match="clients must be at most the number of nodes"):
        run(Settings(dataset="karate", clients=35))


def test_under_the_minimum_is_said():
    result = run(Settings(dataset="karate", clients=20))
    assert result.partition.under_minimum
    assert result.partition.redraws == 99
    assert result.partition.empty
    assert any("the last was kept" in note for note in result.notes)
    assert any("without any node" in note for note in result.notes)


def test_iid_deals_evenly_and_by_seed():
    graph = load(Settings(dataset="digits"))
    first, second = (
        split(graph, Settings(dataset="digits", partition="iid", clients=7, seed=s)) for s in (1, 2)
    )
    assert first.sizes.max() - first.sizes.min() <= 1
    assert not torch.equal(first.owner, second.owner)


def test_louvain_keeps_communities_whole():
    """Three cliques of 6, 4 and 3 joined in a chain, for two clients: 6 against 4 + 3."""
    blocks = [range(6), range(6, 10), range(10, 13)]
    edges = [(a, b) for block in blocks for a in block for b in block if a != b]
    edges += [(5, 6), (6, 5), (9, 10), (10, 9)]
    owner = louvain(np.array(edges).T, 13, 2, seed=0)
    assert owner.tolist() == [0] * 6 + [1] * 7


def test_louvain_is_deterministic_and_cuts_less_than_chance():
    graph = load(Settings(dataset="digits"))
    s = Settings(dataset="digits", partition="louvain")
    once, again = (louvain(graph.edge_index.numpy(), graph.num_nodes, 10, 42) for _ in range(2))
    assert np.array_equal(once, again)
    chance = split(graph, Settings(dataset="digits", partition="iid"))
    assert split(graph, s).cut_edges < chance.cut_edges / 3


def test_louvain_by_many_threads_at_once_is_louvain_by_one():
    """Each seed's communities, though igraph draws from one generator for all threads."""
    graph = load(Settings(dataset="digits"))
    edges, seeds = graph.edge_index.numpy(), [*range(6)] * 4
    alone = [louvain(edges, graph.num_nodes, 10, seed) for seed in range(6)]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns in the middle of a run
    try:
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda s: louvain(edges, graph.num_nodes, 10, s), seeds))
    finally:
        sys.setswitchinterval(usual)
    assert all(np.array_equal(one, alone[seed]) for one, seed in zip(found, seeds, strict=True))


def test_what_a_partition_reports():
    x, y = torch.eye(6), torch.tensor([0, 0, 1, 1, 2, 2])
    ring = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
    graph = make_graph(
        x, torch.cat([ring, ring.flip(0)], 1), y, torch.tensor([1, 0, 1, 1, 0, 0]) > 0
    )
    from spear_core import Partition

    partition = Partition(graph, torch.tensor([0, 0, 0, 1, 1, 1]), 3)
    assert partition.counts.tolist() == [[2, 1, 0], [0, 1, 2], [0, 0, 0]]
    assert partition.train_counts.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert partition.cut_edges == 4
    assert partition.empty == [2]
    assert partition.untrained == []
    assert partition.degree.tolist() == pytest.approx([4 / 3, 4 / 3, 0])
