"""Sketches: the leading directions of every client's residuals, all clients at once.

E = (I − M) Π X̃ are the smoothed training rows less the mean of their client and class. It is never
made where that is dear: products with E and Eᵀ go a few columns at a time through the operator
and the (sparse) rows. Clients do not mix, so one (N, L) matrix holds the columns of all of them.
With few training rows E is made and decomposed exactly. Else r + 8 columns find the range of E Eᵀ
(one step of subspace iteration) and a few more, at random, estimate what lies outside it.
"""

from functools import cached_property

import torch
from torch import Tensor

from spear_core.client.residuals import Residuals
from spear_core.client.sums import INDICATOR, Sums
from spear_core.graph import csr_tensor
from spear_core.partition import Partition
from spear_core.randomness import generator

MORE = 8  # columns beyond the rank
PROBES = 8  # columns for the energy outside the range
DROPPED = 1e-9  # rows below this part of a client's largest eigenvalue
KEPT = 2  # sketches kept with a partition
BLOCK = 64  # columns moved at a time where E is made


def residuals_of(
    sums: Sums, rank: float, capped: bool, seed: int, exactly: bool = False
) -> Residuals:
    """Every client's energy and sketch of at most `rank` rows, kept with the partition.

    `exactly` asks for an energy that is no estimate, however long it takes.
    """
    given = (rank, capped, seed, exactly)
    key, needs = ("residuals", *sums.key, *given), INDICATOR | {"x"}
    return sums.partition.kept.get(key, needs, lambda: _made(sums, *given), most=KEPT)


def _made(sums: Sums, rank: float, capped: bool, seed: int, exactly: bool) -> Residuals:
    e = _Rows(sums)
    most = e.amount - e.cells  # rows of an exact sketch, (K)
    asked = (most // 2 if capped else most).clamp(max=int(min(rank, 2**31)))
    longest = int(e.amount.max())
    if exactly or rank == torch.inf or longest <= 3 * (rank + MORE):
        found, rest = e.whole(longest), torch.zeros_like(most, dtype=torch.float64)
    else:
        found, rest = _range(e, int(rank) + MORE, seed)
    rows, owner, size = _leading(found, asked)
    client, label = sums.partition.pairs
    counts = sums.partition.train_counts[client, label].double()
    means = counts * sums.prototypes.double().square().sum(1)
    between = torch.zeros(len(most), dtype=torch.float64, device=means.device)
    between.index_add_(0, client, means)
    length = Residuals(between, rows, owner).lengths()
    energy = between + torch.maximum(size + rest, length)
    return Residuals(torch.minimum(energy, e.amount.double()), rows, owner)


def _leading(found: Tensor, asked: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The leading rows of S Vᵀ of every client's (K, L, F), at most as many as asked, (K).

    Also the client of each, and the energy of all rows, (K).
    """
    tall = found.shape[1] > found.shape[2]
    gram = (found.double().mT @ found.double()) if tall else found @ found.mT
    size = gram.diagonal(dim1=1, dim2=2).double().sum(1)
    top = int(asked.max())
    if top == 0:
        return found[:, 0][:0], asked[:0], size
    values, turn = torch.linalg.eigh(gram.double())
    lead = turn.flip(2)[:, :, :top].mT
    if tall:
        rows = (values.flip(1)[:, :top, None].clamp_min(0).sqrt() * lead).to(found.dtype)
    else:
        rows = lead.to(found.dtype) @ found
    square = rows.double().square().sum(2)
    keep = square > DROPPED * square[:, :1].clamp_min(1e-300)
    keep &= torch.arange(rows.shape[1], device=keep.device) < asked[:, None]
    return rows[keep], keep.nonzero()[:, 0], size


def _range(e: "_Rows", columns: int, seed: int) -> tuple[Tensor, Tensor]:
    """Qᵀ E (K, L, F) with Q a basis of E Eᵀ Ω, and the energy outside, (K), from probes.

    Every client takes the same random numbers, so that its sketch depends on nobody else.
    """
    drawn = generator(seed, "sketch").standard_normal((int(e.amount.max()), columns + PROBES))
    start = torch.as_tensor(drawn, dtype=torch.float32, device=e.owner.device)
    start[:, columns:].sign_()
    left = start.index_select(0, e.place)
    down = e.down(left)
    q = e.basis(e.up(down[:, :columns]))
    found = e.down(q)
    probes = e.centred(left[:, columns:])
    inside = e.by_client(q).mT @ e.by_client(probes)  # (K, L, probes)
    outside = down[:, columns:] - inside.mT @ found
    return found, outside.double().square().sum(2).mean(1)


class _Rows:
    """E of all clients, by its products; its rows are the training nodes, client by client."""

    def __init__(self, sums: Sums) -> None:
        self.sums, self.partition = sums, sums.partition
        graph, clients = self.partition.graph, self.partition.clients
        nodes = graph.train_nodes
        self.nodes = nodes[torch.argsort(self.partition.owner[nodes], stable=True)]  # (L)
        self.owner = self.partition.owner[self.nodes]
        self.cell = self.owner * graph.classes + graph.y[self.nodes]
        self.amount = torch.bincount(self.owner, minlength=clients)  # (K)
        self.cells = (self.partition.train_counts > 0).sum(1)
        first = self.amount.cumsum(0) - self.amount
        self.place = torch.arange(len(self.nodes), device=nodes.device) - first[self.owner]

    def centred(self, values: Tensor) -> Tensor:
        """Less the mean over their client and class, (L, columns)."""
        counts = self.partition.train_counts.flatten()
        total = values.new_zeros(len(counts), values.shape[1]).index_add_(0, self.cell, values)
        mean = total / counts.clamp_min(1)[:, None]
        return values - mean.index_select(0, self.cell)

    def down(self, left: Tensor) -> Tensor:
        """Eᵀ times columns (L, columns), as rows, (K, columns, F)."""
        n = self.partition.graph.num_nodes
        spread = left.new_zeros(n, left.shape[1]).index_copy_(0, self.nodes, self.centred(left))
        return self._collected(self.sums.smooth(self.partition.operator_t, spread))

    def up(self, rows: Tensor) -> Tensor:
        """E times every client's own vectors (K, columns, F), (L, columns)."""
        smoothed = self.sums.smooth(self.partition.operator, self._projected(rows))
        return self.centred(smoothed.index_select(0, self.nodes))

    def whole(self, longest: int) -> Tensor:
        """E itself, padded with rows of zeros, (K, longest, F); one row where there is none."""
        parts, longest = [], max(longest, 1)
        for first in range(0, longest, BLOCK):
            some = torch.arange(first, min(first + BLOCK, longest), device=self.place.device)
            parts.append(self.down((self.place[:, None] == some).to(torch.float32)))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    def by_client(self, values: Tensor) -> Tensor:
        """Columns (L, columns) with a page for every client, padded with zeros."""
        shape = (len(self.amount), int(self.amount.max()), values.shape[1])
        pages = values.new_zeros(shape)
        pages[self.owner, self.place] = values
        return pages

    def basis(self, values: Tensor) -> Tensor:
        """Orthonormal columns for each client's part of (L, columns); none for what is nil."""
        pages = self.by_client(values).double()
        size, turn = torch.linalg.eigh(pages.mT @ pages)
        there = size > 1e-10 * size[:, -1:].clamp_min(1e-300)
        scale = torch.where(there, size.clamp_min(1e-300).rsqrt(), 0.0)
        q = pages @ (turn * scale[:, None])
        return q[self.owner, self.place].to(values.dtype)

    def _collected(self, mass: Tensor) -> Tensor:
        """Every client's features summed with its columns of the mass (N, L), (K, L, F)."""
        clients, width = self.partition.clients, self.partition.graph.num_features
        if self._sparse:
            out = client_features(self.partition)[1] @ mass
            return out.view(clients, width, -1).mT
        return torch.stack([mass[i].t() @ x for i, x in self._dense])

    def _projected(self, rows: Tensor) -> Tensor:
        """Every node's products with the vectors (K, L, F) of its client, (N, L)."""
        if self._sparse:
            return client_features(self.partition)[0] @ rows.mT.flatten(0, 1).contiguous()
        out = rows.new_empty(self.partition.graph.num_nodes, rows.shape[1])
        for (i, x), mine in zip(self._dense, rows, strict=True):
            out[i] = x @ mine.t()
        return out

    @property
    def _sparse(self) -> bool:
        return self.partition.graph.features.layout == torch.sparse_csr

    @cached_property
    def _dense(self) -> list[tuple[Tensor, Tensor]]:
        """The nodes of every client and their features, gathered once."""
        order = torch.argsort(self.partition.owner, stable=True)
        each = order.split(self.partition.sizes.tolist())
        return [(i, self.partition.graph.features.index_select(0, i)) for i in each]


def client_features(partition: Partition) -> tuple[Tensor, Tensor]:
    """Sparse X̃ with columns of its own for every client, (N, K F), and its transpose, as CSR."""

    def make() -> tuple[Tensor, Tensor]:
        x = partition.graph.features
        shift = (partition.owner * x.shape[1]).to(torch.int32)
        amount = x.crow_indices().diff().long()
        col = x.col_indices() + shift.repeat_interleave(amount)
        size = (x.shape[0], partition.clients * x.shape[1])
        wide = csr_tensor(x.crow_indices(), col, x.values(), size)
        turned = wide.to_sparse_csc()
        parts = turned.ccol_indices(), turned.row_indices(), turned.values()
        return wide, csr_tensor(*parts, size[::-1])

    return partition.kept.get("client_features", frozenset({"x", "owner"}), make)
