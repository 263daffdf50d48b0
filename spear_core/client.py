"""What a client sends: one mean of smoothed features a class (a prototype) and its count.

The method is linear until the last normalisation, so the order can be turned round. Instead of
smoothing X̃ (N × F) and then averaging, the class indicator S (N × C) is propagated with the
transposed operator and multiplied with X̃ once: P = Sᵀ Π X̃ = (Πᵀ S)ᵀ X̃. Clients do not mix, so
row i of Πᵀ S belongs to the client that owns node i, and one N × C matrix holds all of them.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from spear_core.partition import Partition
from spear_core.propagate import enough_steps, one_hot, propagate_blocks
from spear_core.settings import Settings

KEPT = 2  # settings of α and T whose prototypes are kept with a partition


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

    def replace(self, **changes: Any) -> "Uploads":
        """The same uploads, as really sent, with some parts changed."""
        parts = {f.name: getattr(self, f.name) for f in fields(Uploads)}
        return Uploads(**(parts | changes))

    def table(self, row_values: Tensor) -> Tensor:
        """Values of the rows laid out client × class, zero where there is no pair, (K, C)."""
        shape = (self.clients, self.classes)
        out = torch.zeros(shape, dtype=row_values.dtype, device=row_values.device)
        out[self.client, self.label] = row_values
        return out


class DeferredUploads(Uploads):
    """Uploads whose prototypes are built when first read; the server seldom needs them singly."""

    partition: Partition
    alpha: float
    steps: int

    def __init__(self, partition: Partition, settings: Settings) -> None:
        table = partition.train_counts
        client, label = table.nonzero(as_tuple=True)
        self.__dict__.update(
            client=client,
            label=label,
            counts=table[client, label],
            clients=partition.clients,
            classes=partition.graph.classes,
            degree=partition.degree if settings.reliability == "degree" else None,
            partition=partition,
            alpha=settings.alpha,
            steps=settings.steps,
        )

    @property
    def features(self) -> int:
        return self.partition.graph.num_features

    def mass(self, share: Tensor) -> Tensor:
        """Πᵀ S (N, C): how much of each node is in the sum of class c, rows weighted by `share`.

        Row i of S holds share / n of node i's client and class, if i is a training node.
        """
        graph, nodes = self.partition.graph, self.partition.graph.train_nodes
        label = graph.y.index_select(0, nodes)
        cell = self.partition.owner.index_select(0, nodes) * self.classes + label
        each = self.table(share / self.counts).flatten().index_select(0, cell)
        if self.alpha == 0 or self.steps == 0:
            return one_hot(nodes, label, each, graph.num_nodes, slice(0, self.classes))
        return propagate_blocks(
            self.partition.operator_t,
            lambda block: one_hot(nodes, label, each, graph.num_nodes, block),
            self.classes,
            self.alpha,
            self.steps,
        )

    @cached_property
    def prototypes(self) -> Tensor:
        """The mean smoothed training node of every row, (P, F).

        They depend on the partition, α and T alone, so the last ones are kept with the partition.
        """
        key = (self.alpha, enough_steps(self.alpha, self.steps))
        kept: dict[tuple[float, int], Tensor] = self.partition.__dict__.get("_prototypes", {})
        if key not in kept:
            kept = dict([*kept.items()][1 - KEPT :]) | {key: self._collected(self.plain_mass)}
            self.partition.__dict__["_prototypes"] = kept
        return kept[key]

    @property
    def plain_mass(self) -> Tensor:
        """The mass with every share 1, (N, C); the last one is kept with the partition."""
        key = (self.alpha, enough_steps(self.alpha, self.steps))
        kept: dict[tuple[float, int], Tensor] = self.partition.__dict__.get("_mass", {})
        if key not in kept:
            kept = {key: self.mass(torch.ones(len(self.client), device=self.label.device))}
            self.partition.__dict__["_mass"] = kept
        return kept[key]

    def _collected(self, mass: Tensor) -> Tensor:
        """Every row's features summed with its client's part of the mass (N, C), (P, F)."""
        graph, owner, device = self.partition.graph, self.partition.owner, self.label.device
        row_of = torch.full((self.clients, self.classes), -1, dtype=torch.int64, device=device)
        row_of[self.client, self.label] = torch.arange(len(self.client), device=device)
        node, label = mass.nonzero(as_tuple=True)
        index = torch.stack([row_of[owner[node], label], node])
        size = (len(self.client), graph.num_nodes)
        parts = torch.sparse_coo_tensor(index, mass[node, label], size, device=device)
        product = parts.to_sparse_csr() @ graph.features
        return product.to_dense() if product.layout != torch.strided else product

    def combine(self, share: Tensor) -> Tensor:
        """The same sum without any prototype: shares into the mass, then one product.

        Clients do not mix, so a node's share can be put in after the propagation as well as before:
        what was propagated once serves every γ.
        """
        shares = self.table(share).index_select(0, self.partition.owner)  # (N, C)
        return self.partition.graph.collect(shares.mul_(self.plain_mass))


def upload(partition: Partition, settings: Settings) -> DeferredUploads:
    """Every client's prototypes and counts, from its own subgraph and its own training nodes."""
    if settings.alpha > 0 and settings.steps > 0:
        partition.operator_t  # noqa: B018  the clients' own step: built here, used by the sums
    return DeferredUploads(partition, settings)
