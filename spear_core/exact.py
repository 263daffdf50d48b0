"""Which class really wins, in float64, for the few nodes where float32 cannot tell.

A prediction must not depend on the order in which numbers were added. So whoever finds two scores
closer than its own rounding error (`classify` for one run, `recombine` for a whole grid) asks here,
and both get the winner of exact arithmetic on the stored numbers. Classes closer than `TIE` are
equal, and the first of them wins.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.propagate import as_double, enough_steps, mixing, one_hot, select_rows
from spear_core.wanted import still_wanted

TIE = 1e-12  # far above float64 rounding, far below any difference that is meant
SMALLEST = 0.1  # of a score when its rounding is weighed: where unit vectors cancel out, it stays
SMALL = 1_000_000  # entries of a matrix that is quicker multiplied whole
BLOCK = 4096  # dense rows turned to float64 at a time
BITS = 60  # beyond which a power is left out: more than float64 has
COLUMNS = 4  # columns propagated at a time: 26 took 66 ms at once and 27 ms in blocks of four


def exactly(
    times: Callable[[Tensor], Tensor],
    columns: Callable[[slice], Tensor],
    width: int,
    alpha: float,
    steps: int,
) -> Tensor:
    """Z after `steps` of Z ← (1 - α) X + α Â Z in float64, from X by its columns.

    `times` multiplies by Â.
    """
    first, *weights = mixing(alpha, enough_steps(alpha, steps, BITS))
    parts = []
    for begin in range(0, width, COLUMNS):
        still_wanted()
        power = columns(slice(begin, min(begin + COLUMNS, width))).double()
        total = first * power
        for weight in weights:
            power = times(power)
            total.add_(power, alpha=weight)
        parts.append(total)
    return torch.cat(parts, dim=1)


def exact_z(graph: Graph, nodes: Tensor, alpha: float, steps: int) -> Tensor:
    """Smoothed features of some nodes in float64, (L, F)."""
    count, n = len(nodes), graph.num_nodes
    column, ones = torch.arange(count, device=graph.device), torch.ones(count, device=graph.device)
    whole = cache(lambda: as_double(graph.operator_t))
    mass = exactly(  # Πᵀ of a unit column is the node's row of Π
        lambda power: _transposed(graph.operator, whole, power),
        lambda block: one_hot(nodes, column, ones, n, block),
        count,
        alpha,
        steps,
    )
    return collect_exactly(graph, mass)


def exact_scores(graph: Graph, prototypes: Tensor, alpha: float, steps: int) -> Tensor:
    """Scores of every node in float64, (N, C), where too many are in doubt to take one by one."""
    columns = prototypes.t().contiguous()
    if graph.features.layout == torch.sparse_csr:
        flat = as_double(graph.features) @ columns
    else:
        flat = torch.cat([rows.double() @ columns for rows in graph.features.split(BLOCK)])
    operator = as_double(graph.operator)
    return exactly(
        operator.__matmul__, lambda block: flat[:, block].contiguous(), flat.shape[1], alpha, steps
    )


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
