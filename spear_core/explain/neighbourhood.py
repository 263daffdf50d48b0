"""Small parts of a graph to draw: around one node, or where many classes meet."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
import torch
from torch import Tensor

from spear_core.errors import SettingError
from spear_core.graph import Graph

Place = tuple[float, float]
SAMPLED = frozenset({"edge_index", "nodes", "y", "classes"})  # what the sample depends on


@dataclass(frozen=True, eq=False)
class Part:
    """A small part of a graph to draw: node ids, and edges by their place in `nodes`."""

    nodes: list[int]
    edges: list[tuple[int, int]]
    parent: list[int]  # by place: the node from which each was reached, -1 for the first
    depth: list[int]
    left_out: int = 0  # neighbours of the first node that are not drawn

    def rings(self) -> list[Place]:
        """Places with the first node in the middle and everyone on the ring of its depth."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for place, parent in enumerate(self.parent):
            if parent >= 0:
                children[parent].append(place)
        angle: dict[int, Place] = {0: (0.0, 2 * pi)}
        xy: list[Place] = [(0.0, 0.0)] * len(self.nodes)
        for place, kids in enumerate(children):  # a parent always comes before its children
            start, width = angle[place]
            room = [1 + len(children[kid]) for kid in kids]
            for kid, part in zip(kids, room, strict=True):
                angle[kid] = (start, width * part / sum(room))
                middle, radius = start + angle[kid][1] / 2, self.depth[kid]
                xy[kid] = (radius * sin(middle), radius * cos(middle))
                start += angle[kid][1]
        return xy


def check_node(graph: Graph, node: int) -> None:
    """Refuse an id that the graph does not have, in one sentence."""
    if not 0 <= node < graph.num_nodes:
        raise SettingError(
            f"There is no node {node} in {graph.name}; use 0 to {graph.num_nodes - 1}."
        )


def neighbours(graph: Graph, node: int) -> Tensor:
    """The nodes that a node is averaged with, itself left out, in the order of their ids, (d)."""
    first, last = graph.adjacency.crow[node : node + 2].tolist()
    near = graph.adjacency.col[first:last].long()
    return near[near != node]


def ego(graph: Graph, node: int, inner: int = 36, most: int = 60) -> Part:
    """The node, its neighbours, and some of theirs: at most `most` nodes in two rings.

    Neighbours are ordered by class; of too many, an even choice along that order is kept.
    """
    check_node(graph, node)
    near = neighbours(graph, node)
    near = near[graph.y[near].argsort(stable=True)]
    if len(near) > inner:
        spread = torch.linspace(0, len(near) - 1, inner, device=near.device).round().long()
        kept = near[spread]
    else:
        kept = near
    nodes, parent, depth = [node, *kept.tolist()], [-1] + [0] * len(kept), [0] + [1] * len(kept)
    seen = {*nodes, *near.tolist()}
    each = max(1, (most - len(nodes)) // max(1, len(kept)))
    for place in range(1, len(nodes)):
        new = [n for n in neighbours(graph, nodes[place]).tolist() if n not in seen]
        for n in new[: min(each, most - len(nodes))]:
            seen.add(n)
            nodes.append(n)
            parent.append(place)
            depth.append(2)
    return Part(nodes, edges_among(graph, nodes), parent, depth, len(near) - len(kept))


def sample(graph: Graph, most: int = 90, fan: int = 3) -> Part:
    """A connected part of the graph, breadth first from a node where many classes meet.

    It starts at the node whose neighbours are of the most classes, the most neighbours first. At
    most `fan` new neighbours are followed from each node, those of the classes met least so far
    first, so that neither a hub nor a class fills it. A graph of no more than `most` nodes is
    taken whole.
    """
    if graph.num_nodes <= most:
        nodes = list(range(graph.num_nodes))
        flat = [-1] * len(nodes)
        return Part(nodes, edges_among(graph, nodes), flat, [0] * len(nodes))
    meet = torch.zeros(graph.num_nodes, graph.classes, dtype=torch.bool, device=graph.device)
    meet[graph.edge_index[0], graph.y[graph.edge_index[1]]] = True
    degree = graph.adjacency.degree
    first = int((meet.sum(1) + degree / (1 + degree.max())).argmax())
    nodes, parent, depth, seen = [first], [-1], [0], {first}
    met, place = Counter([int(graph.y[first])]), 0
    while place < len(nodes) < most:
        near = neighbours(graph, nodes[place])
        label = dict(zip(near.tolist(), graph.y[near].tolist(), strict=True))
        for _ in range(min(fan, most - len(nodes))):
            new = [n for n in label if n not in seen]
            if not new:
                break
            n = min(new, key=lambda n: (met[label[n]], n))
            met[label[n]] += 1
            seen.add(n)
            nodes.append(n)
            parent.append(place)
            depth.append(depth[place] + 1)
        place += 1
    return Part(nodes, edges_among(graph, nodes), parent, depth)


def sample_places(graph: Graph) -> tuple[Part, list[Place]]:
    """The sample of a graph with a place for each of its nodes, always the same one."""
    return graph.kept.get("sample_places", SAMPLED, lambda: _laid_out(graph))


def _laid_out(graph: Graph) -> tuple[Part, list[Place]]:
    import networkx as nx

    part = sample(graph)
    drawn = nx.Graph(part.edges)
    drawn.add_nodes_from(range(len(part.nodes)))
    at = nx.spring_layout(drawn, seed=0, iterations=150, k=1.6 / max(1, len(part.nodes)) ** 0.5)
    xy = np.array([at[i] for i in range(len(part.nodes))])
    span = np.maximum(np.ptp(xy, axis=0), 1e-9)
    xy = 2 * (xy - xy.min(axis=0)) / span - 1  # from -1 to 1 both ways
    return part, [(float(x), float(y)) for x, y in xy]


def edges_among(graph: Graph, nodes: Iterable[int]) -> list[tuple[int, int]]:
    """The edges between the given nodes by their place in the list, each pair once."""
    place = {node: i for i, node in enumerate(nodes)}
    pairs = {
        (min(i, place[n]), max(i, place[n]))
        for node, i in place.items()
        for n in neighbours(graph, node).tolist()
        if n in place
    }
    return sorted(pairs)
