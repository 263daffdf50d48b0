"""The nodes on a map: which they are, what their features depend on, and the pauses between."""

import pytest
import torch

from spear_core import Settings, embed, load, make_graph
from spear_core.embed import keep, nodes
from spear_core.memory.sizes import bytes_of
from spear_core.powers import MOST_KEPT, Powers
from tests.conftest import random_graph
from tests.embed.conftest import explicit


def test_a_small_graph_shows_every_node():
    assert torch.equal(embed.choose(load(Settings())), torch.arange(1797))


def test_a_large_graph_shows_every_class_in_proportion():
    y = torch.tensor([0] * 9000 + [1] * 2998 + [2] * 2)
    x, train = torch.rand(12000, 3), torch.ones(12000, dtype=torch.bool)
    nodes = embed.choose(make_graph(x, torch.zeros(2, 0, dtype=torch.long), y, train))
    assert len(nodes) <= embed.MOST
    assert torch.bincount(y[nodes]).tolist() == [2247, 748, 1]
    assert torch.equal(nodes, nodes.unique())
    again = embed.choose(make_graph(x, torch.zeros(2, 0, dtype=torch.long), y.clone(), train))
    assert torch.equal(nodes, again)


def test_the_map_depends_on_features_edges_alpha_and_steps_alone():
    graph = load(Settings())
    key = embed.preview(graph, 0.15, 2).key
    relabelled = graph.replace(y=graph.y.flip(0), train=graph.test, test=graph.train)
    assert embed.preview(relabelled, 0.15, 2).key == key
    assert embed.preview(load(Settings(seed=7)), 0.15, 2).key == key
    one_pixel = graph.x.clone()
    one_pixel[5, 20] += 8
    others = (
        embed.preview(graph, 0.2, 2),
        embed.preview(graph, 0.15, 3),
        embed.preview(graph.replace(x=one_pixel), 0.15, 2),
        embed.preview(graph.replace(edge_index=graph.edge_index[:, :-1]), 0.15, 2),
    )
    assert len({key, *(m.key for m in others)}) == 5
    assert embed.preview(graph, 0.0, 2).key == embed.preview(graph, 0.5, 0).key


def test_the_last_bit_of_a_feature_does_not_change_the_key():
    graph = load(Settings(dataset="synthetic"))
    rounded = graph.x * (1 + 6e-8 * torch.randn(graph.x.shape, generator=nodes.generator()))
    assert not torch.equal(rounded, graph.x)
    assert keep.digest(rounded) == keep.digest(graph.x)


@pytest.mark.parametrize("steps", [0, 2])
def test_background_rows_are_the_smoothed_features(steps):
    graph = load(Settings())
    made = embed.preview(graph, 0.3, steps)
    z = torch.nn.functional.normalize(explicit(graph, 0.3, steps), dim=1)
    torch.testing.assert_close(made.rows, z, atol=1e-5, rtol=0)


@pytest.mark.parametrize("which", [[0, 5, 9], range(40)])
def test_any_alpha_is_mixed_from_the_same_powers(which):
    graph = random_graph(3)
    for alpha, steps in ((0.3, 2), (0.9, 6), (0.15, 20), (0.0, 3), (0.5, 1), (0.7, 0), (0.9, 4)):
        z = explicit(graph, alpha, steps)[list(which)]
        rows = nodes.smoothed(graph, torch.tensor(which), alpha, steps)
        torch.testing.assert_close(rows, z, atol=1e-6, rtol=0)


def test_far_out_no_power_is_kept_and_the_rows_are_the_same():
    """Memory does not grow with T: 300 readings took 840 MB on Cora."""
    graph, which, pauses = random_graph(3), torch.arange(30), []
    few = nodes.smoothed(graph, which, 0.99, MOST_KEPT)
    before = bytes_of(graph)
    rows = nodes.smoothed(graph, which, 0.99, 300, lambda: pauses.append(1))
    torch.testing.assert_close(rows, explicit(graph, 0.99, 300)[which], atol=1e-6, rtol=0)
    assert not torch.equal(rows, few)
    assert bytes_of(graph) == before
    assert pauses


def test_a_pause_comes_before_every_piece_and_may_leave():
    graph, seen = load(Settings(dataset="synthetic", nodes=60, features=70)), []

    def left():
        seen.append("pause")
        if len(seen) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        embed.preview(graph, 0.4, 4, left)  # X and ÂX are there then
    made = embed.preview(graph, 0.4, 4, lambda: seen.append("on"))
    assert seen == ["pause"] * 3 + ["on"] * 3  # Â²X, Â³X, Â⁴X
    z = torch.nn.functional.normalize(explicit(graph, 0.4, 4), dim=1)
    torch.testing.assert_close(made.rows, z, atol=1e-5, rtol=0)


def test_nobody_waits_for_a_pause():
    """A page may want the same rows while work in the background pauses."""
    graph, held = random_graph(11), []

    def pause():
        powers = [one for one in graph.kept.contents() if isinstance(one, Powers)]
        held.extend(one._guard.locked() for one in powers)

    nodes.smoothed(graph, nodes.choose(graph), 0.5, 4, pause)
    assert held.count(False) >= 5
    assert True not in held
