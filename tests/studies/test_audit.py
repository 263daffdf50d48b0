"""The audit: sound noise stays below what it promises, and noise that is broken is caught."""

import math

import numpy as np
import pytest
import torch

from spear_core import Settings, upload
from spear_core.studies.audit import bound, table
from spear_core.studies.mechanisms import BROKEN, sound
from spear_core.studies.neighbours import neighbours
from spear_core.transforms.privacy import privatise


@pytest.fixture(scope="module")
def rows():
    return list(table(epsilon=1.0))


def test_sound_noise_keeps_its_promise(rows):
    kept = [row for row in rows if row.how == "sound"]
    assert len(kept) == 16
    for row in kept:
        assert 0.1 < row.bound <= row.promised, row  # the attack does learn something


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_broken_on_purpose_is_caught(rows, how):
    caught = [row for row in rows if row.how == how]
    assert {row.mechanism for row in caught} == {"gaussian", "laplace"}
    for row in caught:
        assert row.bound > row.promised, row


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_a_bound_is_below_the_truth_and_not_far_below(epsilon):
    """Laplace noise on a number that moves by 1: the likelihoods differ by ε exactly."""
    rng = np.random.default_rng(5)
    one, two = (rng.laplace(place, 1 / epsilon, 200_000) for place in (1.0, 0.0))
    found = bound(one, two, delta=0.0)[1]
    assert 0.8 * epsilon < found <= epsilon
    assert bound(two, two[::-1], delta=0.0)[1] <= 0.05  # nothing to tell apart
    assert bound(one, two, delta=1.0)[1] == -math.inf  # every promise fails with δ = 1


def test_a_pair_differs_in_one_node_and_the_audit_sees_what_is_sent():
    s = Settings(epsilon=1.0)
    for pair in neighbours(s):
        one, two = pair.before.graph, pair.after.graph
        assert torch.equal(one.edge_index, two.edge_index)
        assert torch.equal(one.train, two.train)
        differs = (one.x.to_dense() != two.x.to_dense()).any(dim=1) | (one.y != two.y)
        assert differs.nonzero().flatten().tolist() == [0]
        sums, counts, energies = sound(pair.before, pair.settings, 300, 1)
        sent = privatise(upload(pair.before, pair.settings), pair.settings)
        assert sums.shape == (300, pair.before.clients, 3, 2)
        assert sent.prototypes.shape == (pair.before.clients * 3, 2)
        spread = counts.std(0).max()
        assert energies.any() == (pair.settings.head == "ridge")
        assert abs(float(sent.counts[0]) - counts[:, 0, 0].mean()) < 5 * spread
