"""The private energy against brute force, and private clients that have nothing to send."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Settings, make_graph, run_on, split, upload
from spear_core.explicit import dense_features, smooth
from spear_core.partition import Partition
from spear_core.transforms.calibration import gaussian_mu
from spear_core.transforms.privacy import ENERGY_SHARE, energy_noise, privatise
from tests.conftest import random_graph

LAPLACE = Settings(head="ridge", mechanism="laplace", epsilon=1.0)


def energies(partition: Partition, s: Settings) -> torch.Tensor:
    """Every client's Σ‖z‖² over its training rows, (K)."""
    graph, owner = partition.graph, partition.owner
    inside = graph.edge_index[:, owner[graph.edge_index[0]] == owner[graph.edge_index[1]]]
    square = smooth(dense_features(graph), inside, s.alpha, s.steps).square().sum(1)
    nodes = graph.train_nodes
    out = torch.zeros(partition.clients, dtype=square.dtype)
    return out.index_add_(0, owner[nodes], square[nodes])


def assumed(partition: Partition, s: Settings) -> torch.Tensor:
    """How far the noise takes one node to move the energies: b ε share is what b is made for."""
    return energy_noise(partition, replace(s, mechanism="laplace")) * s.epsilon * ENERGY_SHARE


@given(
    st.integers(0, 10_000),
    st.booleans(),
    st.integers(0, 39),
    st.sampled_from(["negated", "random", "zero"]),
    st.floats(0, 0.95),
    st.integers(0, 4),
)
def test_a_changed_node_moves_the_energy_by_at_most_what_the_noise_is_for(
    seed, directed, node, change, alpha, steps
):
    graph = random_graph(seed, directed)
    s = replace(LAPLACE, alpha=alpha, steps=steps)
    owner = torch.as_tensor(np.random.RandomState(seed).randint(0, 3, graph.num_nodes))
    x = graph.x.to_dense().clone()
    rng = torch.Generator().manual_seed(seed + 1)
    x[node] = {
        "negated": -x[node],
        "random": torch.randn(6, generator=rng),
        "zero": torch.zeros(6),
    }[change]
    before, after = Partition(graph, owner, 3), Partition(graph.replace(x=x), owner, 3)
    moved = (energies(after, s) - energies(before, s)).abs()
    assert (moved <= assumed(before, s) + 1e-5).all()


def crowd(leaves: int) -> tuple[Partition, Partition]:
    """A hub without a label among leaves that look alike, before and after its x is turned."""
    ends = torch.arange(1, leaves + 1)
    spokes = torch.stack([torch.zeros_like(ends), ends])
    edges = torch.cat([spokes, spokes.flip(0)], 1)
    train = torch.ones(leaves + 1, dtype=torch.bool)
    train[0] = False
    x = torch.tensor([[1.0, 0]]).repeat(leaves + 1, 1)
    graph = make_graph(x, edges, torch.zeros(leaves + 1, dtype=torch.int64), train)
    turned, owner = x.clone(), torch.zeros(leaves + 1, dtype=torch.int64)
    turned[0] = -x[0]
    return Partition(graph, owner, 1), Partition(graph.replace(x=turned), owner, 1)


def test_the_bound_of_the_energy_is_nearly_reached():
    """A leaf's row is (1 - α/2, 0) + α/2 of the hub: 1 before, (1 - α)² after, so that each moves
    by 4 α/2 (1 - α/2): nearly four times the hub's influence on it, and three times is not enough.
    """
    before, after = crowd(leaves=12)
    s = replace(LAPLACE, alpha=0.2, steps=1)
    moved = float((energies(before, s) - energies(after, s)).abs())
    bound = float(assumed(before, s))
    assert bound == pytest.approx(4 * 12 * 0.1)
    assert moved == pytest.approx(12 * (1 - 0.8**2))
    assert 0.89 * bound < moved <= bound


def test_no_energy_moves_by_more_than_the_count():
    before, _ = crowd(leaves=12)
    assert float(assumed(before, replace(LAPLACE, alpha=0.6, steps=1))) == 12  # not 4 · 12 · 0.3
    gaussian = replace(LAPLACE, mechanism="gaussian", alpha=0.2, steps=1)
    mu = gaussian_mu(1.0, gaussian.delta) * math.sqrt(ENERGY_SHARE)
    assert float(energy_noise(before, gaussian)) == pytest.approx(4 * 12 * 0.1 / mu)


@pytest.mark.parametrize("head", ["cosine", "ridge"])
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_client_without_a_labelled_node_sends_nothing(five, head, epsilon, mechanism):
    bare = five.replace(train=torch.zeros(5, dtype=torch.bool))
    s = Settings(clients=1, epsilon=epsilon, mechanism=mechanism, head=head)
    for secret in (None, 7):
        sent = privatise(upload(split(bare, s), s), s, secret)
        assert len(sent.client) == len(sent.counts) == len(sent.prototypes) == 0


def test_one_such_client_among_others_changes_nothing(five):
    """All of client 1's nodes are unlabelled: client 0 sends its two classes, noise on both."""
    graph = five.replace(train=torch.tensor([True, True, True, False, False]))
    partition = Partition(graph, torch.tensor([0, 0, 0, 1, 1]), 2)
    sent = run_on(partition, Settings(clients=2, epsilon=1.0)).sent
    assert sent.client.tolist() == [0, 0]
