"""What one node sees: its neighbours, its similarity to every class, and why it wins or loses.

Row i of Π says how much every node weighs in the smoothed vector z_i. It comes from the same
recursion as everything else, run once with the transposed operator on a single one at node i.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.explain.neighbourhood import check_node, neighbours
from spear_core.graph import Graph
from spear_core.lance.gate import at_test
from spear_core.run import Result


@dataclass(frozen=True, eq=False)
class View:
    """One node: who is around it, and how similar it is to every global prototype."""

    node: int
    true: int  # its class
    predicted: int
    neighbours: Tensor  # (d), without the node itself
    before: Tensor  # (C): cosine of its raw features with every global prototype, NaN if unseen,
    after: Tensor  # (C): the same after smoothing; scores instead where the head is ridge
    rows: Tensor  # (T + 1, N): its row of Π after 0, 1, … T steps
    moved: bool  # whether smoothing reaches anyone else at all
    measure: str = "similarity"  # what `before` and `after` are: similarity or score

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


def inspect(result: Result, node: int) -> View:
    """What the named node sees in this run."""
    graph, ridge = result.graph, result.estimate.ridge
    check_node(graph, node)
    settings = at_test(graph, result.settings)
    rows = smoothing_rows(graph, node, settings.alpha, settings.steps)
    g, unseen = result.estimate.prototypes, ~result.estimate.seen
    both = rows[[0, -1]].t().contiguous()  # (N, 2): the node itself, and its smoothed mixture
    z = graph.collect(both)
    if ridge is None:
        found = torch.nn.functional.normalize(z, dim=1, eps=1e-30) @ g.t()
    else:
        found = (z.double() @ ridge.weights + ridge.offset).float()
    before, after = found.masked_fill(unseen, torch.nan)
    tested = (result.prediction.nodes == node).nonzero().flatten()
    if len(tested):  # what the run itself said, also where two classes tie
        predicted = int(result.prediction.labels[tested[0]])
    else:
        predicted = int(after.nan_to_num(-torch.inf).argmax())
    around = neighbours(graph, node)
    moved = len(around) > 0 and settings.alpha > 0 and settings.steps > 0
    measure = "similarity" if ridge is None else "score"
    return View(node, int(graph.y[node]), predicted, around, before, after, rows, moved, measure)


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
    omega = result.estimate.omega
    lam = result.estimate.weights[up.client, up.label]
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
