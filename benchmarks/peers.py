"""The straightforward implementations that the engine is timed against: a loop over clients.

All propagate features of full width, as the method reads on paper: with PyG's message passing,
with torch's sparse CSR product as one would write it, and with the same product tuned (32-bit
indices, the update fused into it). They start from dense tensors in memory.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import add_self_loops, degree, subgraph

from spear_core import Graph, Settings

Smoother = Callable[[Tensor, Tensor, float, int], Tensor]


class MeanPropagation(MessagePassing):
    """Z ← (1 - α) X + α D̃⁻¹(A + I) Z in PyG's terms."""

    def __init__(self) -> None:
        super().__init__(aggr="add", flow="target_to_source")

    def forward(self, x: Tensor, edge_index: Tensor, alpha: float, steps: int) -> Tensor:
        edge_index, _ = add_self_loops(edge_index, num_nodes=len(x))
        weight = 1 / degree(edge_index[0], len(x))[edge_index[0]]
        z = x
        for _ in range(steps):
            z = (1 - alpha) * x + alpha * self.propagate(edge_index, x=z, weight=weight)
        return z

    def message(self, x_j: Tensor, weight: Tensor) -> Tensor:
        return weight[:, None] * x_j


def smooth_pyg(x: Tensor, edge_index: Tensor, alpha: float, steps: int) -> Tensor:
    return MeanPropagation()(x, edge_index, alpha, steps)


def smooth_csr(x: Tensor, edge_index: Tensor, alpha: float, steps: int) -> Tensor:
    a = transition(edge_index, len(x), torch.int64)
    z = x
    for _ in range(steps):
        z = (1 - alpha) * x + alpha * (a @ z)
    return z


def smooth_csr_tuned(x: Tensor, edge_index: Tensor, alpha: float, steps: int) -> Tensor:
    a = transition(edge_index, len(x), torch.int32)
    z = x
    for _ in range(steps):
        z = torch.addmm(x, a, z, beta=1 - alpha, alpha=alpha)
    return z


def transition(edge_index: Tensor, n: int, index: torch.dtype) -> Tensor:
    edge_index, _ = add_self_loops(edge_index, num_nodes=n)
    row, order = edge_index[0].sort()
    count = torch.bincount(row, minlength=n)
    crow = torch.zeros(n + 1, dtype=index)
    crow[1:] = count.cumsum(0)
    col = edge_index[1][order].to(index)
    return torch.sparse_csr_tensor(crow, col, (1 / count)[row], (n, n))


def client_loop(graph: Graph, x: Tensor, owner: Tensor, s: Settings, smooth: Smoother) -> Tensor:
    """SPEAR client by client; returns the predictions of the test nodes."""
    classes, width = graph.classes, x.shape[1]
    x = torch.nn.functional.normalize(x, dim=1)
    prototypes = torch.zeros(s.clients, classes, width)
    counts = torch.zeros(s.clients, classes)
    for k in range(s.clients):
        nodes = (owner == k).nonzero().squeeze(1)
        edges, _ = subgraph(nodes, graph.edge_index, relabel_nodes=True, num_nodes=len(x))
        z = smooth(x[nodes], edges, s.alpha, s.steps)
        train = graph.train[nodes]
        label = graph.y[nodes][train]
        counts[k] = torch.bincount(label, minlength=classes)
        prototypes[k].index_add_(0, label, z[train])
        prototypes[k] /= counts[k].clamp_min(1)[:, None]
    held = counts > 0
    holders = held.sum(0)
    lam = torch.where(held, 1 / (1 + s.gamma * counts), 0.0)[..., None]
    others = (prototypes.sum(0) - prototypes) / (holders - 1).clamp_min(1)[:, None]
    peers = torch.where((holders > 1)[:, None], others, prototypes)
    shrunk = (1 - lam) * prototypes + lam * peers
    total = (counts[..., None] * shrunk).sum(0)
    g = torch.nn.functional.normalize(total, dim=1)
    z = torch.nn.functional.normalize(smooth(x, graph.edge_index, s.alpha, s.steps), dim=1)
    scores = (z[graph.test] @ g.t()).masked_fill(holders == 0, -torch.inf)
    return scores.argmax(dim=1)
