"""Inference: smooth the full graph, compare with the global prototypes, take the nearest.

The order is turned round here too: project to C scores first, propagate those. ‖z‖ is left out,
since it does not change which class wins.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.propagate import propagate
from spear_core.server import Estimate
from spear_core.settings import Settings


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
    flat = graph.project(estimate.prototypes)  # (N, C)
    alpha, steps = settings.alpha, settings.steps
    if every_node:
        nodes = torch.arange(graph.num_nodes, device=graph.device)
        scores = propagate(graph.operator, flat, alpha, steps)
    else:
        nodes = graph.test_nodes
        rows = (nodes, graph.test_operator)
        scores = propagate(graph.operator, flat, alpha, steps, rows)
    scores = scores.masked_fill(~estimate.seen, -torch.inf)
    return Prediction(nodes, scores, scores.argmax(dim=1))
