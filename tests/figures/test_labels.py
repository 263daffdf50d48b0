"""Labels of figures have room: none lies over another, none is left out."""

import numpy as np
import pytest

from spear_core import Settings, figures, run
from spear_core.figures.heat import leaning
from spear_core.figures.map import labels
from spear_core.figures.scores import GAP, LETTER
from tests.conftest import need

START = {"left": 1.0, "center": 0.5, "right": 0.0}  # parts of a name left of its mark
TOPICS = ("Case based", "Genetic algorithms", "Neural networks", "Probabilistic methods")
TOPICS += ("Reinforcement learning", "Rule learning", "Theory")


def spans(figure):
    """The names above and below the line, each from where to where."""
    found = {"top": [], "bottom": []}
    for trace in figure.data:
        if trace.text and trace.textposition:
            side, where = trace.textposition.split()
            wide = LETTER * len(trace.text[0])
            shift = {"left": -GAP, "center": 0, "right": GAP}[where]
            low = trace.x[0] + shift - START[where] * wide
            found[side].append((low, low + wide))
    return found


@pytest.mark.parametrize("pinned", [0.0, 0.3, 0.531, 0.55, 0.6, 0.632, 0.99, 1.0])
def test_names_on_the_line_of_accuracy_never_meet(pinned):
    others = {"plain mean of clients": 0.531, "pooled": 0.702}
    found = spans(figures.accuracy_strip(0.632, [0.63], others, pinned))
    assert sum(map(len, found.values())) >= 2 + (abs(pinned - 0.632) > 0.1)  # where there is room
    for side in found.values():
        for (_, high), (low, _) in zip(sorted(side), sorted(side)[1:], strict=False):
            assert high < low


def test_long_class_names_lean_and_short_ones_stand():
    assert leaning(TOPICS)["tickangle"] < 0
    assert leaning(tuple("0123456789"))["tickangle"] == 0


def test_every_class_is_named_under_the_weights():
    need("Cora")
    figure = figures.weights(run(Settings(dataset="Cora")))
    assert len(figure.layout.xaxis.ticktext) == 7
    assert max(map(len, figure.layout.xaxis.ticktext)) <= 14
    assert figure.layout.margin.l >= 40  # else the first name, leaning, has no room


def test_pictures_have_one_size_whatever_the_clients_hold():
    sizes = set()
    for clients, beta in ((2, 10.0), (10, 0.05), (50, 10.0)):
        result = run(Settings(dataset="digits", clients=clients, beta=beta))
        figure = figures.pictures(result, 3)
        sizes.add((figure.layout.height, len(list(figure.select_xaxes()))))
        assert "true<br>centroid" in [note.text for note in figure.layout.annotations]
    assert len(sizes) == 1
    largest = int(result.uploads.counts[result.uploads.label == 3].max())
    assert any(note.text.endswith(f"n = {largest}") for note in figure.layout.annotations)


def boxes(found, xy, names, spans, screen):
    """Where each name that is written lies on a screen of this size, in px."""
    out = []
    for (text, side), (x, y), name in zip(found, xy.tolist(), names, strict=True):
        if text:
            assert name in text
            at = (screen[0] * x / spans[0], -screen[1] * y / spans[1])
            out.append(labels._box(at, side, labels.LETTER * len(name)))
    return out


@pytest.mark.parametrize("seed", range(5))
def test_no_name_on_a_map_lies_over_another(seed):
    xy = np.random.default_rng(seed).normal(0, 0.25, (7, 2))
    spans = (2.0, 2.0)
    found = labels.named(xy, TOPICS, spans)
    assert sum(bool(text) for text, _ in found) >= 5  # there is room for most
    placed = boxes(found, xy, TOPICS, spans, labels.SCREEN)
    assert not any(labels._meet(a, b) for i, a in enumerate(placed) for b in placed[:i])


def test_a_name_stands_above_its_place_where_there_is_room_and_is_left_out_where_there_is_none():
    apart = labels.named(np.array([[0.0, 0.0], [1.0, 1.0]]), ("a", "b"), (2.0, 2.0))
    assert [side for _, side in apart] == ["top center"] * 2
    heap = labels.named(np.zeros((12, 2)), ["Reinforcement learning"] * 12, (2.0, 2.0))
    assert {text for text, _ in heap[8:]} == {""}
