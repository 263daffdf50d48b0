"""The method on graphs one can do on paper, and the fast way against the plain one."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Partition, Settings, Uploads, estimate, make_graph, run, run_on, upload
from spear_core.explicit import run_explicit, smooth
from spear_core.propagate import adjacency, mixing, propagate, select_rows, transition
from tests.conftest import random_graph

HAND = Settings(alpha=0.5, steps=1, gamma=0.5, clients=2, reliability="count")


def on(graph, owner, clients=None, **changes):
    """A run on a given owner vector."""
    clients = clients or max(owner) + 1
    partition = Partition(graph, torch.tensor(owner), clients)
    return run_on(partition, replace(HAND, clients=clients, **changes))


# propagation ---------------------------------------------------------------------------------


def test_operator_averages_over_a_node_and_its_neighbours(five):
    dense = five.operator.to_dense()
    assert dense[0].tolist() == [0.5, 0.5, 0, 0, 0]
    assert dense[1].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0])
    assert torch.allclose(dense.sum(1), torch.ones(5))


def test_a_self_loop_weighs_two():
    entries = adjacency(torch.tensor([[0, 0, 1], [0, 1, 0]]), 2)
    assert torch.allclose(
        transition(entries).to_dense(), torch.tensor([[2 / 3, 1 / 3], [0.5, 0.5]])
    )


def test_repeated_edges_count_once():
    edges = torch.tensor([[0, 0, 1], [1, 1, 0]])
    graph = make_graph(torch.eye(2), edges, torch.tensor([0, 1]), torch.tensor([True, True]))
    assert graph.num_edges == 2
    assert "1 repeated edge counted once." in graph.notes


def test_directed_edges_stay_directed():
    entries = adjacency(torch.tensor([[0, 1], [1, 2]]), 3)
    assert not entries.symmetric
    dense = transition(entries).to_dense()
    assert dense[0].tolist() == [0.5, 0.5, 0]
    assert dense[2].tolist() == [0, 0, 1]
    turned = transition(entries.reverse(), of=entries).to_dense()
    assert torch.equal(turned, dense.t())


def test_one_step_by_hand(five):
    z = propagate(five.operator, five.features.to_dense(), 0.5, 1)
    # node 2 averages itself, 1 (both right) and 3 (up): half own, half (2/3, 1/3)
    assert torch.allclose(z[2], torch.tensor([0.5 + 1 / 3, 1 / 6]))


def test_blocks_of_columns_change_nothing(monkeypatch):
    import sys

    graph = random_graph(1)
    x = torch.rand(graph.num_nodes, 13)
    rows = (graph.test_nodes[3:20], select_rows(graph.operator, graph.test_nodes[3:20]))
    whole = propagate(graph.operator, x, 0.3, 3)
    monkeypatch.setattr(sys.modules["spear_core.propagate"], "CACHE_BYTES", 1)
    assert torch.allclose(propagate(graph.operator, x, 0.3, 3), whole, atol=1e-6)
    some = propagate(graph.operator, x, 0.3, 3, rows)
    assert torch.allclose(some, whole[rows[0]], atol=1e-6)


@given(alpha=st.floats(0, 0.99), steps=st.integers(0, 12))
def test_mixing_weights_sum_to_one(alpha, steps):
    assert sum(mixing(alpha, steps)) == pytest.approx(1)


@given(seed=st.integers(0, 50), alpha=st.floats(0, 0.95), steps=st.integers(0, 4))
def test_smoothing_keeps_within_the_hull(seed, alpha, steps):
    graph = random_graph(seed)
    x = torch.rand(graph.num_nodes, 3)
    z = smooth(x, graph.edge_index, alpha, steps)
    assert (z >= x.min(0).values - 1e-5).all()
    assert (z <= x.max(0).values + 1e-5).all()


# client and server ---------------------------------------------------------------------------


def test_uploads_by_hand(five):
    result = on(five, [0, 0, 0, 1, 1])
    up = result.uploads
    assert up.client.tolist() == [0, 1]
    assert up.label.tolist() == [0, 1]
    assert up.counts.tolist() == [2, 2]
    # the cut edge 2-3 is gone, so client 0 sees only vectors to the right, client 1 only up
    assert torch.allclose(up.prototypes, torch.tensor([[1.0, 0], [0, 1]]))
    assert result.partition.cut_edges == 2
    assert result.metrics.accuracy == 1


def test_lambda_by_hand(five):
    owner = [0, 1, 0, 0, 1]  # class 0: one node on each client, class 1 likewise
    result = on(five, owner, gamma=0.5)
    assert torch.allclose(result.estimate.weights, torch.full((2, 2), 2 / 3))


def test_lone_client_is_not_shrunk(five):
    result = on(five, [0, 0, 0, 1, 1], gamma=0)
    assert torch.equal(result.estimate.peers, result.uploads.prototypes)
    assert torch.equal(result.estimate.shrunk, result.uploads.prototypes)
    assert torch.allclose(result.estimate.prototypes, result.uploads.prototypes)


def test_gamma_zero_is_the_peer_mean():
    result = on(random_graph(2), [i % 4 for i in range(40)], gamma=0)
    assert torch.allclose(result.estimate.shrunk, result.estimate.peers)


def test_gamma_infinite_is_no_shrinkage():
    graph, owner = random_graph(3), [i % 4 for i in range(40)]
    off, infinite = on(graph, owner, shrinkage=False), on(graph, owner, gamma=math.inf)
    assert torch.equal(off.estimate.prototypes, infinite.estimate.prototypes)
    assert infinite.estimate.weights.abs().max() == 0
    assert torch.equal(infinite.estimate.shrunk, infinite.uploads.prototypes)


def test_count_weights_without_shrinkage_pool_the_nodes():
    """λ = 0 and count weights give the plain mean over all training nodes, whatever the split."""
    graph = random_graph(4)
    one = on(graph, [0] * 40, 1, alpha=0, shrinkage=False)
    many = on(graph, [i % 5 for i in range(40)], alpha=0, shrinkage=False)
    assert torch.allclose(one.estimate.prototypes, many.estimate.prototypes, atol=1e-6)


def test_alpha_zero_ignores_the_graph(five):
    alone = make_graph(five.x, five.edge_index[:, :0], five.y, five.train, test=five.test)
    a, b = on(five, [0, 1, 0, 1, 0], alpha=0), on(alone, [0, 1, 0, 1, 0], alpha=0)
    assert torch.equal(a.estimate.prototypes, b.estimate.prototypes)
    assert torch.equal(a.prediction.scores, b.prediction.scores)


def test_no_steps_equals_alpha_zero():
    graph, owner = random_graph(5), [i % 3 for i in range(40)]
    a, b = on(graph, owner, steps=0, alpha=0.9), on(graph, owner, alpha=0)
    assert torch.equal(a.prediction.scores, b.prediction.scores)


def test_a_class_nobody_holds_is_never_predicted():
    graph = random_graph(6)
    graph = graph.replace(train=graph.train & (graph.y != 2))
    result = on(graph, [i % 3 for i in range(40)])
    assert not result.estimate.seen[2]
    assert (result.prediction.scores[:, 2] == -math.inf).all()
    assert not (result.prediction.labels == 2).any()
    assert not torch.isnan(result.prediction.scores).any()
    assert "No training node, so never predicted: class 2." in result.notes


def test_clients_do_not_see_each_other():
    """Changing the features that one client holds leaves the uploads of the others as they were."""
    graph, owner = random_graph(7), [i % 3 for i in range(40)]
    x = graph.x.to_dense() if graph.x.layout == torch.sparse_csr else graph.x.clone()
    x[torch.tensor(owner) == 2] += 1
    changed = graph.replace(x=x)
    before, after = on(graph, owner).uploads, on(changed, owner).uploads
    kept = before.client != 2
    assert torch.equal(before.prototypes[kept], after.prototypes[kept])
    assert not torch.allclose(before.prototypes[~kept], after.prototypes[~kept])


def test_explicit_uploads_give_the_same_estimate():
    """The server does not care whether prototypes were deferred or really sent."""
    graph, owner = random_graph(8), torch.tensor([i % 4 for i in range(40)])
    deferred = upload(Partition(graph, owner, 4), HAND)
    sent = Uploads(deferred.client, deferred.label, deferred.counts, deferred.prototypes, 4, 4)
    for peers in ("mean", "semantic"):
        s = replace(HAND, peers=peers)
        a, b = estimate(deferred, s), estimate(sent, s)
        assert torch.allclose(a.prototypes, b.prototypes, atol=1e-6)
        assert torch.allclose(a.shrunk, b.shrunk, atol=1e-6)


def test_uploads_can_be_changed_before_they_are_sent():
    graph, owner = random_graph(8), torch.tensor([i % 4 for i in range(40)])
    deferred = upload(Partition(graph, owner, 4), HAND)
    louder = deferred.replace(counts=100 * deferred.counts)
    assert torch.equal(louder.prototypes, deferred.prototypes)
    assert estimate(louder, HAND).weights.max() < estimate(deferred, HAND).weights.max()


def test_semantic_peers_by_hand():
    """Three holders: the one similar peer is chosen, the odd one out is left aside."""
    rows = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    up = Uploads(torch.arange(3), torch.zeros(3, dtype=torch.int64), torch.ones(3), rows, 3, 1)
    result = estimate(up, Settings(peers="semantic", gamma=0))
    assert torch.equal(result.peers[0], rows[1])
    assert torch.equal(result.peers[1], rows[0])
    assert torch.equal(result.peers[2], rows[1])
    assert torch.allclose(
        result.prototypes[0], torch.nn.functional.normalize(result.shrunk.sum(0), dim=0)
    )


def test_degree_reliability_by_hand(five):
    result = on(five, [0, 1, 0, 0, 1], reliability="degree")
    # client 0 holds 0, 2, 3 with the edge 2-3: mean degree 2/3; client 1 holds 1, 4: none
    assert result.uploads.degree.tolist() == pytest.approx([2 / 3, 0])
    trust = 1 + math.log1p(2 / 3)
    assert result.estimate.weights[0, 0].item() == pytest.approx(1 / (1 + 0.5 * trust))
    assert result.estimate.weights[1, 0].item() == pytest.approx(1 / 1.5)


# two ways, one truth -------------------------------------------------------------------------


@given(
    seed=st.integers(0, 200),
    directed=st.booleans(),
    clients=st.integers(1, 12),
    alpha=st.sampled_from([0.0, 0.15, 0.5, 0.9]),
    steps=st.integers(0, 4),
    gamma=st.sampled_from([0.0, 0.1, 0.5, 5.0, math.inf]),
    shrinkage=st.booleans(),
    count_weights=st.booleans(),
)
def test_equal_to_a_loop_over_clients(
    seed, directed, clients, alpha, steps, gamma, shrinkage, count_weights
):
    graph = random_graph(seed, directed)
    # only every other client number is used, so that some clients are empty
    owner = 2 * torch.randint(0, clients, (40,), generator=torch.Generator().manual_seed(seed))
    partition = Partition(graph, owner, 2 * clients)
    s = Settings(
        clients=2 * clients,
        alpha=alpha,
        steps=steps,
        gamma=gamma,
        shrinkage=shrinkage,
        count_weights=count_weights,
    )
    fast, plain = run_on(partition, s), run_explicit(partition, s)
    assert torch.equal(fast.uploads.client, plain.client)
    assert torch.equal(fast.uploads.label, plain.label)
    assert torch.equal(fast.uploads.counts, plain.counts)
    for ours, theirs in (
        (fast.uploads.prototypes, plain.local),
        (fast.estimate.peers, plain.peers),
        (fast.estimate.shrunk, plain.shrunk),
        (fast.estimate.prototypes, plain.prototypes),
        (fast.z, plain.z),
    ):
        assert torch.allclose(ours.double(), theirs, atol=2e-6)
    every = fast.every_prediction.labels
    assert torch.equal(every[fast.prediction.nodes], fast.prediction.labels)
    best = plain.scores.topk(2, dim=1).values
    clear = best[:, 0] - best[:, 1] > 1e-6
    assert torch.equal(every[clear], plain.labels[clear])


def test_same_settings_same_result():
    s = Settings(dataset="digits", seed=7)
    a, b = run(s), run(s)
    assert torch.equal(a.prediction.scores, b.prediction.scores)
    assert a.metrics.accuracy == b.metrics.accuracy
    other = run(replace(s, seed=8))
    assert not torch.equal(a.partition.owner, other.partition.owner)


def test_changing_masks_keeps_what_is_still_true(five):
    five.warm()
    other = five.replace(train=torch.tensor([True, False, False, False, True]))
    assert other.operator is five.operator
    assert other.train_nodes.tolist() == [0, 4]
    moved = five.replace(x=torch.eye(5))
    assert torch.equal(moved.features.to_dense(), torch.eye(5))
