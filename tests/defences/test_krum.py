"""Krum and multi-Krum by hand."""

from spear_core.defences.krum import nearest
from tests.defences.made import one_class


def test_krum_keeps_the_row_in_the_middle_of_the_crowd():
    up = one_class([1] * 5, [[0.0, 0], [0.1, 0], [0.2, 0], [0.3, 0], [1, 1]])
    # five holders allow one liar, so two neighbours: 0.05, 0.02, 0.02, 0.05, far
    assert nearest(up, 3, several=False).tolist() == [False, True, True, False, False]  # a tie
    assert nearest(up, 3, several=True).tolist() == [True, True, True, True, False]


def test_krum_with_few_holders():
    two = one_class([1, 9], [[1.0, 0], [0, 1.0]])
    three = one_class([1] * 3, [[1.0, 0], [0.9, 0], [0, 1.0]])
    assert nearest(two, 3, several=False).all()  # they tie
    assert nearest(three, 3, several=False).tolist() == [True, True, False]  # one neighbour each
    assert nearest(three, 3, several=True).all()  # no liar can be allowed for
    assert nearest(one_class([4]), 3, several=False).all()
