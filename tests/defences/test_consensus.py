"""Consensus: who calls the classes by other names is found, and nobody else."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spear_core import Settings, run
from spear_core.defences.caps import median_cap
from spear_core.defences.consensus import borne_out, fits, looks, trust, votes
from tests.conftest import need
from tests.defences.made import sent


def world(liars=(), clients=10, classes=3, shift=1, seed=0):
    """Every client holds every class, the liars under the wrong names."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(clients):
        for c in range(classes):
            p = np.eye(classes, 6)[c] * 0.8 + 0.05 * rng.standard_normal(6)
            named = (c + shift) % classes if k in liars else c
            rows.append((k, named, int(rng.integers(2, 9)), p.tolist()))
    return sent(rows)


@pytest.mark.parametrize("liars", [(), (2,), (0, 3), (1, 5, 6)])
@pytest.mark.parametrize("shift", [1, 2])
def test_consensus_finds_who_calls_the_classes_by_other_names(liars, shift):
    up = world(liars, shift=shift)
    kept = borne_out(up, median_cap(up), None)
    assert set(up.client[~kept].tolist()) == set(liars)


def test_votes_are_symmetric_and_have_the_right_sign():
    up = world((2,))
    found = votes(up, median_cap(up), looks(up, None))
    assert torch.allclose(found, found.t())
    assert found.diagonal().abs().max() == 0
    honest = [k for k in range(10) if k != 2]
    assert (found[2, honest] < 0).all()
    assert all(found[i, j] > 0.5 for i in honest for j in honest if i != j)


def test_lies_about_counts_do_not_buy_votes():
    up = world((1, 5, 6))
    loud = up.replace(counts=torch.where(torch.isin(up.client, torch.tensor([1, 5, 6])), 10**6, 1))
    kept = borne_out(loud, median_cap(loud), None)
    assert set(loud.client[~kept].tolist()) == {1, 5, 6}


def test_without_witnesses_nobody_is_judged():
    held = torch.eye(4, dtype=torch.bool).repeat_interleave(2, 0)  # two holders a class
    part = torch.tensor([1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
    assert (trust(part, held) >= 1).all()
    held[1] = True  # shares a class with every other
    assert trust(part, held)[1] == -1


def test_few_voters_leave_nobody_out():
    assert not borne_out(world((2,), clients=8), torch.ones(24), None).all()
    assert borne_out(world((2,), clients=7), torch.ones(21), None).all()


def test_classes_that_most_do_not_hold_leave_nobody_out():
    up = world((2,), clients=12, classes=6)
    most, half = (up.keep((up.client + up.label) % 6 < held) for held in (4, 3))  # classes each
    assert set(most.client[~borne_out(most, median_cap(most), None)].tolist()) == {2}
    assert borne_out(half, median_cap(half), None).all()


@pytest.mark.parametrize("seed", range(5))
def test_an_odd_client_is_no_liar(seed):
    """Its classes look like nothing that the others know: no other names fit them better."""
    up = world(seed=seed)
    wild = torch.randn(3, 6, generator=torch.Generator().manual_seed(seed))
    wild[:, :3] = wild[:, :3].mean(1, keepdim=True)  # as near to each class as to the next
    odd = up.replace(prototypes=up.prototypes.clone().index_copy_(0, torch.tensor([3, 4, 5]), wild))
    assert borne_out(odd, median_cap(odd), None).all()


@pytest.mark.parametrize("seed", range(20))
def test_noise_leaves_nobody_out(seed):
    up = world(clients=10 + seed % 3 * 5, seed=seed)
    noise = torch.randn(len(up.client), 64, generator=torch.Generator().manual_seed(seed))
    noise = up.replace(prototypes=noise)
    assert borne_out(noise, median_cap(noise), None).all()


def test_fits_by_hand():
    """Two classes that are opposites, three clients; the last names them the other way round."""
    a, b = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
    up = sent([(0, 0, 1, a), (0, 1, 1, b), (1, 0, 1, a), (1, 1, 3, b), (2, 0, 1, b), (2, 1, 1, a)])
    scores = torch.tensor([[1.0, -1.0, 1.0, -1.0, -1.0, 1.0]])  # one node
    own, best = fits(up, torch.ones(6), scores, torch.tensor([True, True, False]))
    assert own.tolist() == [1, 1, -1]
    assert best.tolist() == [1, 1, 1]


def test_a_class_whose_holders_are_all_in_doubt_keeps_them():
    up = world((2,))
    only = sent(
        [
            (int(k), 3 if (k, c) == (2, 1) else int(c), int(n), p.tolist())
            for k, c, n, p in zip(up.client, up.label, up.counts, up.prototypes, strict=True)
        ]
    )
    kept = borne_out(only, median_cap(only), None)
    assert only.label[kept & (only.client == 2)].tolist() == [3]


def test_consensus_leaves_out_the_liars_of_a_run_and_nobody_else():
    result = run(Settings(beta=1.0, attacker_count=3, defence="consensus"))
    assert set(result.attackers) == set(range(10)) - set(result.uploads.client.tolist())
    honest = run(Settings(beta=1.0, defence="consensus"))
    assert honest.uploads is honest.sent


@pytest.mark.parametrize(
    ("dataset", "changes", "cost"),  # clean points that were lost before it could abstain
    [
        ("digits", {"beta": 0.1, "seed": 8}, 2.4),
        ("Cora", {"beta": 0.1, "seed": 42, "clients": 5}, 19.0),
        ("CiteSeer", {"beta": 0.1, "seed": 8}, 19.6),
        ("Texas", {"beta": 0.1, "seed": 103, "clients": 5}, 43.2),
        ("Texas", {"beta": 0.1, "seed": 204}, 51.4),
        ("Chameleon", {"beta": 0.1, "seed": 100, "clients": 5}, 12.7),
        ("Actor", {"beta": 0.1, "seed": 0}, 9.9),
        ("PubMed", {"beta": 0.1, "seed": 1}, 5.5),
    ],
)
def test_clean_data_lose_at_most_two_points(dataset, changes, cost):
    need(dataset)
    settings = Settings(dataset=dataset, **changes)
    undefended = run(settings).metrics.accuracy
    defended = run(replace(settings, defence="consensus")).metrics.accuracy
    assert undefended - defended <= 0.02 < cost / 100
