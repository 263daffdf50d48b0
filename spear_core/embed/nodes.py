"""The nodes drawn on a map: which they are, and their smoothed features.

Their rows of X̃, ÂX̃, … Â²⁰X̃ are kept, so another α is a mixture and costs nothing on the graph.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from spear_core.embed.keep import digest
from spear_core.graph import Graph
from spear_core.powers import MOST_KEPT, Powers, propagate_slowly
from spear_core.propagate import enough_steps, propagate, select_rows

MOST = 3000  # background nodes: more slow the browser down and show nothing more

# A preview sees features wider than 512 through 256 random directions: products keep their
# expected value, lengths are right to about 4 %. A fitted map has exact lengths and neighbours.
WIDE, SKETCH = 512, 256

Pause = Callable[[], None]  # called between two pieces of work; may wait, may raise

DRAWN = frozenset({"x", "edge_index", "nodes"})  # what the nodes' smoothed features depend on
LABELS = frozenset({"y", "classes"})  # what the choice of them does


def no_pause() -> None:
    """Go on at once."""


def choose(graph: Graph) -> Tensor:
    """The background nodes (M), ascending: all, or 3,000 with every class in its proportion."""
    return graph.kept.get("map_nodes", LABELS, lambda: _stratified(graph))


def _stratified(graph: Graph) -> Tensor:
    n, y = graph.num_nodes, graph.y
    if n <= MOST:
        return torch.arange(n, device=graph.device)
    size = torch.bincount(y, minlength=graph.classes)
    quota = ((MOST - graph.classes) * size // n).clamp_min(1).minimum(size)
    shuffle = torch.randperm(n, generator=generator(), device="cpu").to(graph.device)
    order = shuffle[torch.argsort(y[shuffle], stable=True)]  # by class, at random within one
    rank = torch.arange(n, device=graph.device) - (size.cumsum(0) - size)[y[order]]
    return order[rank < quota[y[order]]].sort().values


def smoothed(
    graph: Graph, nodes: Tensor, alpha: float, steps: int, pause: Pause = no_pause
) -> Tensor:
    """Rows of Z for the background nodes, (M, d); d = F, or 256 random directions."""
    operator = graph.operator
    if enough_steps(alpha, steps) > MOST_KEPT:  # far out: one propagation, nothing is kept
        rows = (nodes, select_rows(operator, nodes))
        return propagate_slowly(operator, _columns(graph), alpha, steps, rows, pause)

    def make(t: int, whole: Tensor | None) -> tuple[Tensor, Tensor]:
        if whole is None:
            whole = _columns(graph)  # (N, d)
            return whole, whole.index_select(0, nodes)
        if t > 1:  # one behind: the last product is made for the background alone
            whole = propagate(operator, whole, 1.0, 1)
        return whole, select_rows(operator, nodes) @ whole

    powers = graph.kept.get(("map_powers", digest(nodes)), DRAWN, Powers, most=1)
    powers.grow_slowly(enough_steps(alpha, steps), make, pause)
    powers.let_go()  # the last power is as large as the features
    return powers.mixed(alpha, steps).float()


def _columns(graph: Graph) -> Tensor:
    """X̃ as dense columns, or seen through random directions if there are many, (N, d)."""
    x, width = graph.features, graph.num_features
    if width > WIDE:
        seen = torch.randn(width, SKETCH, generator=generator(), device="cpu")
        x = x @ (seen / math.sqrt(SKETCH)).to(graph.device)
    return x.to_dense() if x.is_sparse_csr else x


def cosines(
    graph: Graph,
    nodes: Tensor,
    rows: Tensor,
    alpha: float,
    steps: int,
    pause: Pause = no_pause,
) -> tuple[Tensor, Tensor]:
    """Exact cosines between all background nodes (M, M) and the lengths of their rows of Z (M).

    `rows` are the smoothed features, which are exact already where they are not wide.
    """
    if graph.num_features <= WIDE:
        lengths, near = rows.norm(dim=1), rows @ rows.t()
    else:
        picked = (nodes, select_rows(graph.operator, nodes))
        near = torch.zeros(len(nodes), len(nodes), device=graph.device)
        for block in torch.arange(graph.num_features, device=graph.device).split(WIDE):
            pause()
            if graph.features.is_sparse_csr:
                x = select_rows(graph.features_t, block).to_dense().t().contiguous()
            else:
                x = graph.features[:, block]
            z = propagate(graph.operator, x, alpha, steps, picked)
            near.addmm_(z, z.t())
        lengths = near.diagonal().sqrt()
    by = torch.where(lengths > 0, 1 / lengths, 0.0)
    return by[:, None] * near * by, lengths


def generator() -> torch.Generator:
    return torch.Generator(device="cpu").manual_seed(0)
