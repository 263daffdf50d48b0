"""The map as a figure, and in words."""

import dataclasses

import pytest
import torch

from spear_core import Settings, embed, run
from spear_core.figures.map import alt_text, distances, map_figure
from spear_core.figures.palette import class_colours


@pytest.fixture
def shown():
    result = run(Settings())
    return embed.ready(result.graph, 0.15, 2), result


def traces(figure, name):
    return [t for t in figure.data if t.name == name]


def test_the_figure_carries_every_prototype(shown):
    made, result = shown
    figure = map_figure(made, result)
    (local,), (glob,) = traces(figure, "local"), traces(figure, "global")
    up = result.uploads
    pairs = list(zip(up.client.tolist(), up.label.tolist(), strict=True))
    assert [(d["client"], d["label"]) for d in local.customdata] == pairs
    assert f"n = {up.counts[0]}" in local.hovertext[0]
    big, small = up.counts.argmax(), up.counts.argmin()
    assert local.marker.size[big] > local.marker.size[small]
    assert len(glob.x) == 10
    assert sum(len(t.x) for t in figure.data if t.type == "scattergl") == 1797
    assert "UMAP" in figure.layout.annotations[0].text
    assert "PCA preview" in (
        map_figure(embed.preview(result.graph, 0.15, 2), result).layout.annotations[0].text
    )
    assert not traces(map_figure(made, result, show="global"), "local")
    assert not traces(map_figure(made, result, show="local"), "global")


@pytest.mark.slow
@pytest.mark.parametrize("colour", ["class", "client", "right or wrong"])
@pytest.mark.parametrize("classes", [3, 12, 40])
def test_the_legend_is_short(colour, classes):
    result = run(Settings(dataset="synthetic", nodes=400, classes=classes, clients=30))
    figure = map_figure(embed.preview(result.graph, 0.15, 2), result, colour=colour)
    assert len([t for t in figure.data if t.showlegend is not False]) <= 12


def test_right_or_wrong_counts_the_wrong_nodes(shown):
    made, result = shown
    figure = map_figure(made, result, colour="right or wrong")
    (wrong,) = traces(figure, "wrong")
    labels = result.every_prediction.labels
    assert len(wrong.x) == int((labels != result.graph.y).sum())


def test_a_strange_prototype_is_hollow_with_its_cosine(shown):
    made, result = shown
    strict = dataclasses.replace(made, hollow_below=2.0, key="strict")
    (local,) = traces(map_figure(strict, result), "local")
    assert set(local.marker.symbol) == {"diamond-open"}
    assert "unusually low" in local.hovertext[0]
    assert "drawn hollow" in alt_text(strict, result)
    assert "drawn hollow" not in alt_text(made, result)


def test_trails_join_what_is_in_both_results(shown):
    made, result = shown
    earlier = run(Settings(alpha=0.6))  # the same split, so the same pairs
    (trail,) = traces(map_figure(made, result, before=earlier), "trail")
    expected = set()
    for name in ("local", "global"):
        (was,) = traces(map_figure(made, earlier), name)
        (now,) = traces(map_figure(made, result), name)
        for a, b, c, d in zip(was.x, was.y, now.x, now.y, strict=True):
            if max(abs(a - c), abs(b - d)) > 1e-3:  # else there is nothing to see
                expected.add((float(a), float(b), float(c), float(d)))
    ends = (trail.x[0::3], trail.y[0::3], trail.x[1::3], trail.y[1::3])
    assert len(expected) > 15
    assert set(zip(*ends, strict=True)) == expected
    other = run(Settings(dataset="karate", clients=3))
    assert not traces(map_figure(made, result, before=other), "trail")


def test_the_chosen_prototype_has_a_ring_and_a_line_to_its_peers(shown):
    made, result = shown
    up = result.uploads
    held = torch.bincount(up.label, minlength=10)
    shared = int((held[up.label] > 1).nonzero()[0])
    pair = (int(up.client[shared]), int(up.label[shared]))
    figure = map_figure(made, result, chosen=pair)
    (ring,), (line,), (local,) = (traces(figure, n) for n in ("chosen", "peers", "local"))
    assert (ring.x[0], ring.y[0]) == (local.x[shared], local.y[shared])
    xy, _ = embed.refine(made, result.estimate.peers[shared : shared + 1])
    assert [line.x[1], line.y[1]] == pytest.approx((xy[0] / made.radius).tolist(), abs=1e-5)
    absent = map_figure(made, result, chosen=(99, 0))
    assert not traces(absent, "chosen")


def test_distances_are_those_of_the_metrics(shown):
    _, result = shown
    table, metrics = distances(result), result.metrics
    assert list(table["class"]) == [str(c) for c in range(10)]
    means = [table[name].mean() for name in ("local", "mean", "global")]
    expected = [metrics.error_local, metrics.error_mean, metrics.error_spear]
    assert means == pytest.approx(expected, abs=1e-6)


def test_alt_text_says_the_numbers(shown):
    made, result = shown
    words = alt_text(made, result)
    assert words.startswith("UMAP of 1,797 nodes of digits in 10 classes")
    assert f"{len(result.uploads.client)} local prototypes of 10 clients" in words
    assert f"{result.metrics.error_spear:.3f}" in words


def test_colours_differ():
    assert len(set(class_colours(40))) == 40
    assert class_colours(8) == class_colours(40)[:8]
    assert len(class_colours(100)) == 100
