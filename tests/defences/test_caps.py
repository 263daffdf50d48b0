"""Caps by hand, and that a larger lie buys nothing."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core.defences.caps import median_cap, share_cap
from tests.defences.made import one_class, sent


@pytest.mark.parametrize(
    ("counts", "share", "expected"),
    [
        ([700, 2, 1], 0.5, [3, 2, 1]),  # 3 is half of 3 + 2 + 1
        ([700, 7], 0.5, [7, 7]),
        ([700, 7], 0.3, [7, 7]),  # two holders cannot both have less than a half
        ([700, 7], 0.8, [28, 7]),  # 28 is four fifths of 35
        ([700, 700, 2, 1], 0.4, [6, 6, 2, 1]),  # both are cut: 6 is two fifths of 15
        ([5, 4, 4], 0.5, [5, 4, 4]),  # within the share: nothing is cut
        ([700], 0.3, [700]),  # a lone holder is all there is
        ([9, 0], 0.5, [9, 0]),  # who claims nothing is no second holder
        ([0, 0], 0.5, [0, 0]),
        ([10, 5], 1.0, [10, 5]),
    ],
)
def test_share_cap_by_hand(counts, share, expected):
    assert share_cap(one_class(counts), share).tolist() == pytest.approx(expected)


@given(
    counts=st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=8), share=st.floats(0.01, 1.0)
)
def test_share_cap_holds_and_is_as_large_as_it_can_be(counts, share):
    capped = share_cap(one_class(counts), share).double()
    attainable = max(share, 1 / len(counts))
    assert (capped <= attainable * capped.sum() * (1 + 1e-4)).all()
    assert (capped > 0).all()
    cut = capped < torch.tensor(counts).double() * (1 - 1e-6)
    if cut.any():  # those that were cut stand exactly at the share, unless all are equal
        assert torch.allclose(capped[cut], attainable * capped.sum(), rtol=1e-4)


def test_inflating_by_more_changes_nothing_under_the_cap():
    modest, wild = one_class([70, 5, 2]), one_class([10**9, 5, 2])
    assert torch.equal(share_cap(modest, 0.5), share_cap(wild, 0.5))


def test_median_cap_limits_what_a_client_claims_in_all():
    rows = [(0, 0, 4, [1.0]), (1, 0, 2, [1.0]), (1, 1, 2, [1.0]), (2, 0, 300, [1.0])]
    capped = median_cap(sent([*rows, (2, 1, 100, [1.0])]))
    assert capped.tolist() == [4, 2, 2, 3, 1]  # totals 4, 4, 400: the last is cut to 4, as 3 : 1


def test_median_cap_counts_only_clients_that_sent_something():
    assert median_cap(sent([(0, 0, 4, [1.0]), (9, 0, 4, [1.0])])).tolist() == [4, 4]
