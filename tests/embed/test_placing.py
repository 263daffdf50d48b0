"""Where vectors are placed on a map."""

import dataclasses

import pytest
import torch

from spear_core import Settings, embed, make_graph, run
from spear_core.embed import Map, placing


def two_groups() -> Map:
    """20 nodes to the right at x = 10, 20 upwards at x = -10, a little spread."""
    angle = torch.cat([torch.linspace(0, 0.1, 20), torch.linspace(1.47, 1.57, 20)])
    x = torch.stack([angle.cos(), angle.sin()], dim=1)
    y = torch.arange(40) // 20
    graph = make_graph(x, torch.zeros(2, 0, dtype=torch.long), y, y >= 0)
    xy = torch.stack([torch.where(y == 0, 10.0, -10.0), torch.linspace(0, 1, 40)], dim=1)
    return dataclasses.replace(embed.preview(graph, 0.0, 0), xy=xy, kind="UMAP")


def test_a_vector_is_placed_among_the_nodes_like_it():
    made = two_groups()
    xy, cosine = embed.place(made, torch.tensor([[3.0, 0.1], [0.0, 5.0]]))
    assert xy[:, 0].tolist() == pytest.approx([10, -10])
    assert cosine.tolist() == pytest.approx([1, 1], abs=1e-4)
    _, cosine = embed.place(made, torch.tensor([[-1.0, -1.0]]))
    assert cosine.item() < made.hollow_below


def test_refining_leaves_the_empty_middle_and_a_preview_as_it_is():
    made = two_groups()
    between = torch.tensor([[1.0, 1.02]])  # a little more upwards: neighbours of both groups
    made = dataclasses.replace(made, xy=torch.cat([made.xy[:20], made.xy[20:] * 0.2]))
    near = placing._nearest(made, between)[0][0]
    assert 0 < int((near < 20).sum()) < 15
    at_first, _ = embed.place(made, between)
    refined, _ = embed.refine(made, between)

    def closest(xy):
        return torch.cdist(xy, made.xy).min()

    assert closest(refined) < closest(at_first)
    first = dataclasses.replace(made, kind="PCA preview")
    assert torch.equal(embed.refine(first, between)[0], at_first)


def test_global_prototypes_lie_in_their_class_and_a_strange_one_is_hollow():
    result = run(Settings(beta=10.0))
    made = embed.ready(result.graph, 0.15, 2)
    xy, cosine = embed.refine(made, result.estimate.prototypes)
    near = torch.cdist(xy, made.xy).topk(15, largest=False).indices
    assert (result.graph.y[near].mode(1).values == torch.arange(10)).all()
    assert (cosine > made.hollow_below).all()
    _, strange = embed.place(made, torch.eye(64)[:3])
    assert (strange < made.hollow_below).all()
