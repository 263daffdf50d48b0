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
    unit,
)
from spear_core.graph import Graph
from spear_core.lance.gate import at_test
from spear_core.lance.ridge import Ridge
from spear_core.powers import kept_z
from spear_core.propagate import propagate
from spear_core.server import Estimate
from spear_core.settings import Settings

# Reach of float32 rounding in the difference of two scores: over three times the most measured
# (tests/test_reach.py).
SCORES = {"dense": 1.2e-5, "sparse": 2.5e-5}  # as a part of the best score
PROTOTYPES = {"dense": 1.2e-6, "sparse": 5e-6}  # of ‖z‖, where only the prototypes are rounded
MANY = 64  # doubtful nodes that are worth their own z; more are scored with the whole graph


@dataclass(frozen=True, eq=False)
class Prediction:
    """Scores of the nodes looked at, z·g_c or those of the ridge head.

    A class nobody holds scores -∞.
    """

    nodes: Tensor  # (M): which nodes of the graph
    scores: Tensor  # (M, C)
    labels: Tensor  # (M): the winning class


def classify(
    graph: Graph, estimate: Estimate, settings: Settings, every_node: bool = False
) -> Prediction:
    """Predictions for the test nodes, or for every node."""
    settings = at_test(graph, settings)
    nodes = torch.arange(graph.num_nodes, device=graph.device) if every_node else graph.test_nodes
    if estimate.ridge is not None:
        scores = _ridge_scores(graph, estimate.ridge, settings, every_node)
        scores = scores.masked_fill(~estimate.seen, -torch.inf)
        return Prediction(nodes, scores, scores.argmax(dim=1))
    scores = _scores(graph, estimate.prototypes, settings, every_node)
    if not bool(estimate.seen.all()):
        scores = scores.masked_fill(~estimate.seen, -torch.inf)
    best, labels = scores.max(dim=1)
    doubt = doubtful(scores, best, SCORES[layout(graph)] * best.clamp_min(SMALLEST))
    if len(doubt):
        labels[doubt] = settled(graph, estimate, settings, nodes[doubt])
    return Prediction(nodes, scores, labels)


def _scores(graph: Graph, prototypes: Tensor, settings: Settings, every_node: bool) -> Tensor:
    """z·g_c of the test nodes, or of every node, (M, C)."""
    z = None if every_node else kept_z(graph, settings)
    if z is not None:
        return z @ prototypes.t()
    rows = None if every_node else (graph.test_nodes, graph.test_operator)
    flat = graph.project(prototypes)  # (N, C)
    return propagate(graph.operator, flat, settings.alpha, settings.steps, rows)


def _ridge_scores(graph: Graph, ridge: Ridge, settings: Settings, every_node: bool) -> Tensor:
    """Levelled (z − m) W + π of the test nodes or every node, (M, C): only C columns travel."""
    rows = None if every_node else (graph.test_nodes, graph.test_operator)
    flat = graph.project(ridge.weights.t().to(graph.features.dtype))
    smoothed = propagate(graph.operator, flat, settings.alpha, settings.steps, rows)
    return smoothed + ridge.offset.to(smoothed.dtype)


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


def settled(graph: Graph, estimate: Estimate, settings: Settings, nodes: Tensor) -> Tensor:
    """The winning classes of some nodes in exact arithmetic, (L)."""
    absent = ~estimate.seen
    smoothing = settings.alpha, settings.steps
    if len(nodes) > MANY:
        every = estimate.exact(torch.arange(len(absent), device=graph.device))
        scores = exact_scores(graph, every, *smoothing)[nodes]
        return first_of_best(scores.masked_fill_(absent, -torch.inf))
    z = exact_z(graph, nodes, *smoothing)
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
