"""Predictions of many α, γ and T at once, from one set of propagated bases.

Smoothing is a mixture of powers, Π = Σ_t w_t Â^t with weights that depend on α and T alone. So the
class sums of Â^s X̃ and the test rows of Â^t X̃, or of its products with those sums, are computed
once, and a point is a recombination of them: of features if they are dense and narrow
(by_features.py), of products otherwise (by_products.py).
"""

from dataclasses import replace

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.grids.basis import make_basis
from spear_core.grids.by_features import by_features
from spear_core.grids.by_products import by_products
from spear_core.partition import Partition
from spear_core.propagate import mixing
from spear_core.settings import Settings

Axes = tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]]

HELD = 1_000_000_000  # bytes of powers at once: more γ than fit are done in turn
WORTH = 10  # points that pay for a hundred pairs of powers: on Cora and CiteSeer both take as long


def at_once(partition: Partition, graph: Graph, axes: Axes) -> int:
    """How many γ to recombine at a time; 0 where single runs are less work, or all that fits.

    What products of the powers take, in time and room, grows with T².
    """
    alphas, gammas, steps = axes
    powers, tests = max(steps) + 1, len(graph.test_nodes)
    if narrow(partition, graph, axes):
        rows = tests + len(partition.pairs[0])
        return len(gammas) if 4 * powers * rows * graph.num_features <= HELD else 0
    if WORTH * len(alphas) * len(gammas) * len(steps) < powers**2:
        return 0
    each = 8 * powers * graph.classes * max(graph.num_nodes, powers * tests)
    return min(len(gammas), HELD // each)


def narrow(partition: Partition, graph: Graph, axes: Axes) -> bool:
    """Whether the features themselves are propagated: dense ones, no wider than the class sums."""
    dense = torch.sparse_csr not in (graph.features.layout, partition.graph.features.layout)
    return dense and graph.num_features <= graph.classes * len(axes[1]) * (max(axes[2]) + 1)


def recombine(
    partition: Partition, graph: Graph, settings: Settings, axes: Axes, labels: Tensor
) -> None:
    """Fill in the labels of every point, (A, G, S, M)."""
    alphas, gammas, steps = axes
    top = max(steps)
    rows = [(*mixing(a, t), *[0.0] * (top - t)) for a in alphas for t in steps]
    place = {row: u for u, row in enumerate(dict.fromkeys(rows))}  # with α = 0 every T is alike
    w = torch.tensor(list(place), dtype=torch.float64, device=graph.device)  # (U, T + 1)
    points: list[list[tuple[int, int]]] = [[] for _ in place]
    for p, row in enumerate(rows):
        points[place[row]].append(divmod(p, len(steps)))

    def put(u: int, gamma: int | slice, nodes: int | slice | Tensor, won: int | Tensor) -> None:
        for i, k in points[u]:
            labels[i, gamma, k, nodes] = won

    if narrow(partition, graph, axes):
        first = [(alphas[own[0][0]], steps[own[0][1]]) for own in points]
        at = [[replace(settings, alpha=a, gamma=g, steps=t) for g in gammas] for a, t in first]
        by_features(partition, graph, w, at, put)
    else:
        by_products(graph, w, make_basis(partition, settings, gammas, top), put)
