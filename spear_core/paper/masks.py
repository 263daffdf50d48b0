"""Ways to zero features that Settings does not offer, tried against the paper's printed figures.

Each is a function from a partition, settings and random numbers to an accuracy. All work on CSR
features, as Cora, CiteSeer and PubMed have them; a mask says which stored entries stay.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from spear_core.classify import classify
from spear_core.client import Uploads, upload
from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.propagate import propagate, transition
from spear_core.server import estimate
from spear_core.settings import Settings

RATE = 0.5  # the paper's η
Trial = Callable[[Partition, Settings, np.random.Generator], float]
Mask = Callable[[Partition, np.random.Generator], np.ndarray]


def trial(
    keep: Mask, scaled: str = "after", clients: bool = True, test: Mask | None = None
) -> Trial:
    """A trial from a mask of the clients' features and perhaps one of the test graph's.

    `scaled` says when rows are brought to unit length: after the mask, before it, or never.
    """

    def accuracy(partition: Partition, settings: Settings, rng: np.random.Generator) -> float:
        graph = partition.graph
        held = masked(graph, keep(partition, rng), scaled) if clients else graph
        tested = masked(graph, test(partition, rng), scaled) if test else graph
        return _accuracy(upload(partition.on(held), settings), tested, settings)

    return accuracy


def masked(graph: Graph, keep: np.ndarray, scaled: str) -> Graph:
    """The graph with some stored entries of its features set to zero."""
    x = graph.features if scaled == "before" else graph.x
    values = x.values() * torch.as_tensor(keep, device=graph.device)
    x = torch.sparse_csr_tensor(
        x.crow_indices(), x.col_indices(), values, x.shape, device=graph.device
    )
    new = graph.replace(x=x)
    if scaled != "after":
        new.kept.put("features", frozenset({"x"}), x)
    return new


def entries(rate: float = RATE) -> Mask:
    """Each entry by itself."""
    return lambda partition, rng: rng.random(len(_row(partition))) >= rate


def only(who: Callable[[Partition, np.random.Generator], np.ndarray]) -> Mask:
    """Each entry by itself, of some nodes only."""
    return lambda partition, rng: entries()(partition, rng) | ~who(partition, rng)[_row(partition)]


def exact(partition: Partition, rng: np.random.Generator) -> np.ndarray:
    """Exactly half of the entries of each node, rounded down."""
    row = _row(partition)
    order = np.lexsort((rng.random(len(row)), row))
    amount = np.bincount(row, minlength=partition.graph.num_nodes)
    rank = np.empty(len(row), dtype=np.int64)
    rank[order] = np.arange(len(row)) - (np.cumsum(amount) - amount)[row[order]]
    return rank >= (RATE * amount).astype(np.int64)[row]


def own_columns(partition: Partition, rng: np.random.Generator) -> np.ndarray:
    """Whole columns, chosen by each client for itself."""
    luck = rng.random((partition.clients, partition.graph.num_features))
    owner = partition.owner.cpu().numpy()[_row(partition)]
    return luck[owner, partition.graph.x.col_indices().cpu().numpy()] >= RATE


def some_clients(partition: Partition, rng: np.random.Generator) -> np.ndarray:
    """The nodes of half of the clients."""
    return (rng.random(partition.clients) < RATE)[partition.owner.cpu().numpy()]


def training(partition: Partition, rng: np.random.Generator) -> np.ndarray:
    return partition.graph.train.cpu().numpy()


def others(partition: Partition, rng: np.random.Generator) -> np.ndarray:
    return ~training(partition, rng)


def some_training(partition: Partition, rng: np.random.Generator) -> np.ndarray:
    return training(partition, rng) & (rng.random(partition.graph.num_nodes) < RATE)


def whole_training(partition: Partition, rng: np.random.Generator) -> np.ndarray:
    """All entries of half of the training nodes."""
    return ~some_training(partition, rng)[_row(partition)]


def half_of_nodes(partition: Partition, rng: np.random.Generator) -> np.ndarray:
    return rng.random(partition.graph.num_nodes) < RATE


def prototypes(partition: Partition, settings: Settings, rng: np.random.Generator) -> float:
    """The mask on what is uploaded."""
    up = upload(partition, settings)
    sent = up.replace(prototypes=up.prototypes * _stays(up.prototypes.shape, rng))
    return _accuracy(sent, partition.graph, settings)


def smoothed(partition: Partition, settings: Settings, rng: np.random.Generator) -> float:
    """The mask on the smoothed training nodes, before they are averaged."""
    graph, nodes = partition.graph, partition.graph.train_nodes
    inside = transition(graph.adjacency.within(partition.owner))
    z = propagate(inside, graph.features.to_dense(), settings.alpha, settings.steps)[nodes]
    z = z * _stays(z.shape, rng)
    up = upload(partition, settings)
    row = up.table(torch.arange(len(up.client), device=graph.device))
    row = row[partition.owner[nodes], graph.y[nodes]]
    mean = torch.zeros_like(up.prototypes).index_add_(0, row, z) / up.counts[:, None]
    return _accuracy(up.replace(prototypes=mean), graph, settings)


def _accuracy(uploads: Uploads, tested: Graph, settings: Settings) -> float:
    found = classify(tested, estimate(uploads, settings), settings)
    return float((found.labels == tested.y[found.nodes]).double().mean())


def _row(partition: Partition) -> np.ndarray:
    """The node of every stored entry."""
    crow = partition.graph.x.crow_indices().cpu().numpy()
    return np.repeat(np.arange(len(crow) - 1), np.diff(crow))


def _stays(shape: tuple[int, ...], rng: np.random.Generator) -> Tensor:
    return torch.from_numpy(rng.random(shape) >= RATE)


TRIALS: dict[str, Trial] = {
    "each entry, rows scaled before (dropout)": trial(entries(), scaled="before"),
    "each entry, rows never scaled": trial(entries(), scaled="never"),
    "each entry with η/2, rows scaled before": trial(entries(RATE / 2), scaled="before"),
    "each entry with η/2, rows never scaled": trial(entries(RATE / 2), scaled="never"),
    "each entry of half of the nodes, rows scaled before": trial(
        only(half_of_nodes), scaled="before"
    ),
    "all entries of half of the training nodes": trial(whole_training),
    "exactly half of the entries of each node": trial(exact),
    "whole columns, other ones for each client": trial(own_columns),
    "each entry in half of the clients": trial(only(some_clients)),
    "each entry of the training nodes": trial(only(training)),
    "each entry of half of the training nodes": trial(only(some_training)),
    "each entry of all but the training nodes": trial(only(others)),
    "each entry, test graph only": trial(entries(), clients=False, test=entries()),
    "each entry, test graph with another mask": trial(entries(), test=entries()),
    "each entry of the smoothed training nodes": smoothed,
    "each entry of the uploaded prototypes": prototypes,
}
