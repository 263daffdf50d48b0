"""What one node sees, by hand on five nodes and against the plain way on random graphs."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from spear_core import Partition, Settings, SpearError, load, make_graph, run, run_on
from spear_core.explain import neighbourhood as around
from spear_core.explain import node as look
from spear_core.explain.words import explain
from spear_core.explicit import run_explicit
from spear_core.figures import smooth, split
from spear_core.measures.homophily import node_homophily
from spear_core.propagate import propagate
from tests.conftest import random_graph

HALF = Settings(clients=1, alpha=0.5, steps=1)


def test_rows_of_the_smoothing_by_hand(five):
    rows = look.smoothing_rows(five, 2, alpha=0.5, steps=2)
    by_hand = [[0, 0, 1, 0, 0], [0, 6, 24, 6, 0], [1, 5, 24, 5, 1]]
    expected = torch.tensor(by_hand) / torch.tensor([[1], [36], [36]])
    torch.testing.assert_close(rows, expected)


@pytest.mark.parametrize("directed", [False, True])
def test_rows_are_those_of_the_whole_matrix(directed):
    graph = random_graph(5, directed)
    whole = propagate(graph.operator, torch.eye(graph.num_nodes), 0.7, 3)
    for node in (0, 3, 17, graph.num_nodes - 1):
        rows = look.smoothing_rows(graph, node, 0.7, 3)
        torch.testing.assert_close(rows[-1], whole[node])
        torch.testing.assert_close(rows.sum(1), torch.ones(4))


def test_similarities_by_hand(five):
    view = look.inspect(run(HALF, five), 2)  # z = (5, 1) / 6; g = (1, 0) and (1, 11) / √122
    assert view.before.tolist() == pytest.approx([1, 1 / math.sqrt(122)])
    assert view.after.tolist() == pytest.approx([5 / math.sqrt(26), 16 / math.sqrt(26 * 122)])
    assert (view.true, view.predicted, view.neighbours.tolist()) == (0, 0, [1, 3])


def test_the_sentences_carry_those_numbers(five):
    result = run(HALF, five)
    assert explain(result, look.inspect(result, 2)) == (
        "1 of 2 neighbours is of its own class 0, 1 of class 1. Smoothing moved its similarity to "
        "class 0 from 1.00 to 0.98, so it wins over 1 (0.28): right."
    )


def test_neighbours_can_lead_astray(five):
    x = torch.tensor([[1.0, 0], [1, 0], [0.4, 0.6], [0, 1], [0, 1]])
    edges = torch.tensor([[2, 2], [0, 1]])  # node 2 looks at 0 and 1, no one looks at it
    graph = make_graph(x, edges, torch.tensor([0, 0, 1, 1, 1]), five.train, test=five.test)
    result = run(replace(HALF, alpha=0.9, steps=3), graph)
    said = explain(result, look.inspect(result, 2))
    assert "0 of 2 neighbours are of its own class 1, 2 of class 0." in said
    assert said.endswith("Without smoothing it would be right: the neighbours led it astray.")


def test_without_smoothing_nothing_is_said_to_move(five):
    for still in (replace(HALF, alpha=0.0), replace(HALF, steps=0)):
        result = run(still, five)
        assert "Its similarity to class 0 is 1.00" in explain(result, look.inspect(result, 2))


def test_odd_nodes_are_explained():
    graph = make_graph(
        x=torch.tensor([[1.0, 0], [0, 1], [0, 0], [0, 1]]),
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        y=torch.tensor([0, 1, 1, 2]),
        train=torch.tensor([True, True, False, False]),
        test=torch.ones(4, dtype=torch.bool),
    )
    result = run(HALF, graph)
    empty = explain(result, look.inspect(result, 2))
    assert empty == (
        "It has no neighbour, so smoothing leaves it as it is. It is similar to no prototype, so "
        "class 0 wins by its place: wrong."
    )
    unseen = explain(result, look.inspect(result, 3))
    assert unseen.endswith("class 2 has no training node and cannot win: wrong.")
    alone = run(HALF, graph.replace(train=torch.tensor([True, False, False, False])))
    assert "no other class has a prototype: right" in explain(alone, look.inspect(alone, 0))
    for one in (2, 3):
        smooth.similarities(result, look.inspect(result, one))
        smooth.neighbourhood(result, look.inspect(result, one))


def test_equal_to_the_explicit_way():
    graph, settings = random_graph(2), Settings(clients=3, alpha=0.6, steps=3)
    result = run(settings, graph)
    plain = run_explicit(result.partition, settings)
    for node in range(graph.num_nodes):
        view = look.inspect(result, node)
        after = view.after.double().nan_to_num(-torch.inf)  # a class nobody holds
        torch.testing.assert_close(after, plain.scores[node], atol=1e-5, rtol=0)
        assert view.predicted == int(result.prediction.labels[node])


def test_who_built_a_prototype_by_hand(five):
    graph = five.replace(train=torch.ones(5, dtype=torch.bool))
    partition = Partition(graph, torch.tensor([0, 1, 0, 0, 1]), 2)
    makers = look.builders(run_on(partition, Settings(clients=2)), 0)
    assert (makers.client, makers.count) == ([0, 1], [2, 1])
    assert makers.weight == pytest.approx([1 / 2, 2 / 3])
    assert makers.share == pytest.approx([5 / 9, 4 / 9])  # ω = 2·½ + 1·⅔ and 1·⅓ + 2·½


def test_weight_by_class_by_hand(five):
    shares = look.class_shares(five, look.inspect(run(HALF, five), 2))
    expected = torch.tensor([[0, 0, 1], [1 / 6, 1 / 6, 2 / 3]])
    torch.testing.assert_close(shares, expected)


def test_share_of_alike_neighbours(five):
    assert node_homophily(five).tolist() == [1, 1, 0.5, 0.5, 1]


def test_two_rings_around_a_node(five):
    part = around.ego(five, 2)
    assert part.nodes == [2, 1, 3, 0, 4]
    assert part.depth == [0, 1, 1, 2, 2]
    assert part.edges == [(0, 1), (0, 2), (1, 3), (2, 4)]
    away = [math.hypot(*place) for place in part.rings()]
    assert away == pytest.approx(part.depth)


def test_a_hub_is_drawn_in_part():
    edges = torch.stack([torch.zeros(100, dtype=torch.int64), torch.arange(1, 101)])
    both = torch.cat([edges, edges.flip(0)], dim=1)
    y = torch.arange(101) % 4
    hub = make_graph(torch.rand(101, 3), both, y, torch.ones(101, dtype=torch.bool))
    part = around.ego(hub, 0)
    assert (len(part.nodes), part.left_out) == (37, 64)
    assert set(hub.y[part.nodes].tolist()) == {0, 1, 2, 3}


def test_a_sample_is_connected_and_always_the_same():
    graph = load(Settings())
    part, at = around.sample_places(graph)
    assert len(part.nodes) == len(set(part.nodes)) == len(at) == 90
    assert all(0 <= p < i for i, p in enumerate(part.parent) if i)
    assert around.sample(graph).nodes == part.nodes
    assert len(set(graph.y[part.nodes].tolist())) > 2


def test_wrong_and_right_ones_come_round():
    result = run(Settings())
    y, said = result.graph.y[result.prediction.nodes], result.prediction.labels
    wrong = result.prediction.nodes[y != said].tolist()
    walked, node = [], -1
    for _ in range(len(wrong) + 1):
        node = look.find(result, right=False, after=node)
        walked.append(node)
    assert walked == [*wrong, wrong[0]]
    perfect = run(Settings(clients=1, alpha=0.0), random_graph(1, classes=1))
    assert look.find(perfect, right=False) is None


@pytest.mark.parametrize("node", [-1, 5])
def test_an_id_that_is_not_there_is_one_sentence(five, node):
    with pytest.raises(SpearError, match=f"There is no node {node} in five; use 0 to 4"):
        look.inspect(run(HALF, five), node)


ON_MANY = pytest.mark.parametrize(
    "settings",
    [
        Settings(steps=0),
        Settings(clients=1000, beta=1.0, alpha=0.9, steps=12),
        Settings(dataset="karate", clients=3, steps=9),
        Settings(dataset="synthetic", nodes=300, classes=40, labels_per_class=1),
    ],
    ids=["T = 0", "many clients", "karate", "many classes"],
)


@ON_MANY
def test_every_figure_shows_what_was_measured(settings):
    result, pinned = run(settings), run(Settings())
    held, graph = result.partition, result.graph
    for training, counts in ((False, held.counts), (True, held.train_counts)):
        cells = [n for row in split.holdings(result, training).data[0].z for n in row if n == n]
        assert sorted(cells) == sorted(counts[counts > 0].tolist())
    train, other, then = split.sizes(result, pinned=pinned).data
    assert sum(train.y) == len(graph.train_nodes)
    assert sum(train.y) + sum(other.y) == graph.num_nodes
    assert sorted(then.y) == sorted(pinned.partition.sizes.tolist())
    dots = [d for d in split.homophily(result, pinned=pinned).data if d.mode == "markers"]
    for dot, one in zip(dots, (pinned, result), strict=True):
        assert list(dot.y) == [v for v in one.metrics.client_homophily if v is not None]
    part, _ = around.sample_places(graph)
    marks = [d for d in split.small_graph(result).data if d.mode == "markers+text"]
    pairs = [pair for d in marks for pair in zip(d.customdata, d.text, strict=True)]
    shown = {node: (owner, label) for (node, owner, _), label in pairs}
    assert shown == {n: (int(held.owner[n]), str(int(graph.y[n]))) for n in part.nodes}


@ON_MANY
def test_every_figure_of_a_node_shows_what_was_measured(settings):
    result = run(settings)
    view, graph = look.inspect(result, 1), result.graph
    marks = [d for d in smooth.neighbourhood(result, view).data if d.mode == "markers+text"]
    weight = {node: w for d in marks for node, _, w in d.customdata}
    assert {1, *view.neighbours.tolist()[:5]} <= set(weight)
    assert all(w == pytest.approx(float(view.rows[-1][node])) for node, w in weight.items())
    _, before, after = smooth.similarities(result, view).data
    assert after.x[0] == max(after.x) == pytest.approx(float(view.after[view.predicted]))
    assert set(before.x) <= set(view.before.tolist())
    [share] = smooth.built_by(look.builders(result, view.predicted)).data
    assert sum(share.x) == pytest.approx(100, abs=1e-3)
    stack = [bar.y for bar in smooth.mixture_by_class(result, view).data]
    assert sum(map(np.asarray, stack)) == pytest.approx(np.full(len(view.rows), 100), abs=1e-3)
    plain = run(replace(settings, alpha=0.0))
    for bars, one in zip(smooth.by_homophily(result, plain).data, (plain, result), strict=True):
        nodes = one.prediction.nodes
        alone = int(node_homophily(graph)[nodes].isnan().sum())
        number = [int(x.split("<br>")[1].split()[0].replace(",", "")) for x in bars.x]
        assert sum(number) == len(nodes) - alone
        right = sum(n * y / 100 for n, y in zip(number, bars.y, strict=True) if n)
        assert alone or right == pytest.approx(one.metrics.accuracy * len(nodes))
    if settings.dataset == "karate":
        figure, steps = smooth.spread(result, view), smooth.panels(settings.steps, most=4)
        assert [note.text for note in figure.layout.annotations] == [f"t = {t}" for t in steps]
        drawn = [w for _, w in figure.data[1].customdata]
        assert sum(drawn) == pytest.approx(len(steps))  # of a graph that is drawn whole
    if settings.dataset == "digits":
        said = str(smooth.pictures(result, view).to_dict())
        assert all(f"t = {t}" in said for t in smooth.panels(settings.steps, 4))
        assert f"prototype<br>{view.predicted}" in said
