"""The kept readings of the operator's powers."""

import pytest
import torch

from spear_core.powers import Powers


def test_powers_by_hand():
    """Of the number 2 under doubling: 2, 4, 8, of which the tenth is read."""
    made = []

    def double(t, last):
        made.append(t)
        whole = torch.tensor([2.0]) if last is None else 2 * last
        return whole, whole / 10

    powers = Powers()
    assert not powers.ready(0.5, 2)
    got = powers.grow(2, double).mixed(0.5, 2)  # 1/2, 1/4 and 1/4 of them
    assert got.item() == pytest.approx(0.5 * 0.2 + 0.25 * 0.4 + 0.25 * 0.8)
    assert powers.ready(0.9, 2)
    assert not powers.ready(0.9, 3)
    assert powers.mixed(1.0, 2).item() == pytest.approx(0.8)
    powers.grow(3, double)
    assert made == [0, 1, 2, 3]
    powers.let_go()
    assert powers.mixed(1.0, 3).item() == pytest.approx(1.6)
    powers.grow(3, double)
    assert made == [0, 1, 2, 3]
    assert powers.grow(4, double).mixed(1.0, 4).item() == pytest.approx(3.2)
    assert made == [0, 1, 2, 3, 0, 1, 2, 3, 4]  # from the start again
