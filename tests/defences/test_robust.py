"""Robust means by hand, and that no other point is nearer to all."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Settings, estimate
from spear_core.defences import robust_mean
from spear_core.defences.robust import geometric, trimmed
from tests.defences.made import one_class


def test_median_and_trimmed_mean_by_hand():
    points = [[0.0, 9], [1, 8], [2, 7], [3, 6], [9, -9]]
    up = one_class([1, 1, 1, 1, 100], points)
    assert robust_mean(up, Settings(defence="median")).tolist() == [[2, 7]]
    assert robust_mean(up, Settings(defence="trimmed", trim=0.2)).tolist() == [[2, 7]]
    assert robust_mean(up, Settings(defence="trimmed", trim=0.0)).tolist() == [
        [3, pytest.approx(4.2)]
    ]
    four = one_class([1] * 4, points[:4])
    assert robust_mean(four, Settings(defence="median")).tolist() == [[1.5, 7.5]]
    assert trimmed(torch.tensor([[0.0], [4.0]]), torch.ones(2), 0.4).tolist() == [
        2
    ]  # nothing to cut of two
    assert robust_mean(up, Settings(defence="krum")) is None


def test_geometric_median_by_hand():
    corners = torch.tensor([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    ones = torch.ones(4)
    assert geometric(corners, ones).tolist() == pytest.approx([0.5, 0.5])
    # of an equilateral triangle: its centre
    third = torch.tensor([[0.0, 0], [1, 0], [0.5, math.sqrt(3) / 2]])
    assert geometric(third, ones[:3]).tolist() == pytest.approx([0.5, math.sqrt(3) / 6], abs=1e-5)
    # a row in the middle, or one that weighs more than the rest, is the answer
    assert geometric(torch.tensor([[0.0], [1.0], [5.0]]), ones[:3]).tolist() == [1]
    assert geometric(corners, torch.tensor([4.0, 1, 1, 1])).tolist() == [0, 0]
    # two rows of equal weight: half way; duplicates add up; no weight at all counts as equal
    assert geometric(corners[:2], ones[:2]).tolist() == pytest.approx([0.5, 0])
    assert geometric(torch.tensor([[0.0], [0.0], [3.0]]), ones[:3]).tolist() == [0]
    assert geometric(corners, torch.zeros(4)).tolist() == pytest.approx([0.5, 0.5])


@given(seed=st.integers(0, 200))
def test_no_other_point_is_nearer_to_all(seed):
    rng = np.random.default_rng(seed)
    points = torch.tensor(rng.standard_normal((6, 3)), dtype=torch.float32)
    weight = torch.tensor(rng.integers(1, 9, 6), dtype=torch.float32)

    def cost(m):
        return float((weight * (points - m).norm(dim=1)).sum())

    best = geometric(points, weight)
    for _ in range(20):
        step = torch.tensor(0.05 * rng.standard_normal(3), dtype=torch.float32)
        assert cost(best) <= cost(best + step) + 1e-5


def test_counts_weigh_in_the_geometric_median_only_if_they_weigh_at_all():
    up = one_class([9, 1, 1], [[1.0, 0], [0, 1.0], [0, 0.9]])
    by_count, alike = (
        robust_mean(up, Settings(defence="geometric", count_weights=on)) for on in (True, False)
    )
    assert by_count.tolist() == [[1, 0]]
    assert alike[0, 1] > 0.8


def test_a_median_of_zeros_does_not_lose_the_class():
    up = one_class([1, 1, 1], [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    found = estimate(up, Settings(defence="median"))
    assert found.prototypes[0].tolist() == pytest.approx([3**-0.5] * 3)
