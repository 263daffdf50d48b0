"""Inference: smooth the full graph, compare with the global prototypes, take the nearest.

The order is turned round here too: project to C scores first, propagate those. ‖z‖ is left out,
since it does not change which class wins. Rounding could: the few nodes whose best classes are
closer than its reach are decided again in float64 (exact.py), so that any order of summing agrees.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.exact import (
    SMALLEST,
    exact_scores,
    exact_z,
    first_of_best,
    power_weights,
    unit,
)
from spear_core.graph import Graph
from spear_core.powers import kept_z
from spear_core.propagate import propagate
from spear_core.server import Estimate
from spear_core.settings import Settings

# Reach of float32 rounding in the difference of two scores: over three times the most measured.
SCORES = {"dense": 5e-6, "sparse": 1e-5}  # as a part of the best score
PROTOTYPES = {"dense": 3e-7, "sparse": 3e-6}  # of ‖z‖, where only the prototypes are rounded
MANY = 64  # doubtful nodes that are worth their own z; more are scored with the whole graph


@dataclass(frozen=True, eq=False)
class Prediction:
    """Scores z·g_c of the nodes looked at; a class nobody holds scores -∞."""

    nodes: Tensor  # (M): which nodes of the graph
    scores: Tensor  # (M, C)
    labels: Tensor  # (M): the winning class


def classify(
    graph: Graph, estimate: Estimate, settings: Settings, every_node: bool = False
) -> Prediction:
    """Predictions for the test nodes, or for every node."""
    nodes = torch.arange(graph.num_nodes, device=graph.device) if every_node else graph.test_nodes
    scores = _scores(graph, estimate.prototypes, settings, every_node)
    if not bool(estimate.seen.all()):
        scores = scores.masked_fill(~estimate.seen, -torch.inf)
    best, labels = scores.max(dim=1)
    doubt = doubtful(scores, best, SCORES[layout(graph)] * best.clamp_min(SMALLEST))
    if len(doubt):
        labels[doubt] = _settled(graph, estimate, settings, nodes[doubt])
    return Prediction(nodes, scores, labels)


def _scores(graph: Graph, prototypes: Tensor, settings: Settings, every_node: bool) -> Tensor:
    """z·g_c of the test nodes, or of every node, (M, C)."""
    z = None if every_node else kept_z(graph, settings)
    if z is not None:
        return z @ prototypes.t()
    rows = None if every_node else (graph.test_nodes, graph.test_operator)
    flat = graph.project(prototypes)  # (N, C)
    return propagate(graph.operator, flat, settings.alpha, settings.steps, rows)


def layout(graph: Graph) -> str:
    """How the features are stored: "dense" or "sparse"."""
    return "sparse" if graph.features.layout == torch.sparse_csr else "dense"


def doubtful(scores: Tensor, best: Tensor, reach: Tensor) -> Tensor:
    """Rows in which a second class is within reach of the best.

    Not those where all are zero: the first class wins there, in whatever order they are summed.
    """
    close = scores >= (best - reach)[:, None]
    if int(close.count_nonzero()) == len(best):  # nothing but the best itself
        return torch.empty(0, dtype=torch.int64, device=best.device)
    rows = ((close.sum(dim=1) > 1) & (best > -torch.inf)).nonzero().squeeze(1)
    found = scores[rows]
    return rows[((found != 0) & (found > -torch.inf)).any(dim=1)]


def _settled(graph: Graph, estimate: Estimate, settings: Settings, nodes: Tensor) -> Tensor:
    """The winning classes of a few nodes in exact arithmetic."""
    absent = ~estimate.seen
    w = power_weights(settings.alpha, settings.steps, graph.device)
    if len(nodes) > MANY:
        every = estimate.exact(torch.arange(len(absent), device=graph.device))
        scores = exact_scores(graph, every, w)[nodes]
        return first_of_best(scores.masked_fill_(absent, -torch.inf))
    z = exact_z(graph, nodes, w.expand(len(nodes), -1))
    scores = (z @ unit(estimate.prototypes).t()).masked_fill_(absent, -torch.inf)
    reach = PROTOTYPES[layout(graph)] * z.norm(dim=1).clamp_min(SMALLEST)
    doubt = doubtful(scores, scores.amax(dim=1), reach)
    if len(doubt):
        close = scores >= (scores.amax(dim=1) - reach)[:, None]
        which = close[doubt].any(dim=0).nonzero().squeeze(1)
        again = z[doubt] @ estimate.exact(which).t()
        scores[doubt] = -torch.inf
        scores[doubt[:, None], which] = again.masked_fill_(~close[doubt][:, which], -torch.inf)
    return first_of_best(scores)
