"""Graphs of one's own: what is refused, what is taken, what is put right and said."""

import pytest
import torch

from spear_core import Settings, SpearError, make_graph, run


def bad_graph(**changes):
    parts = {
        "x": torch.rand(4, 3),
        "edge_index": torch.tensor([[0, 1], [1, 0]]),
        "y": torch.tensor([0, 1, 0, 1]),
        "train": torch.tensor([True, True, False, False]),
        **changes,
    }
    return make_graph(**parts)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"x": torch.full((4, 3), float("inf"))}, "NaN or infinite features"),
        ({"x": torch.rand(3, 3)}, "one row of features a node"),
        ({"y": None}, "has no usable labels"),
        ({"y": torch.rand(4)}, "has no labels"),
        ({"y": torch.tensor([0, -1, 0, 1])}, "1 nodes have no label"),
        ({"train": torch.zeros(4, dtype=torch.bool)}, "has no training node"),
        ({"train": torch.ones(3, dtype=torch.bool)}, "train mask"),
        ({"edge_index": torch.tensor([[0], [9]])}, "nodes outside 0 to 3"),
        ({"edge_index": torch.tensor([[0, 1], [1, 2], [2, 3]])}, r"give whole numbers of shape"),
        ({"edge_index": None}, "no usable edges"),
        ({"train": None}, "no usable train mask"),
        ({"val": torch.ones(3, dtype=torch.bool)}, "val mask"),
        ({"x": 1e300 * torch.rand(4, 3, dtype=torch.float64)}, "NaN or infinite features"),
        ({"class_names": ("only",)}, "name them all"),
    ],
)
def test_a_graph_that_cannot_be_run(changes, words):
    with pytest.raises(SpearError, match=words):
        bad_graph(**changes)


def test_arrays_lists_and_other_sparse_layouts_are_taken():
    usual = bad_graph()
    x = usual.features.to_dense()
    for given in (x.numpy(), x.tolist(), x.to_sparse_coo(), x.to_sparse_csc(), x.double()):
        graph = bad_graph(x=given, y=[0, 1, 0, 1], train=[1, 1, 0, 0])
        assert torch.allclose(graph.features.to_dense(), x, atol=1e-6)
        assert graph.test.tolist() == [False, False, True, True]
        assert run(Settings(clients=2, beta=1), graph).metrics.accuracy is not None


@pytest.mark.parametrize("scale", [1e-30, 1e20, 1e37])
@pytest.mark.parametrize("dense", [True, False])
def test_the_scale_of_features_does_not_matter(scale, dense):
    x = torch.rand(4, 6) * (1 if dense else torch.tensor([1, 0, 0, 0, 0, 0]))
    one, other = bad_graph(x=x), bad_graph(x=x * scale)
    assert torch.allclose(one.features.to_dense(), other.features.to_dense(), atol=1e-6)


def test_oddities_are_handled_and_said():
    x = torch.rand(5, 3)
    x[4] = 0
    graph = make_graph(
        x,
        torch.tensor([[0, 0, 1, 2, 0], [1, 1, 0, 2, 1]]),
        torch.tensor([0, 1, 2, 0, 1]),
        torch.tensor([True, True, False, False, False]),
    )
    words = " ".join(graph.notes)
    for said in (
        "2 repeated edges",
        "1 self-loop",
        "3 nodes without a neighbour",
        "1 node without",
    ):
        assert said in words
    result = run(Settings(clients=2, beta=5), graph)
    assert any("never predicted: class 2" in note for note in result.notes)
