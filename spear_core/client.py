"""What a client sends: one mean of smoothed features a class (a prototype) and its count.

The method is linear until the last normalisation, so the order can be turned round. Instead of
smoothing X̃ (N × F) and then averaging, the class indicator S (N × C) is propagated with the
transposed operator and multiplied with X̃ once: P = Sᵀ Π X̃ = (Πᵀ S)ᵀ X̃. Clients do not mix, so
row i of Πᵀ S belongs to the client that owns node i, and one N × C matrix holds all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from spear_core.graph import summed
from spear_core.partition import Partition
from spear_core.powers import Powers
from spear_core.propagate import enough_steps, one_hot, propagate, propagate_blocks
from spear_core.settings import Settings

LARGEST_COUNT = 2**31 - 1  # counts travel as 32-bit integers
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

    def prepare(self, steps: int, pause: Callable[[], None]) -> None:
        """Nothing to do ahead: the prototypes are there."""

    def replace(self, **changes: Any) -> "Uploads":
        """These uploads with some parts changed; their prototypes are there, not deferred."""
        parts = {f.name: getattr(self, f.name) for f in fields(Uploads)}
        return Uploads(**(parts | changes))

    def keep(self, rows: Tensor) -> "Uploads":
        """Only the rows marked True, (P); the very same object if that is all of them."""
        if bool(rows.all()):
            return self
        return self.replace(
            client=self.client[rows],
            label=self.label[rows],
            counts=self.counts[rows],
            prototypes=self.prototypes[rows],
        )

    def by_class(self) -> list[Tensor]:
        """The rows of every class that somebody holds."""
        return [(self.label == c).nonzero().squeeze(1) for c in self.label.unique()]

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
        columns = self._indicator(share)
        if self.alpha == 0 or self.steps == 0:
            return columns(slice(0, self.classes))
        operator_t = self.partition.operator_t
        return propagate_blocks(operator_t, columns, self.classes, self.alpha, self.steps)

    def _indicator(self, share: Tensor) -> Callable[[slice], Tensor]:
        """S by its columns: share / n at every training node and its class."""
        graph, nodes = self.partition.graph, self.partition.graph.train_nodes
        label = graph.y.index_select(0, nodes)
        cell = self.partition.owner.index_select(0, nodes) * self.classes + label
        each = self.table(share / self.counts).flatten().index_select(0, cell)
        return lambda block: one_hot(nodes, label, each, graph.num_nodes, block)

    @cached_property
    def prototypes(self) -> Tensor:
        """The mean smoothed training node of every row, (P, F).

        They depend on the partition, α and T alone, so the last ones are kept with the partition.
        """
        if self._powers.ready(self.alpha, self.steps):
            return self._powers.mixed(self.alpha, self.steps).float()
        key = (self.alpha, enough_steps(self.alpha, self.steps))
        kept: dict[tuple[float, int], Tensor] = self.partition.__dict__.get("_prototypes", {})
        if key not in kept:
            kept = dict([*kept.items()][1 - KEPT :]) | {key: self._collected(self.plain_mass)}
            self.partition.__dict__["_prototypes"] = kept
        return kept[key]

    def prepare(self, steps: int, pause: Callable[[], None]) -> None:
        """Make ahead what gives the prototypes of every α and T up to `steps` at once."""

        def make(_: int, mass: Tensor | None) -> tuple[Tensor, Tensor]:
            pause()
            if mass is None:
                ones = torch.ones(len(self.client), device=self.label.device)
                mass = self._indicator(ones)(slice(0, self.classes))
            else:
                mass = propagate(self.partition.operator_t, mass, 1.0, 1)
            return mass, self._collected(mass)

        self._powers.grow(steps, make)
        self._powers.let_go()  # neither the last power nor the mass is needed any more
        self.partition.__dict__.pop("_mass", None)

    @property
    def _powers(self) -> Powers:
        """Of the clients' operator: the rows' sums, as far as they were prepared."""
        kept: Powers = self.partition.__dict__.setdefault("_powers", Powers())
        return kept

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
        if graph.features.layout != torch.sparse_csr:  # client by client: blocks of dense products
            nodes = torch.argsort(owner, stable=True).split(self.partition.sizes.tolist())
            labels = self.label.split(torch.bincount(self.client, minlength=self.clients).tolist())
            each = zip(nodes, labels, strict=True)
            return torch.cat([summed(mass[i], graph.features[i])[held] for i, held in each])
        row_of = torch.full((self.clients, self.classes), -1, dtype=torch.int64, device=device)
        row_of[self.client, self.label] = torch.arange(len(self.client), device=device)
        node, label = mass.nonzero(as_tuple=True)
        index = torch.stack([row_of[owner[node], label], node])
        size = (len(self.client), graph.num_nodes)
        parts = torch.sparse_coo_tensor(index, mass[node, label], size, device=device)
        return (parts.to_sparse_csr() @ graph.features).to_dense()

    def combine(self, share: Tensor) -> Tensor:
        """Σ of share times prototype for every class, (C, F), without making any prototype.

        The shares go into the mass, then there is one product. Clients do not mix, so a node's
        share can be put in after the propagation as well as before: what was propagated once
        serves every γ.
        """
        if self._powers.ready(self.alpha, self.steps):
            rows = share.double()[:, None] * self._powers.mixed(self.alpha, self.steps)
            total = rows.new_zeros(self.classes, rows.shape[1])
            return total.index_add_(0, self.label, rows).float()
        shares = self.table(share).index_select(0, self.partition.owner)  # (N, C)
        return self.partition.graph.collect(shares.mul_(self.plain_mass))


def upload(partition: Partition, settings: Settings) -> DeferredUploads:
    """Every client's prototypes and counts, from its own subgraph and its own training nodes."""
    if settings.alpha > 0 and settings.steps > 0:
        partition.operator_t  # noqa: B018  the clients' own step: built here, used by the sums
    return DeferredUploads(partition, settings)
