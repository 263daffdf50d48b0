"""Noise: exact counts, the right places, nothing else touched, and nothing at all at rate 0."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Partition, Settings, make_graph, run, split
from spear_core.grids import grid
from spear_core.run import run_on
from spear_core.transforms.perturb import perturb, perturb_test
from tests.conftest import need, random_graph

RATES = (0.1, 0.3, 0.5, 0.8, 1.0)


def cut_in(graph, clients, seed=0):
    owner = torch.randint(0, clients, (graph.num_nodes,), generator=torch.manual_seed(seed))
    return Partition(graph, owner, clients)


def pairs(graph):
    """Edges as a set of (source, target), without self-loops."""
    return {(i, j) for i, j in graph.edge_index.t().tolist() if i != j}


def dense(graph):
    return graph.x.to_dense() if graph.x.layout == torch.sparse_csr else graph.x


def loops(graph):
    return sorted(i for i, j in graph.edge_index.t().tolist() if i == j)


def two_cliques_and_a_bridge():
    """Nodes 0-3 all joined, 4-7 on a path, 3-4 between the two; clients 0 and 1."""
    edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (4, 5), (5, 6), (6, 7), (3, 4)]
    both = torch.tensor(edges + [(j, i) for i, j in edges]).t()
    everyone = torch.ones(8, dtype=torch.bool)
    graph = make_graph(torch.eye(8), both, torch.tensor([0, 1] * 4), everyone, test=everyone)
    return Partition(graph, torch.tensor([0] * 4 + [1] * 4), 2)


@pytest.mark.parametrize("changes", [{}, {"noise_test": True, "draw": 7, "noise_when": "before"}])
def test_no_noise_is_the_very_same_object(five, changes):
    partition, settings = cut_in(five, 2), Settings(**changes)
    assert perturb(partition, settings) is partition
    assert perturb_test(partition, settings) is partition


def test_by_hand_a_clique_has_no_room_and_a_path_has():
    partition = two_cliques_and_a_bridge()
    noisy = perturb(partition, Settings(edge_noise=1.0)).graph
    before, after = pairs(partition.graph), pairs(noisy)
    clique = {(i, j) for i, j in after if i < 4 and j < 4}
    assert len(clique) == 6  # 3 of its 6 pairs deleted, both ways; every pair was joined
    assert clique < before
    path = {(i, j) for i, j in after if i >= 4 and j >= 4}
    assert len(path - before) == 4  # round(1.5) = 2 of 3 pairs deleted and 2 added, both ways
    assert len(path & before) == 2
    assert (3, 4) in after  # the edge between clients stays
    assert (4, 3) in after


@given(st.integers(0, 500), st.booleans(), st.sampled_from(RATES), st.integers(1, 6))
def test_edges_inside_every_client_are_changed_exactly_as_said(seed, directed, rate, clients):
    graph = random_graph(seed, directed)
    partition = cut_in(graph, clients, seed)
    noisy = perturb(partition, Settings(edge_noise=rate, seed=seed))
    assert noisy.owner is partition.owner
    before, after = pairs(graph), pairs(noisy.graph)
    each = 1 if directed else 2
    owner = partition.owner.tolist()
    for k in range(clients):
        old = {e for e in before if owner[e[0]] == owner[e[1]] == k}
        new = {e for e in after if owner[e[0]] == owner[e[1]] == k}
        amount = np.rint(rate / 2 * len(old) / each) * each
        size = owner.count(k)
        assert len(old - new) == amount
        assert len(new - old) == min(amount, size * (size - 1) - len(old))
    crossing = {e for e in after if owner[e[0]] != owner[e[1]]}
    assert crossing == {e for e in before if owner[e[0]] != owner[e[1]]}
    assert loops(noisy.graph) == loops(graph)
    key = noisy.graph.edge_index[0] * graph.num_nodes + noisy.graph.edge_index[1]
    assert bool((key[1:] > key[:-1]).all())  # sorted, each once
    assert noisy.graph.adjacency.symmetric or directed


@given(st.integers(0, 500), st.booleans(), st.sampled_from(RATES))
def test_before_the_split_edges_change_anywhere(seed, directed, rate):
    graph = random_graph(seed, directed)
    partition = cut_in(graph, 3, seed)
    settings = Settings(edge_noise=rate, noise_when="before", seed=seed)
    before, after = pairs(graph), pairs(perturb(partition, settings).graph)
    each = 1 if directed else 2
    amount = np.rint(rate / 2 * len(before) / each) * each
    assert len(before - after) == len(after - before) == amount
    whole = replace(settings, clients=1)
    assert after == pairs(perturb(cut_in(graph, 9, seed), whole).graph)  # whoever owns what


@given(st.integers(0, 500), st.sampled_from(["after", "before"]))
def test_a_larger_rate_holds_all_that_a_smaller_one_changes(seed, when):
    partition = cut_in(random_graph(seed), 3, seed)
    changes = [set(), set(), set(), set()]
    for rate in RATES:
        settings = Settings(
            edge_noise=rate, feature_noise=rate, label_noise=rate, noise_when=when, seed=seed
        )
        old, new = partition.graph, perturb(partition, settings).graph
        zeroed = ((dense(old) != 0) & (dense(new) == 0)).nonzero().tolist()
        mislabelled = (old.y != new.y).nonzero().squeeze(1).tolist()
        now = [pairs(old) - pairs(new), pairs(new) - pairs(old), set(map(tuple, zeroed))]
        now.append(set(mislabelled))
        assert all(less <= more for less, more in zip(changes, now, strict=True))
        changes = now


def test_added_pairs_are_all_as_likely():
    """Six nodes and two edges: ρ = 1 adds one of the 13 free pairs, here 650 times."""
    edges = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    everyone = torch.ones(6, dtype=torch.bool)
    graph = make_graph(torch.eye(6), edges, torch.tensor([0, 1] * 3), everyone, test=everyone)
    partition = Partition(graph, torch.zeros(6, dtype=torch.int64), 1)
    found: dict[tuple[int, int], int] = {}
    for draw in range(650):
        for pair in pairs(perturb(partition, Settings(edge_noise=1.0, draw=draw)).graph):
            found[pair] = found.get(pair, 0) + 1
    free = [found[i, j] for i in range(6) for j in range(i) if {i, j} not in ({0, 1}, {2, 3})]
    assert len(free) == 13
    assert max(abs(n - 50) for n in free) < 5 * 50**0.5


def test_a_graph_without_edges_stays_as_it_is():
    everyone = torch.ones(3, dtype=torch.bool)
    nothing = torch.zeros(2, 0, dtype=torch.int64)
    graph = make_graph(torch.eye(3), nothing, torch.tensor([0, 1, 0]), everyone, test=everyone)
    noisy = perturb(Partition(graph, torch.zeros(3, dtype=torch.int64), 1), Settings(edge_noise=1))
    assert noisy.graph.num_edges == 0


def test_the_order_of_edges_does_not_matter():
    graph = random_graph(5)
    mixed = graph.replace(edge_index=graph.edge_index[:, torch.randperm(graph.num_edges)])
    one, two = (perturb(cut_in(g, 3), Settings(edge_noise=0.6)).graph for g in (graph, mixed))
    assert torch.equal(one.edge_index, two.edge_index)


# features ------------------------------------------------------------------------------------
def wide(sparse, nodes=300, width=200):
    rng = torch.Generator().manual_seed(1)
    x = 1 + torch.rand(nodes, width, generator=rng)
    if sparse:
        x = x * (torch.rand(nodes, width, generator=rng) < 0.3)
    everyone = torch.ones(nodes, dtype=torch.bool)
    ring = torch.stack([torch.arange(nodes), (torch.arange(nodes) + 1) % nodes])
    graph = make_graph(x, ring, torch.arange(nodes) % 3, everyone, test=everyone)
    assert (graph.x.layout == torch.sparse_csr) == sparse
    return cut_in(graph, 4), x


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("rate", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("rule", ["entries", "half", "nodes", "columns"])
def test_masks_zero_the_share_they_say(sparse, rate, rule):
    partition, x = wide(sparse)
    noisy = perturb(partition, Settings(feature_noise=rate, feature_rule=rule)).graph
    new = dense(noisy)
    gone = (x != 0) & (new == 0)
    assert bool((new[~gone] == x[~gone]).all())
    share = float(gone.sum() / (x != 0).sum())
    units = {"entries": 10**4, "half": 300, "nodes": 300, "columns": 200}[rule]
    wanted = rate / 2 if rule == "half" else rate
    assert abs(share - wanted) <= 4 * (wanted * (1 - wanted) / units) ** 0.5
    if rule == "half":
        hit = gone.any(1)
        assert abs(int(hit.sum()) - 150) < 40
        assert abs(float(gone[hit].sum() / (x[hit] != 0).sum()) - rate) < 0.02
    if rule == "nodes":
        assert bool((gone.any(1) == (new == 0).all(1)).all())
    if rule == "columns":
        assert bool((gone.any(0) == (new == 0).all(0)).all())
    lengths = (noisy.features.to_dense() if sparse else noisy.features).norm(dim=1)
    full = (new != 0).any(1)
    assert torch.allclose(lengths[full], torch.ones(int(full.sum())))  # masked first, then scaled
    assert noisy.edge_index is partition.graph.edge_index


def test_sparse_and_dense_features_give_the_same_run():
    """The masks differ (one number for each stored entry), whole nodes and columns do not."""
    partition, x = wide(True)
    full = Partition(partition.graph.replace(x=x), partition.owner, 4)
    for rule in ("nodes", "columns"):
        settings = Settings(feature_noise=0.4, feature_rule=rule, clients=4)
        one, two = (perturb(p, settings).graph.features for p in (partition, full))
        assert torch.allclose(one.to_dense(), two)


# labels --------------------------------------------------------------------------------------
@given(st.integers(0, 500), st.sampled_from(RATES))
def test_only_training_labels_change_and_always_to_another_class(seed, rate):
    graph = random_graph(seed).warm()
    noisy = perturb(cut_in(graph, 3), Settings(label_noise=rate, seed=seed)).graph
    moved = noisy.y != graph.y
    assert int(moved.sum()) == round(rate * len(graph.train_nodes))
    assert not bool((moved & ~graph.train).any())
    assert int(noisy.y.min()) >= 0
    assert noisy.classes == graph.classes
    assert noisy.adjacency is graph.adjacency


def test_the_number_of_classes_stays_when_the_last_one_is_mislabelled_away():
    everyone = torch.ones(3, dtype=torch.bool)
    ring = torch.tensor([[0, 1, 2], [1, 2, 0]])
    graph = make_graph(torch.eye(3), ring, torch.tensor([0, 1, 2]), everyone, test=everyone)
    partition = Partition(graph, torch.zeros(3, dtype=torch.int64), 1)
    for draw in range(20):
        result = run_on(partition, Settings(label_noise=1.0, draw=draw, clients=1))
        assert result.held.graph.classes == 3
        assert result.metrics.accuracy is not None


def test_accuracy_is_measured_with_the_clean_labels():
    settings = Settings(label_noise=1.0)
    result = run(settings)
    assert result.graph.y is result.partition.graph.y
    clean = run(Settings())
    assert torch.equal(result.graph.y, clean.graph.y)
    assert result.metrics.accuracy < 0.2  # every training label is wrong
    assert clean.metrics.accuracy > 0.8


# the line ------------------------------------------------------------------------------------
ALL = {"edge_noise": 0.5, "feature_noise": 0.3, "label_noise": 0.2}


def test_each_kind_has_random_numbers_of_its_own():
    partition, _ = wide(False, 30, 5)
    whole = perturb(partition, Settings(**ALL)).graph
    for name in ALL:
        alone = perturb(partition, Settings(**{name: ALL[name]})).graph
        field = {"edge_noise": "edge_index", "feature_noise": "x", "label_noise": "y"}[name]
        assert torch.equal(getattr(alone, field), getattr(whole, field))
        other = perturb(partition, Settings(**{name: ALL[name]}, draw=1)).graph
        one, two = getattr(other, field), getattr(whole, field)
        assert one.shape != two.shape or not torch.equal(one, two)


def test_noise_never_moves_the_split():
    clean, noisy = run(Settings()), run(Settings(**ALL))
    assert noisy.partition.owner is clean.partition.owner
    assert noisy.held.owner is clean.partition.owner
    assert noisy.partition is clean.partition  # tested on the clean graph


def test_the_test_graph_is_noisy_only_when_asked():
    settings = Settings(**ALL, noise_test=True)
    result = run(settings)
    held, tested = result.held.graph, result.graph
    assert torch.equal(held.edge_index, tested.edge_index)
    assert held.x is tested.x
    assert torch.equal(tested.y, run(Settings()).graph.y)


def test_noise_is_kept_while_the_method_changes():
    settings = Settings(**ALL, noise_test=True)
    one, two = run(settings), run(replace(settings, gamma=3.0, alpha=0.4))
    assert one.held is two.held
    assert one.partition is two.partition


def test_the_grid_agrees_with_single_runs_under_noise():
    settings = Settings(**ALL, noise_test=True)
    found = grid(settings, [0.0, 0.15, 0.8], [0.1, 0.5], [1, 2])
    for i, alpha in enumerate((0.0, 0.15, 0.8)):
        for j, gamma in enumerate((0.1, 0.5)):
            point = replace(settings, alpha=alpha, gamma=gamma, steps=2)
            assert float(found.accuracy[i, j, 1]) == pytest.approx(run(point).metrics.accuracy)


def test_without_smoothing_edge_noise_changes_nothing():
    clean = run(Settings(alpha=0.0)).prediction.scores
    assert torch.equal(run(Settings(alpha=0.0, edge_noise=1.0)).prediction.scores, clean)


def test_a_client_alone_is_noisy_everywhere():
    """With one client there is no edge between clients: before and after are the same rule."""
    one = Settings(clients=1, edge_noise=0.5)
    graph = run(one).held.graph
    assert torch.equal(
        graph.edge_index, run(replace(one, noise_when="before")).held.graph.edge_index
    )


def test_cora_with_noisy_edges():
    need("Cora")
    settings = Settings(dataset="Cora", edge_noise=0.5)
    result = run(settings)
    inside = int((~result.partition.cut).sum()) // 2
    kept = pairs(result.held.graph) & pairs(result.graph)
    clients = split(result.graph, settings).owner
    assert len(pairs(result.graph)) - len(kept) == pytest.approx(2 * inside / 4, abs=2 * 10)
    assert len(clients) == 2708
    assert 0.60 < result.metrics.accuracy < 0.66
