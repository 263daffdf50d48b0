"""SPEAR as the paper writes it: a loop over clients, Z of width F, in any precision.

Slow and plain on purpose. Tests hold the fast engine against it, notebooks read it aloud, the
benchmark uses it as the straightforward implementation.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.propagate import subgraph
from spear_core.settings import Settings


@dataclass(frozen=True, eq=False)
class Explicit:
    """Every intermediate of the method, dense."""

    client: Tensor  # (P)
    label: Tensor  # (P)
    counts: Tensor  # (P)
    local: Tensor  # (P, F) prototypes as uploaded
    peers: Tensor  # (P, F)
    shrunk: Tensor  # (P, F)
    prototypes: Tensor  # (C, F) global
    seen: Tensor  # (C)
    z: Tensor  # (N, F) smoothed on the full graph
    scores: Tensor  # (N, C) cosines
    labels: Tensor  # (N)


def dense_features(graph: Graph, dtype: torch.dtype = torch.float64) -> Tensor:
    """X̃ (N, F), normalised in the given precision."""
    x = graph.x.to_dense() if graph.x.layout == torch.sparse_csr else graph.x
    return torch.nn.functional.normalize(x.to(dtype), dim=1, eps=1e-30)


def smooth(x: Tensor, edge_index: Tensor, alpha: float, steps: int) -> Tensor:
    """Mix each node with its neighbours: Z ← (1 - α) X + α Â Z, `steps` times (eq. 1)."""
    n = len(x)
    loops = torch.arange(n, device=x.device).expand(2, n)
    index = torch.cat([edge_index, loops], dim=1)  # A + I; a loop already there adds up to 2
    ones = torch.ones(index.shape[1], dtype=x.dtype, device=x.device)
    a = torch.sparse_coo_tensor(index, ones, (n, n), device=x.device).coalesce()
    degree = torch.zeros(n, dtype=x.dtype, device=x.device)
    degree.index_add_(0, a.indices()[0], a.values())
    a = torch.sparse_coo_tensor(
        a.indices(), a.values() / degree[a.indices()[0]], (n, n), device=x.device
    ).to_sparse_csr()
    z = x
    for _ in range(steps):
        z = (1 - alpha) * x + alpha * (a @ z)
    return z


def run_explicit(
    partition: Partition, settings: Settings, dtype: torch.dtype = torch.float64
) -> Explicit:
    """The whole method, step by step, for the default peers and reliability."""
    if settings.peers != "mean" or settings.reliability != "count":
        raise ValueError("The explicit way covers peers = mean and reliability = count.")
    graph, alpha, steps = partition.graph, settings.alpha, settings.steps
    x = dense_features(graph, dtype)
    client, label, counts, local = [], [], [], []
    for k in range(partition.clients):  # on every client
        nodes = partition.nodes_of(k)
        z = smooth(x[nodes], subgraph(graph.edge_index, nodes, graph.num_nodes), alpha, steps)
        y, trained = graph.y[nodes], graph.train[nodes]
        for c in range(graph.classes):
            held = z[trained & (y == c)]
            if len(held):
                client.append(k)
                label.append(c)
                counts.append(len(held))
                local.append(held.mean(dim=0))
    stacked = torch.stack(local)
    peers, shrunk = torch.empty_like(stacked), torch.empty_like(stacked)
    prototypes = torch.zeros(graph.classes, x.shape[1], dtype=dtype, device=x.device)
    for c in set(label):  # on the server
        rows = [i for i, other in enumerate(label) if other == c]
        total = 0.0
        for i in rows:
            others = [j for j in rows if j != i] or [i]
            peers[i] = stacked[others].mean(dim=0)
            lam = 1 / (1 + settings.gamma * counts[i]) if settings.shrinkage else 0.0
            shrunk[i] = (1 - lam) * stacked[i] + lam * peers[i]
            weight = counts[i] if settings.count_weights else 1
            prototypes[c] += weight * shrunk[i]
            total += weight
        prototypes[c] /= total
    prototypes = torch.nn.functional.normalize(prototypes, dim=1, eps=1e-30)
    seen = torch.zeros(graph.classes, dtype=torch.bool, device=x.device)
    seen[label] = True
    z = smooth(x, graph.edge_index, alpha, steps)
    scores = torch.nn.functional.normalize(z, dim=1, eps=1e-30) @ prototypes.t()
    scores = scores.masked_fill(~seen, -torch.inf)
    return Explicit(
        client=torch.as_tensor(client, device=x.device),
        label=torch.as_tensor(label, device=x.device),
        counts=torch.as_tensor(counts, device=x.device),
        local=stacked,
        peers=peers,
        shrunk=shrunk,
        prototypes=prototypes,
        seen=seen,
        z=z,
        scores=scores,
        labels=scores.argmax(dim=1),
    )
