"""Single labels spread over the whole graph: label propagation, untrained TFGNN, Correct & Smooth.

All three need the server to know which node has which training label.
"""

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.wanted import still_wanted

SCALE = 10.0  # of ridge scores before the softmax
FAR = 1000.0  # factors of an error beyond this count as 1


def adjacency(graph: Graph, power: float) -> Tensor:
    """D^-p A D^(p-1) without loops, CSR (N, N): p = ½ symmetric, p = 1 the mean of neighbours."""
    source, target = graph.edge_index
    keep = source != target
    source, target = source[keep], target[keep]
    n = graph.num_nodes
    degree = torch.bincount(target, minlength=n).double().clamp_min(1)
    value = degree[target].pow(-power) * degree[source].pow(power - 1)
    index = torch.stack([target, source])
    return torch.sparse_coo_tensor(index, value, (n, n)).coalesce().to_sparse_csr()


def one_hot(graph: Graph) -> Tensor:
    """Y (N, C): the training labels, zero elsewhere."""
    y = torch.zeros(graph.num_nodes, graph.classes, dtype=torch.float64)
    y[graph.train_nodes, graph.y[graph.train_nodes]] = 1
    return y


def mixed(a: Tensor, start: Tensor, share: float, steps: int, low: float, high: float) -> Tensor:
    """Y ← clip(share A Y + (1 − share) Y⁰)."""
    y = start
    for _ in range(steps):
        still_wanted()
        y = (share * (a @ y) + (1 - share) * start).clamp(low, high)
    return y


def label_propagation(graph: Graph, share: float = 0.9, steps: int = 50) -> Tensor:
    """Scores of every node, (N, C)."""
    return mixed(adjacency(graph, 0.5), one_hot(graph), share, steps, 0.0, 1.0)


def tfgnn(graph: Graph, layers: int = 3) -> Tensor:
    """Y ← D⁻¹ A Y with training rows set again: what the network computes before any training."""
    a, y = adjacency(graph, 1.0), one_hot(graph)
    known, train = y[graph.train_nodes], graph.train_nodes
    for _ in range(layers):
        y = a @ y
        y[train] = known
    return y


def correct_and_smooth(
    graph: Graph, scores: Tensor, share: float = 0.9, smooth: float = 0.8, steps: int = 50
) -> Tensor:
    """Base scores less their spread error on the training nodes, then label propagation."""
    a, train = adjacency(graph, 0.5), graph.train_nodes
    p = (SCALE * scores.double()).softmax(1)
    start = torch.zeros_like(p)
    start[train] = one_hot(graph)[train] - p[train]
    error = mixed(a, start, share, steps, -1.0, 1.0)
    usual = start[train].abs().sum(1).mean()
    factor = usual / error.abs().sum(1, keepdim=True)
    factor[~(factor <= FAR)] = 1.0  # far too large, or nothing arrived
    p = p + error * factor
    p[train] = one_hot(graph)[train]
    return mixed(a, p, smooth, steps, 0.0, 1.0)
