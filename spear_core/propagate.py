"""Personalised PageRank on sparse CSR operators, for the whole graph or for all clients at once.

One recursion serves every use: Z ← (1 - α) X + α Â Z, T times (eq. 1). α is the weight of the
neighbours. With the transposed operator the same recursion moves class indicators instead of
features, which is how nothing of width F has to travel over the graph (see client.py).
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A + I as CSR with 32-bit indices: every stored entry is 1, and 2 on an existing self-loop."""

    crow: Tensor  # (N + 1)
    col: Tensor  # (M)
    loops: Tensor  # (L): nodes that had a self-loop
    symmetric: bool

    @property
    def num_nodes(self) -> int:
        return len(self.crow) - 1

    @cached_property
    def row(self) -> Tensor:
        """The row of every stored entry, (M)."""
        index = torch.arange(self.num_nodes, dtype=torch.int32, device=self.crow.device)
        return torch.repeat_interleave(index, self.crow.diff().long())

    @cached_property
    def degree(self) -> Tensor:
        """Row sums of A + I, (N)."""
        degree = self.crow.diff().to(torch.float32)
        degree[self.loops] += 1
        return degree

    def reverse(self) -> "Adjacency":
        """(A + I)ᵀ."""
        if self.symmetric:
            return self
        order = torch.argsort(self.col.long() * self.num_nodes + self.row.long())
        crow = _pointers(torch.bincount(self.col, minlength=self.num_nodes))
        return Adjacency(crow, self.row[order], self.loops, symmetric=False)

    def within(self, owner: Tensor) -> "Adjacency":
        """The same without the entries whose two ends have different owners."""
        keep = owner.index_select(0, self.row) == owner.index_select(0, self.col)
        kept = torch.zeros(len(keep) + 1, dtype=torch.int32, device=keep.device)
        torch.cumsum(keep, 0, dtype=torch.int32, out=kept[1:])
        crow = kept.index_select(0, self.crow)
        return Adjacency(crow, self.col[keep], self.loops, self.symmetric)


def adjacency(edge_index: Tensor, n: int) -> Adjacency:
    """A + I from edges without repeats.

    >>> adjacency(torch.tensor([[0, 1], [1, 0]]), 3).degree
    tensor([2., 2., 1.])
    """
    device = edge_index.device
    diagonal = torch.arange(n, device=device)
    source, target = edge_index[0], edge_index[1]
    loop = source == target
    key = torch.cat([source[~loop] * n + target[~loop], diagonal * (n + 1)]).sort().values
    row, col = key // n, key % n
    symmetric = bool(torch.equal((col * n + row).sort().values, key))
    crow = _pointers(torch.bincount(row, minlength=n))
    return Adjacency(crow, col.to(torch.int32), source[loop], symmetric)


def transition(entries: Adjacency, of: Adjacency | None = None) -> Tensor:
    """Row-normalised operator D̃⁻¹(A + I); with `of` = A + I and `entries` its reverse, Âᵀ."""
    if of is None:
        by_row = entries.degree.reciprocal()
        values = by_row.index_select(0, entries.row)
    else:
        values = of.degree.reciprocal().index_select(0, entries.col)
    if len(entries.loops):
        looped = torch.zeros(entries.num_nodes, dtype=torch.bool, device=values.device)
        looped[entries.loops] = True
        on_loop = (entries.row == entries.col) & looped.index_select(0, entries.row)
        values = torch.where(on_loop, 2 * values, values)
    n = entries.num_nodes
    return torch.sparse_csr_tensor(entries.crow, entries.col, values, (n, n), device=values.device)


def client_operator_t(forward: Adjacency, reverse: Adjacency, owner: Tensor) -> Tensor:
    """Âᵀ of all clients at once: entries between different owners dropped, then normalised."""
    inside = forward.within(owner)
    if forward.symmetric:
        return transition(inside, of=inside)
    return transition(reverse.within(owner), of=inside)


def propagate(operator: Tensor, x: Tensor, alpha: float, steps: int) -> Tensor:
    """Z after `steps` of Z ← (1 - α) X + α Â Z from Z = X; works for Âᵀ alike."""
    z = x
    if alpha > 0:
        for _ in range(steps):
            z = torch.addmm(x, operator, z, beta=1 - alpha, alpha=alpha)
    return z


def select_rows(operator: Tensor, rows: Tensor) -> Tensor:
    """Some rows of a CSR matrix, in the order given."""
    crow = operator.crow_indices()
    starts, amount = crow[rows].long(), crow.diff()[rows].long()
    picked = _pointers(amount)
    offset = torch.arange(int(picked[-1]), device=rows.device)
    offset += torch.repeat_interleave(starts - picked[:-1], amount)
    size = (len(rows), operator.shape[1])
    col, values = operator.col_indices()[offset], operator.values()[offset]
    return torch.sparse_csr_tensor(picked, col, values, size, device=rows.device)


def mixing(alpha: float, steps: int) -> list[float]:
    """The weights w_t of Z = Σ_t w_t Â^t X: (1 - α) α^t before the last step, α^T at the last.

    >>> mixing(0.5, 2)
    [0.5, 0.25, 0.25]
    """
    return [(1 - alpha) * alpha**t for t in range(steps)] + [alpha**steps]


def _pointers(counts: Tensor) -> Tensor:
    crow = torch.zeros(len(counts) + 1, dtype=torch.int32, device=counts.device)
    torch.cumsum(counts, 0, dtype=torch.int32, out=crow[1:])
    return crow
