"""Affinity: are neighbours more alike than strangers, in their features alone?

a = (mean x_i·x_j over edges − b) / (1 − b), where b is the mean over all pairs of nodes and rows
have length 1. No label is read. A product of two rows is made once for every edge of a graph and
kept; that of a client is a mean over its own edges. Graphs of very many edges are sampled.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.randomness import generator
from spear_core.wanted import still_wanted

EDGES = frozenset({"x", "edge_index", "nodes"})  # what products over edges depend on
MOST = 4_000_000  # edges; of more, a sample of as many is taken
ALIKE = 1 - 1e-6  # where all rows are one, but for rounding, nobody is nearer
FEW = 64  # clients whose sums are one product
ROOM = 4_000_000  # numbers of rows gathered at a time
DOUBT = 10  # edges (each way) that are worth no more than none: chance opens gates by a few


@dataclass(frozen=True, eq=False)
class Products:
    """x_i·x_j of the edges looked at, each pair once where every edge goes both ways."""

    source: Tensor  # (E')
    target: Tensor  # (E')
    value: Tensor  # (E')
    sampled: bool


@dataclass(frozen=True, eq=False)
class Affinity:
    """Of one graph, or of every client's own, (K); `error` is that of sampling, one σ."""

    value: Tensor
    error: Tensor
    edges: Tensor  # looked at, each way counted

    @property
    def trusted(self) -> Tensor:
        """What the gate is asked with: pulled to 0 where a few edges are all there is to go by."""
        return self.value * self.edges / (self.edges + DOUBT)


def affinity(graph: Graph) -> Affinity:
    """The affinity of a whole graph, (1); 0 without edges or with fewer than two nodes."""
    nobody = torch.zeros(graph.num_nodes, dtype=torch.int64, device=graph.device)
    return graph.kept.get("affinity", EDGES, lambda: _measured(graph, nobody, 1))


def client_affinity(partition: Partition) -> Affinity:
    """The affinity of every client's own nodes and edges, (K)."""

    def make() -> Affinity:
        return _measured(partition.graph, partition.owner, partition.clients)

    return partition.kept.get("affinity", EDGES | {"owner"}, make)


def products(graph: Graph) -> Products:
    """The products over a graph's edges, kept with it."""
    return graph.kept.get("edge_products", EDGES, lambda: _products(graph))


def _measured(graph: Graph, owner: Tensor, clients: int) -> Affinity:
    found = products(graph)
    mine = owner.index_select(0, found.source)
    inside = mine == owner.index_select(0, found.target)
    mine, value = mine[inside], found.value[inside].double()
    edges = torch.bincount(mine, minlength=clients).double()
    mean = torch.bincount(mine, value, minlength=clients) / edges.clamp_min(1)
    b = _strangers(graph, owner, clients)
    known = (edges > 0) & (b < ALIKE)
    rest = torch.where(known, 1 - b, 1.0)
    a = torch.where(known, (mean - b) / rest, 0.0)
    square = torch.bincount(mine, value * value, minlength=clients) / edges.clamp_min(1)
    spread = ((square - mean * mean).clamp_min(0) / edges.clamp_min(1)).sqrt() / rest
    ways = 2 if graph.adjacency.symmetric else 1
    return Affinity(a, spread if found.sampled else torch.zeros_like(spread), ways * edges)


def _strangers(graph: Graph, owner: Tensor, clients: int) -> Tensor:
    """The mean product of two nodes of one client, (K): (‖Σx‖² − Σ‖x‖²) / (n (n − 1))."""
    own = torch.bincount(owner, _squares(graph), minlength=clients)
    total = _client_sums(graph, owner, clients).double()
    n = torch.bincount(owner, minlength=clients).double()
    pairs = n * (n - 1)
    return torch.where(pairs > 0, ((total * total).sum(1) - own) / pairs.clamp_min(1), 0.0)


def _products(graph: Graph) -> Products:
    source, target = graph.edge_index
    wanted = source < target if graph.adjacency.symmetric else source != target
    source, target = source[wanted], target[wanted]
    sampled = len(source) > MOST
    if sampled:
        some = generator(0, "affinity").integers(0, len(source), MOST)
        chosen = torch.as_tensor(some, device=graph.device)
        source, target = source[chosen], target[chosen]
    x, value = graph.features, []
    sparse = x.layout == torch.sparse_csr
    each = max(1, x.values().numel() // max(len(x), 1)) if sparse else graph.num_features
    for i, j in zip(source.split(ROOM // each + 1), target.split(ROOM // each + 1), strict=True):
        still_wanted()
        if sparse:
            value.append(_row_products(x, i, j))
        else:
            value.append((x.index_select(0, i) * x.index_select(0, j)).sum(1))
    return Products(source, target, torch.cat(value) if value else x.new_zeros(0), sampled)


def _row_products(x: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """x_i·x_j of sparse rows."""
    from scipy.sparse import csr_matrix

    parts = (x.values(), x.col_indices(), x.crow_indices())
    rows = csr_matrix(tuple(part.cpu().numpy() for part in parts), shape=tuple(x.shape))
    met = rows[i.cpu().numpy()].multiply(rows[j.cpu().numpy()]).sum(axis=1)
    return torch.as_tensor(met, dtype=x.dtype, device=x.device).flatten()


def _client_sums(graph: Graph, owner: Tensor, clients: int) -> Tensor:
    """Σx over every client's nodes, (K, F)."""
    x, width = graph.features, graph.num_features
    if x.layout != torch.sparse_csr:
        total = x.new_zeros(clients, width, dtype=torch.float64)
        for rows, who in zip(x.split(4096), owner.split(4096), strict=True):
            total.index_add_(0, who, rows.double())
        return total
    if clients <= FEW:
        return graph.collect(torch.nn.functional.one_hot(owner, clients).to(x.dtype))
    place = owner[_row(x)] * width + x.col_indices()
    return torch.bincount(place, x.values(), minlength=clients * width).view(clients, width)


def _squares(graph: Graph) -> Tensor:
    """‖x‖² of every row, (N): 1, or 0 of a zero row."""

    def make() -> Tensor:
        x = graph.features
        if x.layout != torch.sparse_csr:
            return (x * x).sum(1).double()
        return torch.bincount(_row(x), x.values().double().square(), minlength=x.shape[0])

    return graph.kept.get("squares", frozenset({"x"}), make)


def _row(x: Tensor) -> Tensor:
    """The row of every stored entry of a CSR matrix."""
    index = torch.arange(x.shape[0], device=x.device)
    return torch.repeat_interleave(index, x.crow_indices().diff().long())
