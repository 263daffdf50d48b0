"""What a client sends: one mean of smoothed features a class (a prototype) and its count.

The method is linear until the last normalisation, so the order can be turned round. Instead of
smoothing X̃ (N × F) and then averaging, the class indicator S (N × C) is propagated with the
transposed operator and multiplied with X̃ once: P = Sᵀ Π X̃ = (Πᵀ S)ᵀ X̃. Clients do not mix, so
row i of Πᵀ S belongs to the client that owns node i, and one N × C matrix holds all of them.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from spear_core.partition import Partition
from spear_core.propagate import propagate
from spear_core.settings import Settings


@dataclass(frozen=True, eq=False)
class Uploads:
    """Exactly what leaves the clients: one row for every (client, class) pair that exists."""

    client: Tensor  # (P)
    label: Tensor  # (P)
    counts: Tensor  # (P)
    prototypes: Tensor  # (P, F)
    clients: int  # K
    classes: int  # C
    degree: Tensor | None = None  # (K), sent only for reliability = degree

    @property
    def features(self) -> int:
        return self.prototypes.shape[1]

    def combine(self, share: Tensor) -> Tensor:
        """Σ_k share · p_kc for every class, (C, F); `share` is one number a row, (P)."""
        device = self.label.device
        total = torch.zeros(self.classes, self.features, dtype=self.prototypes.dtype, device=device)
        return total.index_add_(0, self.label, share[:, None] * self.prototypes)

    def table(self, row_values: Tensor) -> Tensor:
        """Values of the rows laid out client × class, zero where there is no pair, (K, C)."""
        shape = (self.clients, self.classes)
        out = torch.zeros(shape, dtype=row_values.dtype, device=row_values.device)
        out[self.client, self.label] = row_values
        return out


class DeferredUploads(Uploads):
    """Uploads whose prototypes are built when first read; the server seldom needs them one by one.

    `mass` is Πᵀ S (N, C): how much of each node is in the sum of its client's class c.
    """

    mass: Tensor
    partition: Partition

    def __init__(self, partition: Partition, mass: Tensor, degree: Tensor | None = None) -> None:
        table = partition.train_counts
        client, label = table.nonzero(as_tuple=True)
        self.__dict__.update(
            client=client,
            label=label,
            counts=table[client, label],
            clients=partition.clients,
            classes=partition.graph.classes,
            degree=degree,
            partition=partition,
            mass=mass,
        )

    @property
    def features(self) -> int:
        return self.partition.graph.num_features

    @cached_property
    def prototypes(self) -> Tensor:
        """The mean smoothed training node of every row, (P, F)."""
        graph, owner = self.partition.graph, self.partition.owner
        row_of = torch.full(
            (self.clients, self.classes), -1, dtype=torch.int64, device=self.mass.device
        )
        row_of[self.client, self.label] = torch.arange(len(self.client), device=self.mass.device)
        node, label = self.mass.nonzero(as_tuple=True)
        row = row_of[owner[node], label]
        share = self.mass[node, label] / self.counts[row]
        size = (len(self.client), graph.num_nodes)
        parts = torch.sparse_coo_tensor(
            torch.stack([row, node]), share, size, device=share.device
        ).to_sparse_csr()
        product = parts @ graph.features
        return product.to_dense() if product.layout != torch.strided else product

    def combine(self, share: Tensor) -> Tensor:
        """The same sum without any prototype: weigh the mass of every node, multiply once."""
        graph = self.partition.graph
        weights = self.table(share / self.counts)  # (K, C)
        mass = self.mass * weights.index_select(0, self.partition.owner)  # (N, C)
        return graph.collect(mass)


def upload(partition: Partition, settings: Settings) -> DeferredUploads:
    """Every client's prototypes and counts, from its own subgraph and its own training nodes."""
    graph = partition.graph
    nodes = graph.train_nodes
    indicator = torch.zeros(graph.num_nodes, graph.classes, device=graph.device)
    indicator[nodes, graph.y[nodes]] = 1
    mass = propagate(partition.operator_t, indicator, settings.alpha, settings.steps)
    degree = partition.degree if settings.reliability == "degree" else None
    return DeferredUploads(partition, mass, degree)
