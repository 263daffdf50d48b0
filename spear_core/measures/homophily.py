"""How often an edge joins two nodes of one class: over the graph, by client, by node."""

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.partition import Partition

EDGES = frozenset({"edge_index", "y"})  # what edges between like nodes depend on


def same_class(graph: Graph) -> Tensor:
    """True for every edge whose ends are of one class, (E); kept with the graph."""
    y, (source, target) = graph.y, graph.edge_index
    return graph.kept.get(
        "same_class", EDGES, lambda: y.index_select(0, source) == y.index_select(0, target)
    )


def homophily(graph: Graph) -> float | None:
    """Share of edges that join two nodes of one class; None without edges."""
    same = same_class(graph)
    if graph.extra.unlabelled:  # edges of which both ends have a label
        source, target = graph.edge_index
        same = same[graph.known[source] & graph.known[target]]
    return int(same.sum()) / len(same) if len(same) else None


def client_homophily(partition: Partition) -> list[float | None]:
    """Share of every client's own edges that join one class, (K); None without edges."""
    owner = partition.owner.index_select(0, partition.graph.edge_index[0])
    kind = 2 * owner + same_class(partition.graph)  # one count for every client and kind of edge
    kind = kind.masked_fill_(partition.cut, 2 * partition.clients)  # and one for what is cut
    count = torch.bincount(kind, minlength=2 * partition.clients + 1)[:-1].view(-1, 2)
    return [same / (same + other) if same + other else None for other, same in count.tolist()]


def node_homophily(graph: Graph) -> Tensor:
    """Share of every node's neighbours that are of its own class, NaN without neighbours, (N)."""

    def make() -> Tensor:
        source, target = graph.edge_index
        others = source != target
        degree = torch.bincount(source[others], minlength=graph.num_nodes)
        same = source[others & same_class(graph)]
        return torch.bincount(same, minlength=graph.num_nodes) / degree

    return graph.kept.get("node_homophily", EDGES, make)
