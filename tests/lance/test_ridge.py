"""The ridge head: the fast way against the plain one, and what must hold whatever is sent."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spear_core import (
    Partition,
    Settings,
    Uploads,
    estimate,
    grid,
    load,
    run,
    run_on,
    split,
    upload,
)
from spear_core.client import Residuals, sketch
from spear_core.client.sums import Sums
from spear_core.defences.check import check
from spear_core.explicit import dense_features, smooth
from spear_core.lance import explicit, lance, ridge
from spear_core.lance.explicit import plain_round, plain_weights, run_lance
from spear_core.lance.ridge import evenness
from spear_core.settings import choices
from tests.conftest import random_graph

EXACT = Settings(head="ridge", sketch=math.inf, sketch_cap=False, clients=4)

few = settings(max_examples=25)


@pytest.fixture(autouse=True, scope="module")
def believed():
    """Labels here are chance and nothing holds for a row left out; the algebra is shown anyway."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ridge, "trust", lambda slope: 1.0)
        patch.setattr(explicit, "plain_trust", lambda slope: 1.0)
        yield


def parts(graph, clients=4, seed=0):
    drawn = torch.Generator().manual_seed(seed)
    owner = torch.randint(0, clients, (graph.num_nodes,), generator=drawn)
    return Partition(graph, owner, clients)


def plain_uploads(partition, s):
    """What clients send by the explicit way, in float64."""
    plain = run_lance(partition, s)
    owner = torch.cat([torch.full((len(r),), k) for k, r in enumerate(plain.sketch)])
    rest = Residuals(plain.energy, torch.cat(plain.sketch), owner.long())
    parts = (plain.client, plain.label, plain.counts, plain.local)
    return Uploads(*parts, partition.clients, partition.graph.classes, residuals=rest)


@few
@given(
    seed=st.integers(0, 200),
    directed=st.booleans(),
    clients=st.integers(1, 8),
    rank=st.sampled_from([0, 1, 3, math.inf]),
    capped=st.booleans(),
    gate=st.sampled_from([-1.0, 0.0, 1.0]),
)
def test_equal_to_a_loop_over_clients(seed, directed, clients, rank, capped, gate):
    partition = parts(random_graph(seed, directed), clients, seed)
    s = replace(EXACT, smoothing="gated", gate=gate, sketch=rank, sketch_cap=capped)
    ours, plain = run_on(partition, replace(s, clients=clients)), run_lance(partition, s)
    rest, head = ours.uploads.residuals, ours.estimate.ridge
    assert torch.allclose(rest.energy, plain.energy, atol=1e-4)
    amount = torch.bincount(rest.owner, minlength=clients).tolist()
    assert amount == [len(r) for r in plain.sketch]
    for k, rows in enumerate(plain.sketch):
        mine = rest.rows[rest.owner == k].double()
        assert torch.allclose(mine.norm(dim=1), rows.norm(dim=1), atol=1e-4)
        if rank == math.inf:
            assert torch.allclose(mine.t() @ mine, rows.t() @ rows, atol=1e-4)
    assert torch.allclose(head.mean, plain.mean, atol=1e-5)
    assert torch.allclose(head.prior, plain.prior)
    if rank in (0, math.inf):  # else two equal singular values may trade places
        scores = ours.every_prediction.scores.double()
        assert torch.allclose(scores, plain.scores, atol=1e-3)


@few
@given(seed=st.integers(0, 100), clients=st.integers(1, 9))
def test_clients_together_are_the_pooled_regression(seed, clients):
    graph = random_graph(seed)
    partition, s = parts(graph, clients, seed), replace(EXACT, alpha=0.0)
    head = estimate(plain_uploads(partition, s), s).ridge
    z = smooth(dense_features(graph), graph.edge_index, 0.0, 0)[graph.train]
    y = torch.nn.functional.one_hot(graph.y[graph.train], graph.classes).double()
    x, d = z - z.mean(0), y - y.mean(0)
    shares = y.mean(0)
    even = 1 / (len(shares.nonzero()) * (shares @ shares))  # 1 where all classes are as large
    penalty = s.ridge * even**2 * (x**2).sum() / len(x)
    rounder = plain_round(x, float((x**2).sum()), len(x))
    pooled = plain_weights(x, d, float(penalty), rounder)
    assert head.penalty == pytest.approx(max(float(penalty), rounder), rel=1e-9)
    assert torch.allclose(head.w, pooled, atol=1e-9)
    lift = torch.where(shares > 0, shares, 1.0) ** -0.3 * (shares > 0)
    assert torch.allclose(head.offset, (shares - z.mean(0) @ pooled) * lift, atol=1e-9)
    assert torch.allclose(head.weights, pooled * lift, atol=1e-9)


def test_the_more_uneven_the_classes_the_weaker_the_ridge():
    assert evenness(torch.tensor([0.25, 0.25, 0.25, 0.25, 0.0])) == pytest.approx(1)
    assert evenness(torch.tensor([0.5, 0.25, 0.25])) == pytest.approx(8 / 9)
    assert evenness(torch.tensor([0.0, 1.0])) == 1  # nothing to be uneven with


@few
@given(seed=st.integers(0, 100), rank=st.sampled_from([0, 2, 8, math.inf]), strong=st.booleans())
def test_energies_obey_the_inequality(seed, rank, strong):
    partition = parts(random_graph(seed), 5, seed)
    more = {"alpha": 0.8, "steps": 5} if strong else {}
    up = upload(partition, replace(EXACT, sketch=rank, **more))
    n = up.counts.double()
    means = (
        torch.zeros(5).double().index_add_(0, up.client, n * up.prototypes.double().pow(2).sum(1))
    )
    total = torch.zeros(5).double().index_add_(0, up.client, n)
    assert (means + up.residuals.lengths() <= up.residuals.energy + 1e-5).all()
    assert (up.residuals.energy <= total + 1e-9).all()
    kept, rejected = check(up.replace())  # as rows, without their source
    assert rejected == ()
    assert len(kept.client) == len(up.client)


def test_the_cap_leaves_half():
    partition = parts(random_graph(3))
    up = upload(partition, replace(EXACT, sketch_cap=True))
    most = partition.train_counts.sum(1) - (partition.train_counts > 0).sum(1)
    assert (torch.bincount(up.residuals.owner, minlength=4) <= most // 2).all()


def test_absent_classes_never_win():
    graph = random_graph(6)
    graph = graph.replace(train=graph.train & (graph.y != 2))
    for s in (lance(Settings(clients=3)), replace(EXACT, clients=3)):
        result = run_on(parts(graph, 3), s)
        assert (result.every_prediction.scores[:, 2] == -math.inf).all()
        assert not (result.every_prediction.labels == 2).any()
        assert not torch.isnan(result.every_prediction.scores).any()


@pytest.mark.parametrize("rank", [0, 2, math.inf])
def test_the_order_of_clients_does_not_matter(rank):
    graph = random_graph(9)
    partition = parts(graph, 4)
    turned = Partition(graph, 3 - partition.owner, 4)
    s = replace(EXACT, sketch=rank, smoothing="gated", gate=0.0)
    a, b = run_on(partition, s), run_on(turned, s)
    assert torch.allclose(a.prediction.scores, b.prediction.scores, atol=1e-5)


def test_a_client_without_training_rows_sends_nothing():
    graph = random_graph(1)
    partition = parts(graph, 3)
    graph = graph.replace(train=graph.train & (partition.owner != 1))
    result = run_on(partition.replace(graph=graph), replace(EXACT, clients=3))
    assert result.metrics.client_bytes_up[1] == 0
    assert result.uploads.residuals.energy[1] == 0


def test_bytes_count_the_sketch_and_the_energy():
    partition = parts(random_graph(2))
    spear, rich = run_on(partition, Settings(clients=4)), run_on(partition, EXACT)
    rows = torch.bincount(rich.sent.residuals.owner, minlength=4).tolist()
    both = zip(spear.metrics.client_bytes_up, rows, strict=True)
    assert rich.metrics.client_bytes_up == [sent + 8 + 4 * 6 * more for sent, more in both]


def test_columns_find_what_singular_values_say():
    """The block method against the exact one, on enough training rows to tell them apart."""
    s = Settings(dataset="synthetic", nodes=3000, features=100, clients=4, beta=1.0)
    sums = Sums(split(load(s), s), 0.8, 5)
    exact, _ = sketch.residuals_of(sums, 8, False, 1, exactly=True)
    quick, _ = sketch.residuals_of(sums, 8, False, 1)
    assert torch.equal(quick.owner, exact.owner)
    assert not torch.equal(quick.rows, exact.rows)
    assert (quick.lengths() <= exact.lengths() * (1 + 1e-5)).all()
    assert (quick.lengths() >= 0.7 * exact.lengths()).all()  # of noise: no direction leads
    assert torch.allclose(quick.energy, exact.energy, rtol=0.1)
    again, _ = sketch._made(sums, 8, False, 1, False)
    assert torch.equal(again.rows, quick.rows)


def test_grids_and_defences_and_lies_know_the_ridge_head():
    graph = random_graph(7)
    s = replace(EXACT, sketch=2, smoothing="gated")
    whole = grid(s, [0.1, 0.4], [0.5], [1, 2], graph=graph)
    one = run(replace(s, alpha=0.4, steps=2), graph)
    assert torch.equal(whole.labels[1, 0, 1], one.prediction.labels)
    for defence in choices("defence"):
        lie = replace(s, attacker_count=1, forge="random", inflate=3.0, defence=defence)
        result = run(lie, graph)
        assert result.rejected == ()  # a liar knows the checks
        head = result.estimate.ridge
        assert defence == "agreement" if head is None else torch.isfinite(head.w).all()
    for forge in ("nan", "scaled"):
        result = run(replace(s, attacker_count=1, forge=forge), graph)
        assert {one.client for one in result.rejected} == set(result.attackers)
        assert torch.isfinite(result.estimate.ridge.w).all()


def test_what_cannot_be_true_is_dropped():
    partition = parts(random_graph(5))
    honest = upload(partition, EXACT).replace()
    rest = honest.residuals

    def rejected(energy=rest.energy, rows=rest.rows):
        return check(honest.replace(residuals=Residuals(energy, rows, rest.owner)))

    high, low = rest.energy.clone(), rest.energy.clone()
    high[1], low[1] = 1e6, 0.0
    for kept, found in (rejected(energy=high), rejected(energy=low)):
        assert [one.sentence for one in found] == [
            "Dropped from client 1, everything: its energy cannot be true."
        ]
        assert not (kept.client == 1).any()
        assert kept.residuals.energy[1] == 0
    kept, found = rejected(energy=torch.where(rest.energy > 0, math.nan, 0.0))
    assert len(found) == 4
    bad = rest.rows.clone()
    bad[rest.owner == 0] = math.nan
    kept, found = rejected(rows=bad)
    assert [one.client for one in found] == [0]
    assert torch.isfinite(estimate(kept, EXACT).ridge.w).all()
    assert "columns" in rejected(rows=torch.ones(len(rest.rows), 9) * 1e-3)[1][0].reason


def test_private_clients_send_a_noisy_energy_and_no_sketch():
    partition = parts(random_graph(8))
    s = replace(EXACT, epsilon=1.0, smoothing="gated")
    result = run_on(partition, s)
    assert len(result.sent.residuals.rows) == 0
    assert (
        result.sent.residuals.energy.tolist() != upload(partition, EXACT).residuals.energy.tolist()
    )
    assert result.metrics.accuracy is not None
    assert any("refuse to send a sketch" in note for note in result.notes)
    assert any("nobody asks the gate" in note for note in result.notes)
    nearly = run_on(partition, replace(s, epsilon=1e12)).sent.residuals.energy
    exact = upload(partition, replace(EXACT, sketch=0)).residuals.energy
    assert torch.allclose(nearly, exact, atol=1e-3)
