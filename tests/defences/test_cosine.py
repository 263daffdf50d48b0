"""The cosine filter by hand."""

from spear_core.defences.cosine import in_line
from tests.defences.made import one_class


def test_cosine_drops_what_points_elsewhere():
    up = one_class([1] * 5, [[1.0, 0], [0.98, 0.1], [1, 0.1], [0.9, 0.05], [0, 1.0]])
    assert in_line(up).tolist() == [True] * 4 + [False]
    assert in_line(one_class([1, 1], [[1.0, 0], [0, 1.0]])).all()  # two say nothing
    assert in_line(one_class([1] * 4)).all()  # all alike
    scattered = one_class([1] * 3, [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])  # median is zero
    assert in_line(scattered).all()
