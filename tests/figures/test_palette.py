"""Colours of classes: ten that eyes without green cones tell apart, shapes beyond."""

from itertools import combinations

import numpy as np

from spear_core.figures.palette import class_colours, class_symbols

FLOOR = 15  # in CIELAB; about 2 is the least that is seen side by side
DEUTERANOPIA = np.array(  # on linear RGB, Machado, Oliveira and Fernandes (2009), severity 1
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
)
TO_XYZ = np.array(
    [[0.412456, 0.357576, 0.180438], [0.212673, 0.715152, 0.072175], [0.019334, 0.119192, 0.950304]]
)
WHITE = TO_XYZ.sum(1)


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIELAB of linear RGB."""
    xyz = TO_XYZ @ rgb / WHITE
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def nearest(colours):
    """The two that are hardest to tell apart, and how far they are."""
    return min(
        (float(np.linalg.norm(a - b)), i, j)
        for (i, a), (j, b) in combinations(enumerate(colours), 2)
    )


def contrast(colour, ground):
    low, high = sorted(float((TO_XYZ @ linear(c))[1]) for c in (colour, ground))
    return (high + 0.05) / (low + 0.05)


def test_ten_classes_are_told_apart_by_every_eye():
    ten = [linear(colour) for colour in class_colours(10)]
    for seen in (ten, [np.clip(DEUTERANOPIA @ rgb, 0, 1) for rgb in ten]):
        distance, one, other = nearest([lab(rgb) for rgb in seen])
        assert distance >= FLOOR, (one, other)


def test_ten_classes_show_on_a_light_and_on_a_dark_page():
    for colour in class_colours(10):
        assert contrast(colour, "#FFFFFF") > 1.25  # yellow dots are the palest
        assert contrast(colour, "#171614") > 2.9


def test_more_classes_differ_in_colour_and_in_every_ten_in_shape():
    both = list(zip(class_colours(40), class_symbols(40), strict=True))
    assert len(set(both)) == len({colour for colour, _ in both}) == 40
    hues = [class_symbols(40)[i::10] for i in range(10)]
    assert all(len(set(shapes)) == 4 for shapes in hues)  # no shade stands alone
