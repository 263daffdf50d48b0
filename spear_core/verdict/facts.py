"""What can be counted of a graph and its clients without a test label."""

from dataclasses import dataclass
from typing import Any

import torch

from spear_core.graph import Graph
from spear_core.lance.affinity import affinity
from spear_core.partition import Partition

FEW = 20  # edges between training nodes, below which their homophily says little


@dataclass(frozen=True)
class Fact:
    """One number, in words, and the page that shows it."""

    name: str
    value: float | None
    words: str
    page: str


def facts_of(partition: Partition) -> list[Fact]:
    """Size, balance, homophily, affinity, scale, skew and lost edges; labels are those of training
    nodes alone.
    """
    graph = partition.graph
    return [*_sizes(graph), *_edges(graph), *_scale(graph), *_clients(partition)]


def _sizes(graph: Graph) -> list[Fact]:
    y = graph.y[graph.train_nodes]
    count = torch.bincount(y, minlength=graph.classes)
    held = count[count > 0]
    classes = graph.classes - graph.extra.unlabelled
    least, most = int(held.min()), int(held.max())
    return [
        _whole("nodes", graph.num_nodes, "nodes", "explore"),
        _whole("edges", graph.num_edges, "edges, each way counted", "explore"),
        _whole("features", graph.num_features, "features", "explore"),
        _whole("classes", classes, "classes", "split"),
        _whole("classes_without_training", classes - len(held), "of them never trained", "split"),
        _whole("training_nodes", len(y), "training nodes", "split"),
        Fact(
            "balance",
            least / most,
            f"{least:,} training nodes in the smallest class, {most:,} in the largest",
            "split",
        ),
    ]


def _edges(graph: Graph) -> list[Fact]:
    source, target = graph.edge_index
    both = graph.train[source] & graph.train[target] & (source != target)
    many = int(both.sum())
    same = int((graph.y[source] == graph.y[target])[both].sum())
    known = same / many if many else None
    words = (
        "no edge joins two training nodes, so homophily is not known"
        if known is None
        else f"{known:.0%} of the {many:,} edges between training nodes join one class"
        + (", too few to go by" if many < FEW else "")
    )
    a = float(affinity(graph).trusted)
    near = "more alike" if a > 0.02 else "no more alike" if a > -0.02 else "less alike"
    return [
        Fact("homophily", known, words, "smooth"),
        Fact("affinity", a, f"neighbours are {near} than strangers (affinity {a:.2f})", "beyond"),
    ]


def _scale(graph: Graph) -> list[Fact]:
    """Rows have length 1 when compared, so one large column may be all that counts."""
    x = graph.features
    if x.layout == torch.sparse_csr:
        total = torch.zeros(graph.num_features, dtype=torch.float64)
        total.index_add_(0, x.col_indices().long(), x.values().double() ** 2)
        empty = int((x.crow_indices().diff() == 0).sum())
    else:
        total = (x.double() ** 2).sum(0)
        empty = int((x == 0).all(1).sum())
    share = float(total.max() / total.sum().clamp_min(1e-30))
    words = "no single feature outweighs the rest"
    if share > 0.5:
        words = "one feature makes most of every comparison: bring columns to one scale"
    return [
        Fact("largest_feature", share, f"{words} (largest share {share:.0%})", "smooth"),
        _whole("empty_rows", empty, "nodes without any feature", "smooth"),
    ]


def _clients(partition: Partition) -> list[Fact]:
    counts = partition.train_counts.double()
    size, mass = counts.sum(1), counts.max(1).values
    trained = size > 0
    alone = int(((counts > 0).sum(1) == 1).sum())
    share = float((mass[trained] / size[trained]).mean())
    lost = partition.cut_edges / max(1, partition.graph.num_edges)
    return [
        _whole("clients", partition.clients, "clients", "split"),
        _whole("one_class_clients", alone, "clients that train on one class alone", "split"),
        _whole("untrained_clients", int((~trained).sum()), "clients without a label", "split"),
        Fact(
            "label_skew",
            share,
            f"{share:.0%} of a client's training nodes are of its largest class, on average",
            "split",
        ),
        Fact("lost_edges", lost, f"{lost:.0%} of the edges run between clients: lost", "split"),
    ]


def _whole(name: str, value: int, words: str, page: str) -> Fact:
    return Fact(name, value, f"{value:,} {words}", page)


def as_dict(found: list[Fact]) -> dict[str, Any]:
    return {one.name: one.value for one in found}
