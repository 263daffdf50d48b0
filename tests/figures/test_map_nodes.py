"""What a map can tell of each node: small arrays in the order of the traces, checked by hand."""

import json

import numpy as np
import pytest
import torch

from spear_core import Graph, Settings, embed, run
from spear_core.explain import node as look
from spear_core.explain.classes import share_right
from spear_core.figures.map import map_figure
from spear_core.figures.map.asked import place_of, similar
from spear_core.figures.map.nodes import NONE, SCALE, best_two, drawn
from spear_core.figures.map.places import distances, placed
from spear_core.memory.sizes import bytes_of


@pytest.fixture(scope="module")
def shown():
    result = run(Settings())
    return embed.ready(result.graph, 0.15, 2), result


def told(figure):
    return figure.layout.meta["nodes"]


def square():
    """Two pairs of nodes with one feature each and a fifth between, no edges, α without effect."""
    x = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.6, 0.8]])
    y = torch.tensor([0, 0, 1, 1, 0])
    train = torch.tensor([True, False, True, False, False])
    edges = torch.empty(2, 0, dtype=torch.int64)
    graph = Graph(x, edges, y, train, torch.zeros_like(train), ~train, name="square")
    return run(Settings(dataset="karate", clients=1, alpha=0.0), graph)


def test_the_two_best_classes_by_hand():
    result = square()
    plane = embed.preview(result.graph, 0.0, 2)
    named, rival, best, second = best_two(plane, result)
    assert named.tolist() == [0, 0, 1, 1, 1]
    assert rival.tolist() == [1, 1, 0, 0, 0]
    assert best.tolist() == [SCALE, SCALE, SCALE, SCALE, 0.8 * SCALE]
    assert second.tolist() == [0, 0, 0, 0, 0.6 * SCALE]
    assert share_right(result, 0) == "class 0: 50.0 % right, 1 of 2 test nodes; 1 called 1"
    assert share_right(result, 1) == "class 1: 100.0 % right, 1 of 1 test nodes"


def test_a_single_class_has_no_runner_up():
    graph = run(Settings(dataset="karate", clients=1)).graph
    lone = run(
        Settings(dataset="karate", clients=1, labels_per_class=0),
        Graph(graph.x, graph.edge_index, graph.y * 0, graph.train, graph.val, graph.test, "lone"),
    )
    plane = embed.preview(lone.graph, 0.15, 2)
    assert set(best_two(plane, lone)[3].tolist()) == {NONE}


@pytest.mark.parametrize("colour", ["class", "client", "right or wrong"])
def test_the_arrays_follow_the_traces_and_agree_with_the_inspector(shown, colour):
    plane, result = shown
    figure = map_figure(plane, result, colour=colour)
    known, place = told(figure), dict(zip(plane.nodes.tolist(), plane.xy.tolist(), strict=True))
    traces = [t for t in figure.data if t.meta == "nodes"]
    x = np.concatenate([t.x for t in traces])
    assert len(x) == len(known["id"]) == 1797
    for n in (0, 298, 1796):
        node = int(known["id"][n])
        assert x[n] == pytest.approx(place[node][0] / plane.radius)
        view = look.inspect(result, node)
        assert (known["label"][n], known["named"][n]) == (view.true, view.predicted)
        assert known["client"][n] == result.partition.owner[node]
        assert known["roles"][known["role"][n]] == look.role_of(result.graph, node)
        top = view.after.sort(descending=True)
        for name, i in (("best", 0), ("second", 1)):
            assert known[name][n] / SCALE == pytest.approx(float(top.values[i]), abs=2e-4)
        assert known["rival"][n] == top.indices[1]


def test_it_is_small_for_three_thousand_nodes():
    result = run(Settings(dataset="synthetic", nodes=3000, classes=40, clients=300))
    figure = map_figure(embed.preview(result.graph, 0.15, 2), result)
    packed = json.loads(figure.to_json())["layout"]["meta"]
    assert len(json.dumps(packed)) < 70_000


def test_a_sample_says_so():
    result = run(Settings(dataset="synthetic", nodes=4000))
    plane = embed.preview(result.graph, 0.15, 2)
    assert drawn(plane) == f"{len(plane.nodes):,} of 4,000 nodes"
    assert drawn(plane) in map_figure(plane, result).layout.annotations[0].text
    absent = next(n for n in range(4000) if n not in set(plane.nodes.tolist()))
    spot = place_of(plane, result, look.inspect(result, absent))
    assert np.isfinite(spot).all()


def test_the_asked_node_has_its_neighbours_and_those_most_like_it(shown):
    plane, result = shown
    view = look.inspect(result, 298)
    figure = map_figure(plane, result, view=view)
    lines, alike, ring = (
        next(t for t in figure.data if t.name == name) for name in ("neighbours", "alike", "asked")
    )
    own = plane.xy[298] / plane.radius
    assert [ring.x[0], ring.y[0]] == pytest.approx(own.tolist())
    expected = plane.xy[view.neighbours.sort().values] / plane.radius
    ends = np.stack([lines.x[1::3], lines.y[1::3]], axis=1).astype(float)
    np.testing.assert_allclose(ends, expected.numpy(), atol=1e-6)
    found = similar(plane, result, view)
    z = torch.nn.functional.normalize(result.z, dim=1)
    cosine = z @ z[298]
    cosine[298] = -1
    best = cosine.topk(5)
    assert [node for node, _ in found] == best.indices.tolist()
    assert [value for _, value in found] == pytest.approx(best.values.tolist(), abs=1e-5)
    assert len(alike.x) == 5


def test_what_is_placed_and_named_is_kept_with_the_run_and_counted():
    result = run(Settings(dataset="karate", clients=3))
    plane, before = embed.preview(result.graph, 0.15, 2), bytes_of(result.kept)
    places, two, far = placed(plane, result), best_two(plane, result), distances(result)
    assert placed(plane, result) is places
    assert best_two(plane, result) is two
    assert bytes_of(result.kept) >= before + bytes_of(places, two) + far.iloc[:, 1:].size
    assert bytes_of(result) >= bytes_of(result.kept)
