"""Noise in what the clients hold: edges, features and labels. Partition → Partition.

Who owns a node never changes, and neither do the labels that accuracy is measured with. Edges,
features and labels have random numbers of their own, so that one rate never disturbs another, and a
larger rate spoils all that a smaller one does and more: curves over a rate are smooth.

- Edges: of the E edges that may change, ρE/2 are deleted and ρE/2 are added between nodes that
  had none. ρ = 1 therefore deletes half of them and adds as many. Inside each client when
  `noise_when` is after; edges between clients then stay as they are. Where the graph is symmetric
  both directions go together. Self-loops are neither deleted nor added.
- Features: entries of X are set to zero before its rows are brought to unit length.
- Labels: training nodes get the label of another class, each as likely.
"""

from typing import Any

import numpy as np
import torch

from spear_core.fields import stage_of
from spear_core.graph import Graph
from spear_core.memory.budget import remembered
from spear_core.partition import Partition
from spear_core.randomness import generator
from spear_core.settings import Settings
from spear_core.transforms.rewire import rewired

Key = tuple[tuple[str, Any], ...]  # names and values of the settings that noise depends on
KEPT = 4  # noisy partitions kept, so that moving α or γ rebuilds nothing


def perturb(partition: Partition, settings: Settings) -> Partition:
    """The partition with noisy edges, features and training labels; itself without noise."""
    noisy = _spoiled(partition, settings)
    if settings.label_noise == 0:
        return noisy
    return _mislabelled(noisy, stage_of(settings, "mislabel"))


def perturb_test(partition: Partition, settings: Settings) -> Partition:
    """The graph that is tested on: clean, or what the clients hold put together again.

    With `noise_test` its edges and features are the clients' noisy ones; the labels stay clean.
    """
    return _spoiled(partition, settings) if settings.noise_test else partition


def _spoiled(partition: Partition, settings: Settings) -> Partition:
    if settings.edge_noise == 0 and settings.feature_noise == 0:
        return partition
    return _noisy(partition, stage_of(settings, "spoil"))


@remembered(most=KEPT)
def _noisy(partition: Partition, key: Key) -> Partition:
    given, graph = dict(key), partition.graph
    seed, draw = given["seed"], given["draw"]
    if given["feature_noise"]:
        rng = generator(seed, f"feature noise {draw}")
        x = _masked(graph, given["feature_noise"], given["feature_rule"], rng)
        graph = graph.replace(x=x)
    if given["edge_noise"]:
        rng = generator(seed, f"edge noise {draw}")
        owner = partition.owner.cpu().numpy()
        group = owner if given["noise_when"] == "after" else np.zeros_like(owner)
        edges = rewired(partition.graph, group, given["edge_noise"], rng)
        graph = graph.replace(edge_index=edges)
    return partition.replace(graph=graph)


@remembered(most=KEPT)
def _mislabelled(partition: Partition, key: Key) -> Partition:
    given, graph = dict(key), partition.graph
    rng = generator(given["seed"], f"label noise {given['draw']}")
    chance = rng.random(graph.num_nodes)  # a node's luck does not depend on who else is labelled
    further = rng.integers(1, max(2, graph.classes), graph.num_nodes)
    nodes = graph.train_nodes.cpu().numpy()
    nodes = nodes[np.argsort(chance[nodes])][: round(given["label_noise"] * len(nodes))]
    y = graph.y.cpu().numpy().copy()
    y[nodes] = (y[nodes] + further[nodes]) % graph.classes
    return partition.replace(graph=graph.replace(y=torch.as_tensor(y, device=graph.device)))


def _masked(graph: Graph, rate: float, rule: str, rng: np.random.Generator) -> torch.Tensor:
    """X with entries zeroed by the rule; CSR stays CSR, without the zeroed entries."""
    sparse = graph.x.layout == torch.sparse_csr
    n, width = graph.x.shape
    luck = rng.random(n)[:, None]  # of each node
    columns = rng.random(width)[None]
    entries = rng.random(len(graph.x.values()) if sparse else (n, width), dtype=np.float32)
    if sparse:
        crow, col = graph.x.crow_indices().cpu().numpy(), graph.x.col_indices().cpu().numpy()
        luck, columns = np.repeat(luck[:, 0], np.diff(crow)), columns[0, col]
    keep = {
        "entries": lambda: entries >= rate,
        "half": lambda: (entries >= rate) | (luck >= 0.5),
        "nodes": lambda: luck >= rate,
        "columns": lambda: columns >= rate,
    }[rule]()
    kept = torch.as_tensor(keep, device=graph.device)
    if not sparse:
        return graph.x * kept
    pointer = np.concatenate([[0], np.cumsum(keep)])[crow].astype(np.int32)
    return torch.sparse_csr_tensor(
        torch.as_tensor(pointer, device=graph.device),
        graph.x.col_indices()[kept],
        graph.x.values()[kept],
        (n, width),
        device=graph.device,
    )
