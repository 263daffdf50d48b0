"""The exact cosine silhouette of the test nodes, without pairwise distances and without Z.

Class sums and similarities are two propagations of width C; norms come from row products that are
kept with the graph.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.measures.centroids import class_sums
from spear_core.powers import TESTED
from spear_core.propagate import mixing, propagate
from spear_core.wanted import still_wanted

RESOLUTION = 1e-6  # of a cosine distance computed in single precision
FEW_STEPS = 5  # up to here the row products that serve every α are kept


def silhouette(graph: Graph, alpha: float, steps: int) -> float | None:
    """Mean cosine silhouette of the test nodes by class, exact, without pairwise distances.

    With unit rows x̂ and class sums S_c every mean distance is a dot product:
    a = 1 - (x̂·S_y - x̂·x̂) / (n_y - 1), b = min over other classes of 1 - x̂·S_c / n_c,
    s = (b - a) / max(a, b); 0 for a class of one. Distances that single precision cannot tell
    from zero count as zero.
    """
    nodes = graph.test_nodes
    label = graph.y[nodes]
    size = torch.bincount(label, minlength=graph.classes)
    if int((size > 0).sum()) < 2:
        return None
    if alpha == 0:
        steps = 0
    length = smoothed_norms(graph, alpha, steps)  # (M)
    scale = torch.where(length > 0, 1 / length.clamp_min(1e-30), torch.zeros_like(length))
    sums = class_sums(graph, nodes, scale.float(), alpha, steps)  # (C, F)
    rows = (nodes, graph.test_operator)
    near = propagate(graph.operator, graph.project(sums), alpha, steps, rows)
    near = near.double() * scale.double()[:, None]  # (M, C): x̂·S_c
    own = near.gather(1, label[:, None]).squeeze(1)
    itself = (length > 0).double()
    n_own = size[label].double()
    a = (n_own - 1 - (own - itself)) / (n_own - 1).clamp_min(1)
    other = 1 - near / size.clamp_min(1)
    other[:, size == 0] = torch.inf
    b = other.scatter(1, label[:, None], torch.inf).min(dim=1).values
    a, b = (torch.where(d > RESOLUTION, d, torch.zeros_like(d)) for d in (a, b))
    most = torch.maximum(a, b)
    s = torch.where((n_own > 1) & (most > 0), (b - a) / most.clamp_min(1e-30), torch.zeros_like(a))
    return float(s.mean())


def smoothed_norms(graph: Graph, alpha: float, steps: int) -> Tensor:
    """‖z_i‖ of the test nodes, (M): a quadratic form in the mixing weights while T is small."""
    if steps > FEW_STEPS:
        rows = (graph.test_nodes, graph.test_operator)
        square = torch.zeros(len(graph.test_nodes), dtype=torch.float64, device=graph.device)
        for block in _column_blocks(graph):
            z = propagate(graph.operator, block, alpha, steps, rows)
            square += (z * z).sum(1, dtype=torch.float64)
        return square.sqrt()
    products = row_products(graph, steps)  # (M, T + 1, T + 1)
    w = torch.tensor(mixing(alpha, steps), dtype=products.dtype, device=graph.device)
    return torch.einsum("mst,s,t->m", products, w, w).clamp_min(0).sqrt()


def row_products(graph: Graph, steps: int) -> Tensor:
    """⟨(Â^s X̃)_i, (Â^t X̃)_i⟩ for the test nodes, kept with the graph, (M, T + 1, T + 1)."""
    found: Tensor | None = graph.kept.peek("row_products", TESTED)
    if found is not None and found.shape[1] > steps:
        return found[:, : steps + 1, : steps + 1]
    nodes = graph.test_nodes
    shape = (len(nodes), steps + 1, steps + 1)
    total = torch.zeros(shape, dtype=torch.float64, device=graph.device)
    for block in _column_blocks(graph):
        powers = [block.index_select(0, nodes)]
        for _ in range(steps):
            block = graph.operator @ block
            powers.append(block.index_select(0, nodes))
        for s, left in enumerate(powers):
            for t in range(s, steps + 1):
                dot = (left * powers[t]).sum(1, dtype=torch.float64)
                total[:, s, t] += dot
                if t > s:
                    total[:, t, s] += dot
    graph.kept.put("row_products", TESTED, total)  # the larger one holds every smaller one
    return total


def _column_blocks(graph: Graph, width: int = 512) -> Iterator[Tensor]:
    """X̃ by dense blocks of columns, so that memory stays small."""
    for start in range(0, graph.num_features, width):
        still_wanted()
        yield _columns(graph, start, min(start + width, graph.num_features))


def _columns(graph: Graph, start: int, stop: int) -> Tensor:
    """Columns of X̃ as a dense block, (N, stop - start)."""
    if graph.features.layout != torch.sparse_csr:
        return graph.features[:, start:stop].contiguous()
    by_column = graph.features_t  # (F, N) CSR: a slice of columns is a slice of rows
    crow = by_column.crow_indices()
    first, last = int(crow[start]), int(crow[stop])
    column = torch.repeat_interleave(
        torch.arange(stop - start, device=graph.device), crow[start : stop + 1].diff().long()
    )
    block = torch.zeros(graph.num_nodes, stop - start, device=graph.device)
    block[by_column.col_indices()[first:last].long(), column] = by_column.values()[first:last]
    return block
