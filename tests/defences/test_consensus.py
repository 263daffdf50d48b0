"""Consensus: who calls the classes by other names is found, and nobody else."""

import numpy as np
import pytest
import torch

from spear_core import Settings, run
from spear_core.defences.caps import median_cap
from spear_core.defences.consensus import borne_out, trust, votes
from tests.defences.made import sent


def world(liars=(), clients=7, classes=3, shift=1, seed=0):
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
    found = votes(up, median_cap(up), None)
    assert torch.allclose(found, found.t())
    assert found.diagonal().abs().max() == 0
    honest = [k for k in range(7) if k != 2]
    assert (found[2, honest] < 0).all()
    assert all(found[i, j] > 0.5 for i in honest for j in honest if i != j)


def test_lies_about_counts_do_not_buy_votes():
    up = world((1, 5, 6))
    loud = up.replace(counts=torch.where(torch.isin(up.client, torch.tensor([1, 5, 6])), 10**6, 1))
    kept = borne_out(loud, median_cap(loud), None)
    assert set(loud.client[~kept].tolist()) == {1, 5, 6}


def test_without_witnesses_nobody_is_judged():
    rows = [(k, k // 2, 5, np.eye(4)[(k + k % 2) // 2 % 4].tolist()) for k in range(8)]
    up = sent(rows)  # four classes with two holders each, which disagree
    assert borne_out(up, median_cap(up), None).all()
    assert (trust(up, median_cap(up), None) >= 1).all()


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
