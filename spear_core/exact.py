"""Which class really wins, in float64, for the few nodes where float32 cannot tell.

A prediction must not depend on the order in which numbers were added. So whoever finds two scores
closer than its own rounding error (`classify` for one run, `recombine` for a whole grid) asks here,
and both get the winner of exact arithmetic on the stored numbers. Classes closer than `TIE` are
equal, and the first of them wins.
"""

import math
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.propagate import as_double, mixing, select_rows
from spear_core.wanted import still_wanted

TIE = 1e-12  # far above float64 rounding, far below any difference that is meant
SMALLEST = 0.1  # of a score when its rounding is weighed: where unit vectors cancel out, it stays
SMALL = 1_000_000  # entries of a matrix that is quicker multiplied whole
BLOCK = 4096  # dense rows turned to float64 at a time
COLUMNS = 4  # columns propagated at a time: 26 took 66 ms at once and 27 ms in blocks of four


def power_weights(alpha: float, steps: int, device: torch.device) -> Tensor:
    """The weights of the operator's powers as one row, (1, T + 1), without those that vanish."""
    enough = steps if alpha == 1 else math.ceil(math.log(1e-18) / math.log(max(alpha, 1e-18)))
    weights = mixing(alpha, min(steps, enough))
    return torch.tensor([weights], dtype=torch.float64, device=device)


def exact_prototypes(partition: Partition, omega: Tensor, w: Tensor, labels: Tensor) -> Tensor:
    """Unit prototypes in float64, (Q, F): one for every column of ω (P, Q), row of w and label.

    `w` (Q, T + 1) are the weights of the powers of the operator (`power_weights`).
    """
    graph, owner, (client, own) = partition.graph, partition.owner, partition.pairs
    nodes = graph.train_nodes
    label = graph.y[nodes]
    pair = torch.zeros(partition.clients, graph.classes, dtype=torch.int64, device=graph.device)
    pair[client, own] = torch.arange(len(client), device=graph.device)
    counts = partition.train_counts[client, own]
    each = (omega.double() / counts[:, None])[pair[owner[nodes], label]]
    each = each.masked_fill_(label[:, None] != labels, 0)
    shape = (graph.num_nodes, len(labels))
    total = torch.zeros(shape, dtype=torch.float64, device=graph.device)
    if w.shape[1] > 1:
        operator = as_double(partition.operator_t)
    for first in range(0, len(labels), COLUMNS):
        still_wanted()
        some = slice(first, first + COLUMNS)
        power = total.new_zeros(len(total), len(labels[some]))
        power[nodes] = each[:, some]
        total[:, some] = power * w[some, 0]
        for s in range(1, _powers(w[some])):
            power = operator @ power
            total[:, some] += power * w[some, s]
    return unit(collect_exactly(graph, total))


def exact_z(graph: Graph, nodes: Tensor, w: Tensor) -> Tensor:
    """Smoothed features of some nodes in float64, (L, F); `w` (L, T + 1) as above."""
    shape = (graph.num_nodes, len(nodes))
    total = torch.zeros(shape, dtype=torch.float64, device=graph.device)
    whole = cache(lambda: as_double(graph.operator_t))
    for first in range(0, len(nodes), COLUMNS):
        still_wanted()
        some = slice(first, first + COLUMNS)
        power = total.new_zeros(len(total), len(nodes[some]))
        power[nodes[some], torch.arange(power.shape[1], device=graph.device)] = 1
        total[:, some] = power * w[some, 0]  # Πᵀ of a unit column is the node's row of Π
        for t in range(1, _powers(w[some])):
            power = _transposed(graph.operator, whole, power)
            total[:, some] += power * w[some, t]
    return collect_exactly(graph, total)


def _powers(w: Tensor) -> int:
    """How many powers of the operator have any weight, (L, T + 1)."""
    return int(w.any(dim=0).nonzero().max()) + 1


def exact_scores(graph: Graph, prototypes: Tensor, w: Tensor) -> Tensor:
    """Scores of every node in float64, (N, C), where too many are in doubt to take one by one."""
    columns = prototypes.t().contiguous()
    if graph.features.layout == torch.sparse_csr:
        power = as_double(graph.features) @ columns
    else:
        power = torch.cat([rows.double() @ columns for rows in graph.features.split(BLOCK)])
    operator, total = as_double(graph.operator), power * w[0, 0]
    for t in range(1, w.shape[1]):
        power = operator @ power
        total.add_(power, alpha=float(w[0, t]))
    return total


def collect_exactly(graph: Graph, mass: Tensor) -> Tensor:
    """massᵀ X̃ (L, F) in float64."""
    if graph.features.layout == torch.sparse_csr:
        return _transposed(graph.features, lambda: graph.exact_features_t, mass).t()
    shape = (mass.shape[1], graph.num_features)
    total = torch.zeros(shape, dtype=torch.float64, device=graph.device)
    for rows in mass.any(dim=1).nonzero().squeeze(1).split(BLOCK):
        total.addmm_(mass[rows].t(), graph.features[rows].double())
    return total


def _transposed(matrix: Tensor, other: Callable[[], Tensor], x: Tensor) -> Tensor:
    """matrixᵀ x in float64; `other` gives all of matrixᵀ, unless few rows and columns count."""
    if matrix.values().numel() < SMALL or x.shape[1] > COLUMNS:
        return other() @ x
    rows = x.any(dim=1).nonzero().squeeze(1)
    if 4 * len(rows) > len(x):
        return other() @ x
    part = select_rows(matrix, rows)
    given = x[rows].repeat_interleave(part.crow_indices().diff().long(), dim=0)
    given *= part.values()[:, None]
    columns = (
        torch.bincount(part.col_indices(), column, minlength=matrix.shape[1])
        for column in given.t().contiguous()
    )
    return torch.stack(list(columns), dim=1)


def first_of_best(scores: Tensor) -> Tensor:
    """The winner of every row of exact scores (L, C): the first of those equal to the best."""
    size = scores.masked_fill(scores == -torch.inf, 0).abs().amax(dim=1).clamp_min(SMALLEST)
    near = scores >= (scores.amax(dim=1) - TIE * size)[:, None]
    return near.to(torch.uint8).argmax(dim=1)


def unit(rows: Tensor) -> Tensor:
    """Rows of length 1 in float64; a zero row stays zero."""
    return torch.nn.functional.normalize(rows.double(), dim=-1, eps=1e-200)
