"""Small datasets with a neighbour each that differ in one node, which is what privacy promises for.

Each pair moves what is sent about as far as the noise reckons with, each in another way.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from spear_core.datasets.own import make_graph
from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.settings import Settings


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two datasets that differ in one node's features and label, and how they are smoothed."""

    name: str
    before: Partition
    after: Partition
    settings: Settings


def neighbours(settings: Settings) -> Iterator[Neighbours]:
    """Other features or another label at a node whose change is seen best, one pair a reason."""
    # a hundred nodes without edges; features in balance, so sums are far below counts and not cut
    crowd = _graph(100, [])
    alone = replace(settings, alpha=0.0)
    yield _pair("features of a labelled node", crowd, alone, x=-1)
    yield _pair("label of a labelled node", crowd, alone, y=1)
    yield _pair("the only node of its class", _graph(100, [], {0: 2}), alone, y=0)
    yield _pair("features, two clients", crowd, alone, x=-1, clients=2)
    # a hub that is not labelled, in the rows of its sixty leaves
    star = _graph(100, [(0, leaf) for leaf in range(1, 61)], train=range(1, 100))
    near = replace(settings, alpha=0.6, steps=1)
    yield _pair("features of an unlabelled hub", star, near, x=-1)
    # all alike, so the leaves' rows get shorter when the hub turns round: the ridge head says so
    alike = _graph(100, [(0, leaf) for leaf in range(1, 61)], train=range(1, 100), same=True)
    yield _pair("energy of a hub's leaves", alike, replace(near, head="ridge"), x=-1)
    # its leaves have more edges, all to another client: cut, they are not there
    cut = [(leaf, 100 + j) for leaf in range(1, 61) for j in range(20)]
    edges = [(0, leaf) for leaf in range(1, 61)] + cut
    yield _pair(
        "features of a hub, edges cut",
        _graph(200, edges, train=range(1, 200)),
        near,
        x=-1,
        owner=torch.arange(200) // 100,
    )
    # one labelled node in a crowd where everybody knows everybody
    ring = [(i, j) for i in range(40) for j in range(i)]
    few = _graph(40, ring, train=range(1), same=True)
    yield _pair("label in a crowd", few, replace(settings, alpha=0.9, steps=9), y=1)


def _graph(
    nodes: int,
    edges: list[tuple[int, int]],
    labels: dict[int, int] | None = None,
    train: range | None = None,
    same: bool = False,
) -> Graph:
    x = torch.tensor([[1.0, 0], [0, 1], [-1, 0], [0, -1]]).repeat(nodes // 4, 1)
    y = torch.zeros(nodes, dtype=torch.int64)
    for node, label in (labels or {}).items():
        y[node] = label
    labelled = torch.zeros(nodes, dtype=torch.bool)
    labelled[list(train or range(nodes))] = True
    ends = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).t()
    both = torch.cat([ends, ends.flip(0)], 1)
    x = x[:1].repeat(nodes, 1) if same else x
    return make_graph(x, both, y, labelled, name="audit", class_names=("a", "b", "c"))


def _pair(
    name: str,
    graph: Graph,
    settings: Settings,
    x: float = 1,
    y: int | None = None,
    clients: int = 1,
    owner: torch.Tensor | None = None,
) -> Neighbours:
    """A dataset and the same with node 0 changed: its features times `x`, its label `y`."""
    features, labels = graph.x.to_dense().clone(), graph.y.clone()
    features[0] *= x
    labels[0] = labels[0] if y is None else y
    if owner is None:
        owner = torch.arange(graph.num_nodes) % clients
    count = int(owner.max()) + 1
    after = make_graph(
        features, graph.edge_index, labels, graph.train, name="audit", class_names=graph.class_names
    )
    return Neighbours(
        name, Partition(graph, owner, count), Partition(after, owner, count), settings
    )
