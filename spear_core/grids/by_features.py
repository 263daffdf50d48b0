"""Predictions of a grid from smoothed dense features, in float32.

For every α and T the test nodes' features are mixed once, and one product scores them against the
prototypes of all γ side by side. Where a second class is within the reach of rounding, the winner
is settled as in a single run.
"""

from dataclasses import replace

import torch
from torch import Tensor

from spear_core.classify import settled
from spear_core.client import Sums, unsmoothed
from spear_core.exact import SMALLEST
from spear_core.graph import Graph
from spear_core.grids.scores import BLOCK, Put, powers_at_tests, winners
from spear_core.partition import Partition
from spear_core.powers import Powers
from spear_core.server import Estimate, estimate
from spear_core.settings import Settings

# Reach of float32 rounding in the difference of two scores, as a part of ‖z‖: over three times the
# most measured (tests/test_reach.py).
DENSE = 3e-6


def by_features(
    partition: Partition, graph: Graph, w: Tensor, rows: list[list[Settings]], put: Put
) -> None:
    """Put the winners of every row of w (U, T + 1); `rows` are its points, one for every γ."""
    nodes, top = graph.test_nodes, w.shape[1] - 1
    powers = powers_at_tests(graph, graph.features, graph.operator, graph.test_operator, top)
    sums = Sums(partition, 0.0, 0).grow(Powers(), top)
    for u, points in enumerate(rows):
        estimates = _estimates(partition, sums, points)
        classes = estimates[0].seen.nonzero().squeeze(1)
        prototypes = torch.stack([e.prototypes[classes] for e in estimates], 1)  # (C', G, F)
        flat, doubts = prototypes.flatten(0, 1).float(), []
        height = max(1, BLOCK // len(flat))
        for first in range(0, len(nodes), height):
            some = slice(first, first + height)
            z = torch.tensordot(w[u].float(), powers[:, some], 1)  # (M', F)
            scores = (flat @ z.t()).unflatten(0, prototypes.shape[:2])[None]
            least = scores.amax(1) - DENSE * z.norm(dim=1).clamp_min(SMALLEST)
            won, near = winners(scores, least, classes)
            put(u, slice(None), some, won[0])
            doubts.append(near[:, 1:] + near.new_tensor([0, first]))
        gamma, place = torch.cat(doubts).t()
        for j in gamma.unique().tolist():
            which = place[gamma == j]
            put(u, j, which, settled(graph, estimates[j], points[j], nodes[which]))


def _estimates(partition: Partition, sums: Powers, points: list[Settings]) -> list[Estimate]:
    """What the server makes of one α and T with every γ, in float64 from the powers' sums."""
    one = points[0]
    sent = unsmoothed(partition, one.alpha, one.steps, one.reliability == "degree")
    sent = replace(sent, rows=sums.mixed(one.alpha, one.steps))
    return [estimate(sent, point) for point in points]
