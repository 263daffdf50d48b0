"""Sums of smoothed labelled nodes by class, for all clients at once.

The method is linear until the last normalisation, so the order can be turned round. Instead of
smoothing X̃ (N × F) and then averaging, the class indicator S (N × C) is propagated with the
transposed operator and multiplied with X̃ once: P = Sᵀ Π X̃ = (Πᵀ S)ᵀ X̃. Clients do not mix, so
row i of Πᵀ S belongs to the client that owns node i, and one N × C matrix holds all of them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from spear_core.exact import collect_exactly, exactly
from spear_core.graph import csr_tensor, summed
from spear_core.lance.gate import Mix
from spear_core.partition import Partition
from spear_core.powers import Powers
from spear_core.propagate import (
    as_double,
    block_width,
    enough_steps,
    one_hot,
    propagate,
    propagate_blocks,
)
from spear_core.wanted import still_wanted

KEPT = 2  # settings of α and T whose prototypes are kept with a partition
INDICATOR = frozenset({"y", "train", "classes", "owner", "edge_index"})  # what Πᵀ S depends on


Stage = tuple[Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class Work:
    """What the clients propagated, and how long that took."""

    mass: Tensor  # (N, C)
    seconds: float


@dataclass(frozen=True, eq=False)
class Sums:
    """What the clients computed: their labelled nodes, smoothed, summed by class.

    The server seldom needs prototypes singly, so their rows are made when they are read. What is
    made depends on the partition, α and T alone and is kept with the partition.
    """

    partition: Partition
    alpha: float
    steps: int
    mix: Mix | None = None  # where clients do not all smooth alike, else α and T are everybody's
    reused: float = 0.0  # seconds of the propagation that was done before these were asked for

    @property
    def key(self) -> tuple[float | int, ...]:
        """What the sums depend on, beside the partition."""
        more = self.mix.key if self.mix else ()
        return self.alpha, enough_steps(self.alpha, self.steps), *more

    @property
    def ready(self) -> bool:
        """Whether prepared powers give the rows of this α and T."""
        return self.mix is None and self.powers.ready(self.alpha, self.steps)

    @property
    def mass(self) -> Tensor:
        """Πᵀ S (N, C): how much of each node is in its client's mean of class c.

        Row i of S holds 1 / n of node i's client and class, if i is a training node.
        """
        kept = self.partition.kept
        return kept.get(("mass", *self.key), INDICATOR, self._work, most=1).mass

    def done(self) -> "Sums":
        """With the clients' work done, now or before; what was saved by that is in `reused`."""
        if self.ready:
            return replace(self, reused=self.powers.seconds(self.alpha, self.steps))
        before: Work | None = self.partition.kept.peek(("mass", *self.key), INDICATOR)
        self.mass  # noqa: B018  kept with the partition
        return replace(self, reused=before.seconds) if before else self

    def _work(self) -> Work:
        start = time.perf_counter()
        return Work(self._propagated(), time.perf_counter() - start)

    def _propagated(self) -> Tensor:
        columns, classes = self.indicator(), self.partition.graph.classes
        if self.mix is not None:
            return self.smooth(self.partition.operator_t, columns(slice(0, classes)))
        if self.alpha == 0 or self.steps == 0:
            return columns(slice(0, classes))
        operator_t = self.partition.operator_t
        return propagate_blocks(operator_t, columns, classes, self.alpha, self.steps)

    def smooth(self, operator: Tensor, columns: Tensor) -> Tensor:
        """Columns (N, L) smoothed by every client's own α and T; `operator` may be transposed."""
        if self.mix is None:
            return propagate(operator, columns, self.alpha, self.steps)
        turned = operator is self.partition.operator_t
        key, needs = ("stages", turned, *self.key), frozenset({"edge_index", "owner"})
        stages = self.partition.kept.get(key, needs, lambda: self._stages(operator), most=2)
        blocks = columns.split(block_width(len(columns), columns.device), dim=1)
        return torch.cat([_staged(stages, block.contiguous()) for block in blocks], dim=1)

    def _stages(self, operator: Tensor) -> list[Stage]:
        """Every step of the mixture: the operator with α in its rows, and 1 - α, (N, 1)."""
        assert self.mix is not None
        made: list[Stage] = []
        for t, alphas in enumerate(self.mix.alphas):
            if t and torch.equal(alphas, self.mix.alphas[t - 1]):
                made.append(made[-1])
                continue
            mine = alphas.to(operator.dtype).index_select(0, self.partition.owner)
            crow, col = operator.crow_indices(), operator.col_indices()
            each = mine.repeat_interleave(crow.diff().long())
            scaled = csr_tensor(crow, col, operator.values() * each, operator.shape)
            made.append((scaled, 1 - mine[:, None]))
        return made

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
        if self.ready:
            return self.powers.mixed(self.alpha, self.steps).float()
        return self.partition.kept.get(
            ("prototypes", *self.key), INDICATOR | {"x"}, lambda: self._rows(self.mass), most=KEPT
        )

    @property
    def powers(self) -> Powers:
        """The rows under every power of the clients' operator, as far as they were prepared."""
        return self.partition.kept.get("row_powers", INDICATOR | {"x"}, Powers)

    def prepare(self, steps: int, pause: Callable[[], None]) -> None:
        """Make ahead what gives the prototypes of every α and T up to `steps` at once."""
        self.grow(self.powers, steps, pause)
        self.powers.let_go()  # neither the last power nor the mass is needed any more
        self.partition.kept.drop("mass", INDICATOR)

    def grow(self, powers: Powers, steps: int, pause: Callable[[], None] = lambda: None) -> Powers:
        """The powers with the rows (P, F) of each up to `steps`."""

        def make(t: int, mass: Tensor | None) -> tuple[Tensor, Tensor]:
            start = time.perf_counter()
            if mass is None:
                mass = self.indicator()(slice(0, self.partition.graph.classes))
            else:
                mass = propagate(self.partition.operator_t, mass, 1.0, 1)
            powers.took[t] = time.perf_counter() - start
            return mass, self._rows(mass)

        return powers.grow_slowly(steps, make, pause)

    def combine(self, share: Tensor) -> Tensor:
        """Σ_k share · p_kc for every class, (C, F), without any prototype: `share` is (P).

        Clients do not mix, so a node's share can be put in after the propagation as well as before:
        what was propagated once serves every γ.
        """
        graph, (client, label) = self.partition.graph, self.partition.pairs
        if self.ready:
            rows = share.double()[:, None] * self.powers.mixed(self.alpha, self.steps)
            return rows.new_zeros(graph.classes, rows.shape[1]).index_add_(0, label, rows).float()
        table = share.new_zeros(self.partition.clients, graph.classes)
        table[client, label] = share
        shares = table.index_select(0, self.partition.owner)  # (N, C)
        return graph.collect(shares.mul_(self.mass))

    def combine_exactly(self, share: Tensor, labels: Tensor) -> Tensor:
        """The sums of `combine` for some classes in float64, (L, F), for ties between those."""
        graph, partition, (client, label) = (
            self.partition.graph,
            self.partition,
            self.partition.pairs,
        )
        table = share.new_zeros(partition.clients, graph.classes, dtype=torch.float64)
        table[client, label] = share.double() / partition.train_counts[client, label]
        nodes = graph.train_nodes
        own = graph.y[nodes]
        each = table[partition.owner[nodes], own]
        operator_t = as_double(partition.operator_t)

        def columns(block: slice) -> Tensor:
            start = each.new_zeros(graph.num_nodes, len(labels[block]))
            start[nodes] = torch.where(own[:, None] == labels[block], each[:, None], 0.0)
            return start

        mass = exactly(operator_t.__matmul__, columns, len(labels), self.alpha, self.steps)
        return collect_exactly(graph, mass)

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


def _staged(stages: list[Stage], x: Tensor) -> Tensor:
    """Z ← (1 - α) X + α Â Z with a stage for every step, from Z = X."""
    z, own = x, x
    for t, (operator, rest) in enumerate(stages):
        still_wanted()
        own = own if t and stages[t - 1][1] is rest else rest * x
        z = torch.addmm(own, operator, z)
    return z
