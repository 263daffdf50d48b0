"""E = (I − M) Π X̃, the smoothed training rows less the mean of their client and class.

Its products with columns go through the operator and the (sparse) rows, all clients at once:
clients do not mix, so one (N, L) matrix holds the columns of all of them. Where there are few rows
they are made.
"""

from functools import cached_property

import torch
from torch import Tensor

from spear_core.client.sums import Sums
from spear_core.graph import csr_tensor
from spear_core.partition import Partition

BLOCK = 64  # columns moved at a time where E is made


class Rows:
    """E of all clients, by its products; its rows are the training nodes, client by client."""

    def __init__(self, sums: Sums) -> None:
        self.sums, self.partition = sums, sums.partition
        graph, clients = self.partition.graph, self.partition.clients
        nodes, self.classes = graph.train_nodes, graph.classes
        self.nodes = nodes[torch.argsort(self.partition.owner[nodes], stable=True)]  # (L)
        self.owner = self.partition.owner[self.nodes]
        self.cell = self.owner * graph.classes + graph.y[self.nodes]
        self.amount = torch.bincount(self.owner, minlength=clients)  # (K)
        self.cells = (self.partition.train_counts > 0).sum(1)
        self.first = self.amount.cumsum(0) - self.amount
        self.place = torch.arange(len(self.nodes), device=nodes.device) - self.first[self.owner]

    def means(self, values: Tensor) -> Tensor:
        """The mean over every client and class, (K C, columns)."""
        counts = self.partition.train_counts.flatten()
        total = values.new_zeros(len(counts), values.shape[1]).index_add_(0, self.cell, values)
        return total / counts.clamp_min(1)[:, None]

    def centred(self, values: Tensor) -> Tensor:
        """Less the mean over their client and class, (L, columns)."""
        return values - self.means(values).index_select(0, self.cell)

    def down(self, left: Tensor) -> Tensor:
        """Eᵀ times columns (L, columns), as rows, (K, columns, F)."""
        n = self.partition.graph.num_nodes
        spread = left.new_zeros(n, left.shape[1]).index_copy_(0, self.nodes, self.centred(left))
        return self._collected(self.sums.smooth(self.partition.operator_t, spread))

    def up(self, rows: Tensor) -> Tensor:
        """E times every client's own vectors (K, columns, F), (L, columns)."""
        smoothed = self.sums.smooth(self.partition.operator, self._projected(rows))
        return self.centred(smoothed.index_select(0, self.nodes))

    def whole(self, longest: int) -> tuple[list[Tensor], Tensor | None]:
        """E itself, client by client, (n_k, F); and the prototypes, if they fell out on the way."""
        places = torch.arange(max(longest, 1), device=self.place.device).split(BLOCK)
        if self._sparse:
            z = self._smoothed_rows(places)
            means = self.means(z)
            client, label = self.partition.pairs
            e = z - means.index_select(0, self.cell)
            return list(e.split(self.amount.tolist())), means[client * self.classes + label]
        one_hot = ((self.place[:, None] == some).to(torch.float32) for some in places)
        pages = torch.cat([self.down(left) for left in one_hot], dim=1)
        return [page[:n] for page, n in zip(pages, self.amount.tolist(), strict=True)], None

    def _smoothed_rows(self, places: tuple[Tensor, ...]) -> Tensor:
        """The smoothed training rows, (L, F): each is a sum over the few nodes around its own."""
        graph = self.partition.graph
        row, node, value = [], [], []
        for some in places:
            mine = (self.place >= some[0]) & (self.place <= some[-1])
            spread = torch.zeros(graph.num_nodes, len(some), device=graph.device)
            spread[self.nodes[mine], self.place[mine] - some[0]] = 1.0
            mass = self.sums.smooth(self.partition.operator_t, spread)
            there, column = mass.nonzero(as_tuple=True)
            row.append(self.first[self.partition.owner[there]] + some[0] + column)
            node.append(there)
            value.append(mass[there, column])
        index = torch.stack([torch.cat(row), torch.cat(node)])
        return gathered(index, torch.cat(value), len(self.nodes), graph.features)

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


def gathered(index: Tensor, value: Tensor, rows: int, features: Tensor) -> Tensor:
    """Sums of sparse rows of features (N, F) by the entries of a matrix (rows, N), dense."""
    size = (rows, len(features))
    if features.device.type != "cpu":
        weights = torch.sparse_coo_tensor(index, value, size).to_sparse_csr()
        return (weights @ features).to_dense()
    from scipy.sparse import csr_matrix  # two to three times as fast as torch here

    parts = (features.values(), features.col_indices(), features.crow_indices())
    x = csr_matrix(tuple(part.numpy() for part in parts), shape=tuple(features.shape))
    weights = csr_matrix((value.numpy(), tuple(index.numpy())), shape=size)
    return torch.from_numpy((weights @ x).toarray())


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
