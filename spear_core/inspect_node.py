"""What one node sees: its neighbours, its similarity to every class, and why it wins or loses.

Row i of Π says how much every node weighs in the smoothed vector z_i. It comes from the same
recursion as everything else, run once with the transposed operator on a single one at node i.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi, sin

import numpy as np
import torch
from torch import Tensor

from spear_core.errors import SettingError
from spear_core.graph import Graph
from spear_core.run import Result
from spear_core.server import mixture

Place = tuple[float, float]


@dataclass(frozen=True, eq=False)
class View:
    """One node: who is around it, and how similar it is to every global prototype."""

    node: int
    true: int  # its class
    predicted: int
    neighbours: Tensor  # (d), without the node itself
    before: Tensor  # (C): cosine of its raw features with every global prototype, NaN if unseen
    after: Tensor  # (C): the same after smoothing
    rows: Tensor  # (T + 1, N): its row of Π after 0, 1, … T steps
    moved: bool  # whether smoothing reaches anyone else at all

    @property
    def right(self) -> bool:
        return self.true == self.predicted


@dataclass(frozen=True, eq=False)
class Builders:
    """Who built a global prototype: the clients that hold the class, the largest share first."""

    client: list[int]
    count: list[int]
    weight: list[float]  # λ: how far each was pulled to its peers
    share: list[float]  # ω over the sum of ω: how much each upload weighs in the prototype


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


def inspect(result: Result, node: int) -> View:
    """What the named node sees in this run."""
    graph, settings = result.graph, result.settings
    check_node(graph, node)
    rows = smoothing_rows(graph, node, settings.alpha, settings.steps)
    g, unseen = result.estimate.prototypes, ~result.estimate.seen
    both = rows[[0, -1]].t().contiguous()  # (N, 2): the node itself, and its smoothed mixture
    raw, smoothed = torch.nn.functional.normalize(graph.collect(both), dim=1, eps=1e-30)
    before, after = ((g @ v).masked_fill(unseen, torch.nan) for v in (raw, smoothed))
    tested = (result.prediction.nodes == node).nonzero().flatten()
    if len(tested):  # what the run itself said, also where two classes tie
        predicted = int(result.prediction.labels[tested[0]])
    else:
        predicted = int(after.nan_to_num(-torch.inf).argmax())
    around = neighbours(graph, node)
    moved = len(around) > 0 and settings.alpha > 0 and settings.steps > 0
    return View(node, int(graph.y[node]), predicted, around, before, after, rows, moved)


def check_node(graph: Graph, node: int) -> None:
    """Refuse an id that the graph does not have, in one sentence."""
    if not 0 <= node < graph.num_nodes:
        raise SettingError(
            f"There is no node {node} in {graph.name}; use 0 to {graph.num_nodes - 1}."
        )


def smoothing_rows(graph: Graph, node: int, alpha: float, steps: int) -> Tensor:
    """The node's row of Π after 0, 1, … T steps: every node's weight in z, (T + 1, N).

    Π_{t+1} = (1 - α) I + α Â Π_t, and Â commutes with its own powers, so a row follows from the
    row before it: r ← (1 - α) e + α Âᵀ r.
    """
    start = torch.zeros(graph.num_nodes, 1, device=graph.device)
    start[node] = 1
    rows = [start]
    for _ in range(steps):
        rows.append(torch.addmm(start, graph.operator_t, rows[-1], beta=1 - alpha, alpha=alpha))
    return torch.cat(rows, dim=1).t()


def class_shares(graph: Graph, view: View) -> Tensor:
    """Weight of the others by class after each step, the node's own weight last, (T + 1, C + 1).

    Rows sum to 1: smoothing takes means.
    """
    group = graph.y.clone()
    group[view.node] = graph.classes
    out = torch.zeros(len(view.rows), graph.classes + 1, device=graph.device)
    return out.index_add_(1, group, view.rows)


def neighbours(graph: Graph, node: int) -> Tensor:
    """The nodes that a node is averaged with, itself left out, in the order of their ids, (d)."""
    first, last = graph.adjacency.crow[node : node + 2].tolist()
    near = graph.adjacency.col[first:last].long()
    return near[near != node]


@lru_cache(maxsize=4)
def alike(graph: Graph) -> Tensor:
    """Share of every node's neighbours that are of its own class, NaN without neighbours, (N)."""
    source, target = graph.edge_index[:, graph.edge_index[0] != graph.edge_index[1]]
    degree = torch.bincount(source, minlength=graph.num_nodes)
    same = graph.y.index_select(0, source) == graph.y.index_select(0, target)
    return torch.bincount(source[same], minlength=graph.num_nodes) / degree


def role_of(graph: Graph, node: int) -> str:
    """What a node is for: training, validation, test, or nothing."""
    for words, mask in (("training", graph.train), ("test", graph.test), ("validation", graph.val)):
        if bool(mask[node]):
            return words
    return "unused"


def find(result: Result, right: bool, after: int = -1) -> int | None:
    """The next test node that is right (or wrong) after the given id, coming round at the end."""
    nodes, said = result.prediction.nodes, result.prediction.labels
    wanted = nodes[(said == result.graph.y[nodes]) == right]
    if len(wanted) == 0:
        return None
    later = wanted[wanted > after]
    return int((later if len(later) else wanted).min())


def builders(result: Result, label: int) -> Builders:
    """Which clients the global prototype of a class is made of: g_c = Norm(Σ_k ω_kc p_kc)."""
    up = result.uploads
    lam, omega, _ = mixture(up, result.settings)
    rows = (up.label == label).nonzero().flatten()
    share = omega[rows] / omega[rows].sum().clamp_min(1e-30)
    order = share.argsort(descending=True, stable=True)
    rows = rows[order]
    return Builders(
        up.client[rows].tolist(),
        up.counts[rows].tolist(),
        lam[rows].tolist(),
        share[order].tolist(),
    )


def explain(result: Result, view: View) -> str:
    """Why the node is right or wrong, in two or three sentences made from its numbers."""
    return " ".join(filter(None, (_around(result, view), _decision(result, view), _turn(view))))


def _around(result: Result, view: View) -> str:
    y, d = result.graph.y[view.neighbours], len(view.neighbours)
    if d == 0:
        return "It has no neighbour, so smoothing leaves it as it is."
    if d == 1:
        return f"Its one neighbour is of class {name_of(result.graph, int(y))}."
    own = int((y == view.true).sum())
    others = torch.bincount(y[y != view.true], minlength=result.graph.classes)
    other = int(others.argmax()) if view.right else view.predicted
    words = f"{own} of {d} neighbours {'is' if own == 1 else 'are'} of its own class "
    words += name_of(result.graph, view.true)
    n = int(others[other])
    return words + (f", {n} of class {name_of(result.graph, other)}." if n else ".")


def _decision(result: Result, view: View) -> str:
    graph, won = result.graph, view.predicted
    verdict = "right" if view.right else "wrong"
    winner = name_of(graph, won)
    if not bool(view.after.nan_to_num().any()):
        return f"It is similar to no prototype, so class {winner} wins by its place: {verdict}."
    rest = view.after.nan_to_num(-torch.inf).clone()
    rest[won] = -torch.inf
    rival = int(rest.argmax()) if view.right else view.true
    before, after, lost = (float(v) for v in (view.before[won], view.after[won], view.after[rival]))
    differ = (n for n in (2, 3, 4) if f"{after:.{n}f}" != f"{lost:.{n}f}")
    d = next(differ, 5)  # enough digits to tell the two apart
    if view.moved:
        moved = f"Smoothing moved its similarity to class {winner} from {before:.{d}f} "
        moved += f"to {after:.{d}f}"
    else:
        moved = f"Its similarity to class {winner} is {after:.{d}f}"
    if rival != won and bool(result.estimate.seen[rival]):
        return f"{moved}, so it wins over {name_of(graph, rival)} ({lost:.{d}f}): {verdict}."
    if view.right:
        return f"{moved}; no other class has a prototype: {verdict}."
    return f"{moved}; class {name_of(graph, rival)} has no training node and cannot win: {verdict}."


def _turn(view: View) -> str:
    """What smoothing changed, where it did."""
    led = int(view.before.nan_to_num(-torch.inf).argmax())
    if led == view.predicted or not view.moved or not bool(view.before.nan_to_num().any()):
        return ""
    if view.right:
        return "Without smoothing it would be wrong: the neighbours put it right."
    if led == view.true:
        return "Without smoothing it would be right: the neighbours led it astray."
    return "Without smoothing it would be wrong too, with another class."


def name_of(graph: Graph, label: int) -> str:
    """The name of a class, or its number."""
    return graph.class_names[label] if graph.class_names else str(label)


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


@lru_cache(maxsize=8)
def sample_places(graph: Graph) -> tuple[Part, list[Place]]:
    """The sample of a graph with a place for each of its nodes, always the same one."""
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
