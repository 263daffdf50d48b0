"""Privacy: the sensitivity against brute force, the noise, and what it leaves as it was."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spear_core import Settings, estimate, make_graph, run, run_on, split, upload
from spear_core.explicit import dense_features, smooth
from spear_core.federation.files import client_graph
from spear_core.partition import Partition
from spear_core.studies.exposure import exposure
from spear_core.transforms.privacy import (
    Noise,
    influence,
    noise,
    noise_generator,
    private_rows,
    privatise,
    sensitivity,
)
from tests.conftest import random_graph

MECHANISM = st.sampled_from(["gaussian", "laplace"])


# how far one node moves the sums ----------------------------------------------------------------
def class_sums(partition: Partition, s: Settings) -> torch.Tensor:
    """Every client's class sums in double precision, (K, C, F)."""
    graph, owner = partition.graph, partition.owner
    edges = graph.edge_index
    inside = edges[:, owner[edges[0]] == owner[edges[1]]]
    z = smooth(dense_features(graph), inside, s.alpha, s.steps)
    sums = torch.zeros(partition.clients * graph.classes, z.shape[1], dtype=z.dtype)
    nodes = graph.train_nodes
    sums.index_add_(0, owner[nodes] * graph.classes + graph.y[nodes], z[nodes])
    return sums.view(partition.clients, graph.classes, -1)


@given(
    st.integers(0, 10_000),
    st.booleans(),
    st.integers(0, 39),
    st.integers(0, 3),
    st.sampled_from(["negated", "random", "zero"]),
    st.floats(0, 0.95),
    st.integers(0, 4),
)
def test_a_changed_node_moves_its_client_by_at_most_the_sensitivity(
    seed, directed, node, label, change, alpha, steps
):
    graph = random_graph(seed, directed)
    s = Settings(alpha=alpha, steps=steps, epsilon=1)
    owner = torch.as_tensor(np.random.RandomState(seed).randint(0, 3, graph.num_nodes))
    x, y = graph.x.to_dense().clone(), graph.y.clone()
    rng = torch.Generator().manual_seed(seed + 1)
    fresh = {"negated": -x[node], "random": torch.randn(6, generator=rng), "zero": torch.zeros(6)}
    x[node], y[node] = fresh[change], label
    names = tuple("abcd")  # four classes, also if the last one loses its only node
    before = Partition(graph.replace(class_names=names), owner, 3)
    after = Partition(graph.replace(x=x, y=y, class_names=names), owner, 3)
    moved = class_sums(after, s) - class_sums(before, s)
    mine = int(owner[node])
    others = [k for k in range(3) if k != mine]
    assert not moved[others].any()
    bound = sensitivity(before, s)
    assert torch.equal(bound, sensitivity(after, s))  # it tells nothing of features and labels
    assert moved[mine].norm() <= bound[mine] + 1e-5
    in_sum = sensitivity(before, replace(s, mechanism="laplace"))[mine]
    assert moved[mine].norm(dim=1).sum() <= in_sum + 1e-5
    assert moved[mine].abs().sum() <= in_sum * math.sqrt(6) + 1e-4


def test_sensitivity_on_paper(five):
    """Node 2 is not labelled, but half of it is in rows 1 and 3: with α = 0.3 and T = 1 its
    influence is 2 · 0.3/3 = 0.2, that of node 1 is 0.7 + 0.1 + 0.15 = 0.95.
    """
    s = Settings(alpha=0.3, steps=1)
    partition = Partition(five, torch.zeros(5, dtype=torch.int64), 1)
    m = influence(partition, s)
    assert m.tolist() == pytest.approx([0.95, 0.95, 0.2, 0.95, 0.95])
    # other features: 2 · 0.95; another label: √((2 · 0.25 + 1)² + 1) = √3.25, which is less
    assert float(sensitivity(partition, s)) == pytest.approx(1.9)
    raw = replace(s, alpha=0.0)
    assert float(sensitivity(partition, raw)) == 2.0  # x → -x under the same label
    assert float(sensitivity(partition, replace(raw, mechanism="laplace"))) == 2.0


@pytest.mark.parametrize("labelled", [False, True])
def test_the_bound_is_reached_by_a_hub(labelled):
    """A star whose 12 leaves look and are called like the hub: x → -x moves every leaf's row."""
    leaves = torch.arange(1, 13)
    spokes = torch.stack([torch.zeros_like(leaves), leaves])
    train = torch.ones(13, dtype=torch.bool)
    train[0] = labelled
    x = torch.tensor([[1.0, 0]]).repeat(13, 1)
    graph = make_graph(
        x, torch.cat([spokes, spokes.flip(0)], 1), torch.zeros(13, dtype=torch.int64), train
    )
    s, owner = Settings(alpha=0.6, steps=2), torch.zeros(13, dtype=torch.int64)
    x = x.clone()
    x[0] = -x[0]
    before, after = Partition(graph, owner, 1), Partition(graph.replace(x=x), owner, 1)
    moved = float((class_sums(after, s) - class_sums(before, s)).norm())
    bound = float(sensitivity(before, s))
    assert moved > 5  # far more than the 2 of a node that moves nothing but itself
    assert moved == pytest.approx(bound, rel=0.1 if labelled else 1e-6)
    assert moved <= bound + 1e-6


def test_another_label_in_a_crowd_moves_more_than_other_features():
    """One labelled node among thirty: hardly anything of it is in its own row, so new features
    move the sums by little, and a new label moves the whole row from class to class: √2.
    """
    everyone = torch.combinations(torch.arange(30)).t()
    graph = make_graph(
        torch.tensor([[1.0, 0]]).repeat(30, 1),
        torch.cat([everyone, everyone.flip(0)], 1),
        torch.zeros(30, dtype=torch.int64),
        torch.arange(30) == 0,
        class_names=("a", "b"),
    )
    s, owner = Settings(alpha=0.9, steps=9), torch.zeros(30, dtype=torch.int64)
    before = Partition(graph, owner, 1)
    after = Partition(graph.replace(y=(torch.arange(30) == 0).long()), owner, 1)
    moved = class_sums(after, s) - class_sums(before, s)
    assert float(moved.norm()) == pytest.approx(math.sqrt(2), rel=1e-6)
    assert 2 * float(influence(before, s).max()) < 0.5
    assert math.sqrt(2) <= float(sensitivity(before, s)) < 1.7
    in_sum = float(sensitivity(before, replace(s, mechanism="laplace")))
    assert float(moved[0].norm(dim=1).sum()) == pytest.approx(2, rel=1e-6)
    assert 2 <= in_sum < 2.5


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.booleans(), st.floats(0.05, 0.95), st.integers(1, 5))
def test_influence_is_that_of_the_clients_own_graph(seed, directed, alpha, steps):
    """Among the others a client smooths as it does alone: edges between clients are cut."""
    graph, s = random_graph(seed, directed), Settings(alpha=alpha, steps=steps)
    owner = torch.as_tensor(np.random.RandomState(seed).randint(0, 3, graph.num_nodes))
    partition = Partition(graph, owner, 3)
    for k in range(3):
        own = client_graph(partition, k)
        alone = Partition(own, torch.zeros(own.num_nodes, dtype=torch.int64), 1)
        mine = influence(partition, s)[owner == k]
        assert torch.allclose(mine, influence(alone, s), atol=1e-6)
        bound = sensitivity(partition, s)[k]
        assert float(bound) == pytest.approx(float(sensitivity(alone, s)), rel=1e-5)


@given(st.integers(0, 10_000), st.floats(0, 0.95), st.integers(0, 6))
def test_influence_is_bounded_by_the_degree(seed, alpha, steps):
    graph = random_graph(seed)
    loops = graph.edge_index[0] == graph.edge_index[1]
    graph = graph.replace(
        edge_index=graph.edge_index[:, ~loops], train=torch.ones_like(graph.train)
    )
    partition = Partition(graph, torch.zeros(graph.num_nodes, dtype=torch.int64), 1)
    degree = torch.bincount(graph.edge_index[0], minlength=graph.num_nodes)
    bound = 1 - alpha + alpha * ((degree + 1) / 2).clamp_min(1)
    assert bool((influence(partition, Settings(alpha=alpha, steps=steps)) <= bound + 1e-5).all())


# the noise itself -------------------------------------------------------------------------------
@pytest.mark.parametrize(("mechanism", "variance"), [("gaussian", 1), ("laplace", 2)])
def test_empirical_variance_is_the_formula(mechanism, variance):
    """40,000 draws: the variance of an estimated variance is (κ - 1)/n, κ = 3 or 6."""
    counts = torch.full((40_000,), 10**6)
    sums = torch.zeros(40_000, 1, dtype=torch.float64)
    width = Noise(sums=3.0, counts=20.0)
    p, n = private_rows(sums, counts, width, mechanism, np.random.default_rng(7))
    noisy = p[:, 0] * n
    tolerance = 4 * math.sqrt((3 * variance - 1) / 40_000)  # four standard errors
    assert noisy.var() == pytest.approx(9 * variance, rel=tolerance)
    assert n.double().var() == pytest.approx(400 * variance + 1 / 12, rel=tolerance)
    assert abs(float(noisy.mean())) < 4 * 3 * math.sqrt(variance / 40_000)
    within = {"gaussian": 0.6827, "laplace": 1 - math.exp(-1)}[mechanism]
    assert (noisy.abs() < 3).double().mean() == pytest.approx(within, abs=0.01)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_what_is_sent_varies_as_calibrated(mechanism):
    """Through the whole line: 150 draws of every class sum and count of a client."""
    rng = torch.Generator().manual_seed(0)
    nodes = 3000
    edges = torch.randint(0, nodes, (2, 4000), generator=rng)
    graph = make_graph(
        x=torch.randn(nodes, 12, generator=rng),
        edge_index=torch.cat([edges, edges.flip(0)], 1),
        y=torch.arange(nodes) % 3,
        train=torch.ones(nodes, dtype=torch.bool),
        test=torch.ones(nodes, dtype=torch.bool),
    )
    s = Settings(clients=1, epsilon=2, mechanism=mechanism)
    partition = Partition(graph, torch.zeros(nodes, dtype=torch.int64), 1)
    exact = upload(partition, s)
    sums, counts = [], []
    for draw in range(150):
        sent = privatise(exact, replace(s, draw=draw))
        sums.append(sent.prototypes * sent.counts[:, None] - exact.prototypes * 1000)
        counts.append(sent.counts - 1000.0)
    width = noise(float(sensitivity(partition, s)), 12, s)
    by = 1 if mechanism == "gaussian" else 2
    assert torch.stack(sums).var() == pytest.approx(by * width.sums**2, rel=0.12)
    assert torch.stack(counts).var() == pytest.approx(by * width.counts**2, rel=0.35)


@settings(max_examples=25)
@given(MECHANISM, st.floats(1e-6, 1e4), st.integers(0, 100))
def test_private_uploads_can_be_true(mechanism, epsilon, draw):
    s = Settings(clients=3, dataset="karate", mechanism=mechanism, epsilon=epsilon, draw=draw)
    result = run(s)
    assert result.rejected == ()
    assert bool(torch.isfinite(result.sent.prototypes).all())
    assert bool((result.sent.prototypes.norm(dim=1) <= 1 + 1e-5).all())
    assert bool((result.sent.counts >= 0).all())
    assert not result.sent.counts.is_floating_point()
    assert bool(torch.isfinite(result.estimate.prototypes).all())


# limits -----------------------------------------------------------------------------------------
def test_infinite_epsilon_is_the_same_object(five):
    s = Settings(clients=1)
    sent = upload(Partition(five, torch.zeros(5, dtype=torch.int64), 1), s)
    assert privatise(sent, s) is sent


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_growing_epsilon_gives_back_the_exact_result(mechanism):
    s = Settings(mechanism=mechanism)
    exact = run(s)
    partition, gaps = exact.partition, []
    for epsilon in (1e3, 1e5, 1e7, 1e12):
        near = run_on(partition, replace(s, epsilon=epsilon))
        gaps.append(float((near.estimate.prototypes - exact.estimate.prototypes).abs().max()))
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[3] < 1e-4
    for part in ("client", "label", "counts"):
        assert torch.equal(getattr(near.uploads, part), getattr(exact.sent, part))
    assert torch.equal(near.prediction.labels, exact.prediction.labels)


def test_every_client_sends_every_class_held_or_not():
    s = Settings(epsilon=1)
    held = upload(split(run(s).graph, s), s)
    sent = privatise(held, s)
    clients = held.client.unique()
    assert torch.equal(sent.client, clients.repeat_interleave(10))
    assert torch.equal(sent.label, torch.arange(10).repeat(len(clients)))
    unheld = held.table(held.counts)[sent.client, sent.label] == 0
    positive = (sent.counts > 0) & unheld
    assert 20 < int(positive.sum()) < int(unheld.sum()) - 20  # about half of those without a node
    assert not sent.prototypes[sent.counts == 0].any()


def test_all_counts_may_round_to_zero(five):
    """Nothing is sent, nothing is predicted but the first class, and nothing breaks."""
    partition = Partition(five, torch.zeros(5, dtype=torch.int64), 1)
    for draw in range(60):
        result = run_on(partition, Settings(clients=1, epsilon=0.1, draw=draw))
        if not result.sent.counts.any():
            break
    assert not len(result.uploads.client)
    assert not result.estimate.seen.any()
    assert exposure(result).nearest.tolist() == [-1, -1]


def test_every_client_draws_its_own_noise():
    """A client alone, with its stream, sends what it sends among the others."""
    s = Settings(epsilon=5)
    partition = split(run(s).graph, s)
    held = upload(partition, s)
    sent = privatise(held, s)
    k = int(sent.client[0])
    sums = torch.zeros(held.classes, held.features)
    mine = held.client == k
    sums[held.label[mine]] = held.prototypes[mine] * held.counts[mine, None]
    width = noise(float(sensitivity(partition, s)[k]), held.features, s)
    p, n = private_rows(sums, partition.train_counts[k], width, s.mechanism, noise_generator(s, k))
    rows = sent.client == k
    assert torch.equal(n, sent.counts[rows])
    assert torch.allclose(p, sent.prototypes[rows])
    assert torch.equal(privatise(held, s).prototypes, sent.prototypes)
    assert not torch.equal(privatise(held, replace(s, draw=1)).counts, sent.counts)


@pytest.mark.parametrize("secret", [None, 7])
def test_noise_drawn_in_parts_is_the_same_noise(monkeypatch, secret):
    s = Settings(epsilon=5)
    held = upload(split(run(s).graph, s), s)
    whole = privatise(held, s, secret)
    monkeypatch.setattr("spear_core.transforms.privacy.CHUNK", 3 * held.classes * held.features)
    parts = privatise(held, s, secret)
    assert torch.equal(parts.prototypes, whole.prototypes)
    assert torch.equal(parts.counts, whole.counts)


@pytest.mark.parametrize("secret", [None, 7])
def test_the_noise_of_two_clients_is_not_one_draw(secret):
    """Two clients that hold the same: were their noise one draw, uploads would be equal, and the
    difference of two uploads would show what noise hides.
    """
    s = Settings(epsilon=1, clients=2)
    x = torch.tensor([[1.0, 0], [0, 1], [1, 1], [1, -1]] * 50)
    y, edges = torch.arange(400) % 4, torch.tensor([[0, 200], [1, 201]])
    graph = make_graph(x.repeat(2, 1), edges, y, torch.ones(400, dtype=torch.bool))
    held = upload(Partition(graph, torch.arange(400) // 200, 2), s)
    noisy = [privatise(held, replace(s, draw=d), secret and secret + d) for d in range(100)]
    sums = torch.stack([(u.prototypes * u.counts[:, None]).view(2, -1) for u in noisy])
    first, second = (sums - sums.mean(0)).unbind(1)  # (100, C · F) of either client
    alike = float((first * second).sum() / (first.norm() * second.norm()))
    assert abs(alike) < 4 / math.sqrt(first.numel())  # independent: four standard errors


def test_shrinkage_comes_after_the_noise():
    """λ = 1/(1 + γñ) is computed from the noisy counts alone."""
    s = Settings(epsilon=10)
    result = run(s)
    sent = result.uploads
    lam = 1 / (1 + 0.5 * sent.counts)
    assert torch.allclose(result.estimate.weights[sent.client, sent.label], lam)
    assert torch.equal(estimate(sent, s).prototypes, result.estimate.prototypes)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"epsilon": 0}, "epsilon must be at least 1e-06, got 0. Use about 1"),
        ({"epsilon": -1}, "epsilon must be at least"),
        ({"epsilon": math.nan}, "epsilon must be a finite number"),
        ({"delta": 0}, "delta must be at least"),
        ({"delta": 1}, "delta must be below 1"),
        ({"mechanism": "uniform"}, "mechanism must be one of gaussian, laplace"),
    ],
)
def test_refused_in_one_sentence(values, words):
    with pytest.raises(ValueError, match=r"^[^\n]+$") as raised:
        Settings(**values)
    assert words in str(raised.value)
