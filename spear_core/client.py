"""What a client sends: one mean of smoothed features a class (a prototype) and its count.

The method is linear until the last normalisation, so the order can be turned round. Instead of
smoothing X̃ (N × F) and then averaging, the class indicator S (N × C) is propagated with the
transposed operator and multiplied with X̃ once: P = Sᵀ Π X̃ = (Πᵀ S)ᵀ X̃. Clients do not mix, so
row i of Πᵀ S belongs to the client that owns node i, and one N × C matrix holds all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
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
INDICATOR = frozenset({"y", "train", "classes", "owner", "edge_index"})  # what Πᵀ S depends on


@dataclass(frozen=True, eq=False)
class Sums:
    """What the clients computed: their labelled nodes, smoothed, summed by class.

    The server seldom needs prototypes singly, so their rows are made when they are read. What is
    made depends on the partition, α and T alone and is kept with the partition.
    """

    partition: Partition
    alpha: float
    steps: int

    @property
    def _key(self) -> tuple[float, int]:
        return self.alpha, enough_steps(self.alpha, self.steps)

    @property
    def mass(self) -> Tensor:
        """Πᵀ S (N, C): how much of each node is in its client's mean of class c.

        Row i of S holds 1 / n of node i's client and class, if i is a training node.
        """
        kept = self.partition.kept
        return kept.get(("mass", *self._key), INDICATOR, self._propagated, most=1)

    def _propagated(self) -> Tensor:
        columns, classes = self.indicator(), self.partition.graph.classes
        if self.alpha == 0 or self.steps == 0:
            return columns(slice(0, classes))
        operator_t = self.partition.operator_t
        return propagate_blocks(operator_t, columns, classes, self.alpha, self.steps)

    def indicator(self, dtype: torch.dtype = torch.float32) -> Callable[[slice], Tensor]:
        """S by its columns: 1 / n at every training node and its class."""
        graph, nodes = self.partition.graph, self.partition.graph.train_nodes
        label = graph.y.index_select(0, nodes)
        cell = self.partition.owner.index_select(0, nodes) * graph.classes + label
        each = (1 / self.partition.train_counts.to(dtype)).flatten().index_select(0, cell)
        return lambda block: one_hot(nodes, label, each, graph.num_nodes, block)

    @property
    def prototypes(self) -> Tensor:
        """The mean smoothed training node of every (client, class) pair, (P, F)."""
        if self.powers.ready(self.alpha, self.steps):
            return self.powers.mixed(self.alpha, self.steps).float()
        return self.partition.kept.get(
            ("prototypes", *self._key), INDICATOR | {"x"}, lambda: self._rows(self.mass), most=KEPT
        )

    @property
    def powers(self) -> Powers:
        """The rows under every power of the clients' operator, as far as they were prepared."""
        return self.partition.kept.get("row_powers", INDICATOR | {"x"}, Powers)

    def prepare(self, steps: int, pause: Callable[[], None]) -> None:
        """Make ahead what gives the prototypes of every α and T up to `steps` at once."""

        def make(_: int, mass: Tensor | None) -> tuple[Tensor, Tensor]:
            pause()
            if mass is None:
                mass = self.indicator()(slice(0, self.partition.graph.classes))
            else:
                mass = propagate(self.partition.operator_t, mass, 1.0, 1)
            return mass, self._rows(mass)

        self.powers.grow(steps, make)
        self.powers.let_go()  # neither the last power nor the mass is needed any more
        self.partition.kept.drop("mass", INDICATOR)

    def combine(self, share: Tensor) -> Tensor:
        """Σ_k share · p_kc for every class, (C, F), without any prototype: `share` is (P).

        Clients do not mix, so a node's share can be put in after the propagation as well as before:
        what was propagated once serves every γ.
        """
        graph, (client, label) = self.partition.graph, self.partition.pairs
        if self.powers.ready(self.alpha, self.steps):
            rows = share.double()[:, None] * self.powers.mixed(self.alpha, self.steps)
            return rows.new_zeros(graph.classes, rows.shape[1]).index_add_(0, label, rows).float()
        table = share.new_zeros(self.partition.clients, graph.classes)
        table[client, label] = share
        shares = table.index_select(0, self.partition.owner)  # (N, C)
        return graph.collect(shares.mul_(self.mass))

    def _rows(self, mass: Tensor) -> Tensor:
        """Every pair's features summed with its client's part of the mass (N, C), (P, F)."""
        graph, owner, clients = self.partition.graph, self.partition.owner, self.partition.clients
        client, label = self.partition.pairs
        if graph.features.layout != torch.sparse_csr:  # client by client: blocks of dense products
            nodes = torch.argsort(owner, stable=True).split(self.partition.sizes.tolist())
            labels = label.split(torch.bincount(client, minlength=clients).tolist())
            each = zip(nodes, labels, strict=True)
            return torch.cat([summed(mass[i], graph.features[i])[held] for i, held in each])
        row_of = torch.full((clients, graph.classes), -1, dtype=torch.int64, device=owner.device)
        row_of[client, label] = torch.arange(len(client), device=owner.device)
        node, column = mass.nonzero(as_tuple=True)
        index = torch.stack([row_of[owner[node], column], node])
        size = (len(client), graph.num_nodes)
        parts = torch.sparse_coo_tensor(index, mass[node, column], size, device=owner.device)
        return (parts.to_sparse_csr() @ graph.features).to_dense()


@dataclass(frozen=True, eq=False)
class Uploads:
    """Exactly what leaves the clients: one row for every (client, class) pair that exists."""

    client: Tensor  # (P)
    label: Tensor  # (P)
    counts: Tensor  # (P)
    rows: Tensor | None  # (P, F), the prototypes; None: made from the source when they are read
    clients: int  # K
    classes: int  # C
    degree: Tensor | None = None  # (K), sent only for reliability = degree
    source: Sums | None = None  # of our own honest clients: what they computed

    @property
    def prototypes(self) -> Tensor:
        """The mean smoothed training node of every row, (P, F)."""
        if self.rows is not None:
            return self.rows
        assert self.source is not None
        return self.source.prototypes

    @property
    def features(self) -> int:
        return self.source.partition.graph.num_features if self.source else self.prototypes.shape[1]

    def combine(self, share: Tensor) -> Tensor:
        """Σ_k share · p_kc for every class, (C, F); `share` is one number a row, (P)."""
        return self.source.combine(share) if self.source else self.summed(share)

    def summed(self, share: Tensor) -> Tensor:
        """The sum of `combine` from the rows themselves, where they are needed anyway, (C, F)."""
        rows = self.prototypes
        total = torch.zeros(self.classes, rows.shape[1], dtype=rows.dtype, device=rows.device)
        return total.index_add_(0, self.label, share[:, None] * rows)

    def replace(self, **changes: Any) -> "Uploads":
        """These uploads with some parts changed, as rows: what they were made from is left out."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        rows = changes.pop("prototypes") if "prototypes" in changes else self.prototypes
        return Uploads(**(parts | {"rows": rows, "source": None} | changes))

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


def upload(partition: Partition, settings: Settings) -> Uploads:
    """Every client's prototypes and counts, from its own subgraph and its own training nodes.

    The clients' work is done here: the class indicator is propagated, or was before.
    """
    sent = unsmoothed(partition, settings.alpha, settings.steps, settings.reliability == "degree")
    assert sent.source is not None
    if not sent.source.powers.ready(settings.alpha, settings.steps):
        sent.source.mass  # noqa: B018  kept with the partition
    return sent


def unsmoothed(partition: Partition, alpha: float, steps: int, degree: bool) -> Uploads:
    """The uploads before any work is done for them."""
    client, label = partition.pairs
    counts = partition.train_counts[client, label]
    own = partition.degree if degree else None
    source = Sums(partition, alpha, steps)
    return Uploads(
        client, label, counts, None, partition.clients, partition.graph.classes, own, source
    )
