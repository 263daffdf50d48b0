"""Personalised PageRank on sparse CSR operators, for the whole graph or for all clients at once.

One recursion serves every use: Z ← (1 - α) X + α Â Z, T times (eq. 1). α is the weight of the
neighbours. With the transposed operator the same recursion moves class indicators instead of
features, which is how nothing of width F has to travel over the graph (see client/sums.py).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from spear_core.memory.kept import Kept, made_from
from spear_core.wanted import still_wanted

CACHE_BYTES = 6_000_000  # of one block of columns on a CPU


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A + I as CSR with 32-bit indices: every stored entry is 1, and 2 on an existing self-loop."""

    crow: Tensor  # (N + 1)
    col: Tensor  # (M)
    loops: Tensor  # (L): nodes that had a self-loop
    symmetric: bool
    kept: Kept = field(default_factory=Kept, init=False, repr=False)  # what is computed when read

    @property
    def num_nodes(self) -> int:
        return len(self.crow) - 1

    @made_from()
    def row(self) -> Tensor:
        """The row of every stored entry, (M)."""
        index = torch.arange(self.num_nodes, dtype=torch.int32, device=self.crow.device)
        return torch.repeat_interleave(index, self.crow.diff().long())

    @made_from()
    def degree(self) -> Tensor:
        """Row sums of A + I, (N)."""
        degree = self.crow.diff().to(torch.float32)
        degree[self.loops] += 1
        return degree

    def reverse(self) -> "Adjacency":
        """(A + I)ᵀ."""
        if self.symmetric:
            return self
        order = torch.argsort(self.col, stable=True)
        crow = _pointers(torch.bincount(self.col, minlength=self.num_nodes))
        return Adjacency(crow, self.row[order], self.loops, symmetric=False)

    def within(self, owner: Tensor) -> "Adjacency":
        """A + I with only those edges whose two ends have one owner."""
        short = owner.to(torch.int32)  # what is read at random should be small
        keep = short.index_select(0, self.row) == short.index_select(0, self.col)
        kept = torch.zeros(len(keep) + 1, dtype=torch.int32, device=keep.device)
        torch.cumsum(keep, 0, dtype=torch.int32, out=kept[1:])
        crow = kept.index_select(0, self.crow)
        return Adjacency(crow, self.col.masked_select(keep), self.loops, self.symmetric)


def adjacency(edge_index: Tensor, n: int) -> Adjacency:
    """A + I from edges without repeats.

    >>> adjacency(torch.tensor([[0, 1], [1, 0]]), 3).degree
    tensor([2., 2., 1.])
    """
    device = edge_index.device
    diagonal = torch.arange(n, device=device)
    source, target = edge_index[0], edge_index[1]
    loop = source == target
    edges = (source * n + target)[~loop]
    if not bool((edges[1:] > edges[:-1]).all()):
        edges = edges.sort().values
    place = torch.searchsorted(edges, diagonal * (n + 1)) + diagonal  # where each (i, i) belongs
    is_edge = torch.ones(len(edges) + n, dtype=torch.bool, device=device)
    is_edge[place] = False
    col = torch.empty(len(edges) + n, dtype=torch.int32, device=device)
    col[is_edge] = (edges % n).to(torch.int32)
    col[place] = diagonal.to(torch.int32)
    crow = _pointers(torch.bincount(edges // n, minlength=n) + 1)
    entries = Adjacency(crow, col, source[loop], symmetric=False)
    still_wanted()
    column, order = torch.sort(col, stable=True)  # by column, rows ascending within one
    symmetric = torch.equal(column, entries.row) and torch.equal(entries.row[order], col)
    return replace(entries, symmetric=symmetric)


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


def propagate(
    operator: Tensor, x: Tensor, alpha: float, steps: int, rows: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    """Z after `steps` of Z ← (1 - α) X + α Â Z from Z = X; works for Âᵀ alike.

    With `rows` = (nodes, their rows of the operator) only those rows of Z are returned, and the
    last step is computed for them alone.
    """
    if alpha == 0 or steps == 0:
        return x if rows is None else x.index_select(0, rows[0])
    return propagate_blocks(
        operator, lambda block: x[:, block].contiguous(), x.shape[1], alpha, steps, rows
    )


def propagate_blocks(
    operator: Tensor,
    columns: Callable[[slice], Tensor],
    width: int,
    alpha: float,
    steps: int,
    rows: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """Z as by `propagate`, from X by its columns, a few at a time, so that a block stays cached."""
    n, steps = operator.shape[0], enough_steps(alpha, steps)
    step = block_width(n, operator.device)
    if step >= width:
        return _propagate_block(operator, columns(slice(0, width)), alpha, steps, rows)
    height = n if rows is None else len(rows[0])
    z = torch.empty(height, width, dtype=operator.dtype, device=operator.device)
    for first in range(0, width, step):
        block = slice(first, min(first + step, width))
        z[:, block] = _propagate_block(operator, columns(block), alpha, steps, rows)
    return z


def one_hot(nodes: Tensor, label: Tensor, value: Tensor, n: int, block: slice) -> Tensor:
    """Columns of the (n, C) matrix that holds `value` at (node, label) and is zero elsewhere."""
    out = torch.zeros(n, block.stop - block.start, dtype=value.dtype, device=value.device)
    inside = (label >= block.start) & (label < block.stop)
    out[nodes[inside], label[inside] - block.start] = value[inside]
    return out


def _propagate_block(
    operator: Tensor, x: Tensor, alpha: float, steps: int, rows: tuple[Tensor, Tensor] | None
) -> Tensor:
    z = x
    for _ in range(steps if rows is None else steps - 1):
        still_wanted()
        z = torch.addmm(x, operator, z, beta=1 - alpha, alpha=alpha)
    if rows is None:
        return z
    return torch.addmm(x.index_select(0, rows[0]), rows[1], z, beta=1 - alpha, alpha=alpha)


def block_width(n: int, device: torch.device) -> int:
    """How many columns to move at a time: rows are read at random, so a block should fit a cache.

    Measured at 169,343 nodes: five blocks of 8 columns take 28 ms, 40 columns at once 68 ms.
    """
    return max(4, CACHE_BYTES // (4 * n) // 4 * 4) if device.type == "cpu" else 2**31


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


def subgraph(edge_index: Tensor, nodes: Tensor, n: int) -> Tensor:
    """The edges among some of n nodes, in their order, with those nodes numbered from 0."""
    place = torch.full((n,), -1, dtype=torch.int64, device=nodes.device)
    place[nodes] = torch.arange(len(nodes), device=nodes.device)
    local = place[edge_index]
    return local[:, (local >= 0).all(dim=0)]


def as_double(matrix: Tensor) -> Tensor:
    """A matrix, CSR or dense, in float64."""
    if matrix.layout != torch.sparse_csr:
        return matrix.double()
    return torch.sparse_csr_tensor(
        matrix.crow_indices(),
        matrix.col_indices(),
        matrix.values().double(),
        matrix.shape,
        device=matrix.device,
    )


def enough_steps(alpha: float, steps: int, bits: int = 24) -> int:
    """After how many steps single precision, or so many bits, sees no further change: α^t < 2^-24.

    >>> enough_steps(0.15, 20), enough_steps(0.9, 20), enough_steps(0.0, 20)
    (9, 20, 0)
    """
    if alpha in (0, 1):
        return int(alpha) * steps
    return min(steps, math.ceil(bits * math.log(2) / -math.log(alpha)))


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


def squared(rows: Tensor) -> Tensor:
    """‖row‖² of every row, summed in float64."""
    return rows.square().sum(-1, dtype=torch.float64)
