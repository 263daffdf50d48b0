"""Leave-out on training nodes: every one of them is predicted once by the others."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from spear_core.lance import LANCE, SPEAR
from spear_core.partition import Partition
from spear_core.randomness import generator
from spear_core.run import run_on
from spear_core.settings import Settings

FOLDS = 5
SMOOTHINGS: dict[str, dict[str, Any]] = {  # the grid: how hard to smooth ...
    "none": {"alpha": 0.0, "steps": 0, "smoothing": "fixed"},
    "paper": {"alpha": 0.15, "steps": 2, "smoothing": "fixed"},
    "middle": {"alpha": 0.5, "steps": 2, "smoothing": "fixed"},
    "strong": {"alpha": 0.8, "steps": 5, "smoothing": "fixed"},
    "far": {"alpha": 0.9, "steps": 10, "smoothing": "fixed"},
    "gated": {"alpha": 0.15, "steps": 2, "smoothing": "gated"},
}
HEADS: dict[str, dict[str, Any]] = {  # ... times how the server reads the message
    "SPEAR": {name: value for name, value in SPEAR.items() if name != "smoothing"},
    "LANCE": {name: value for name, value in LANCE.items() if name != "smoothing"},
}
Key = tuple[str, str]  # head and smoothing
GRID: tuple[Key, ...] = tuple((head, smoothing) for head in HEADS for smoothing in SMOOTHINGS)


def setting_of(key: Key, settings: Settings) -> Settings:
    """The settings with one point of the grid."""
    return replace(settings, **HEADS[key[0]], **SMOOTHINGS[key[1]])


@dataclass(frozen=True, eq=False)
class Fold:
    """Some training nodes left out of a partition."""

    partition: Partition
    nodes: Tensor  # that are predicted


def folds(partition: Partition, seed: int = 0, most: int = FOLDS) -> list[Fold]:
    """Training nodes dealt by class; one that is alone in its class is never left out."""
    graph = partition.graph
    nodes = graph.train_nodes
    order = nodes[torch.as_tensor(generator(seed, "folds").permutation(len(nodes)))]
    y = graph.y[order]
    number = torch.full_like(order, -1)
    start = 0
    for c in y.unique().tolist():
        mine = (y == c).nonzero().squeeze(1)
        if len(mine) > 1:
            number[mine] = (torch.arange(len(mine)) + start) % most
            start += len(mine)
    made = []
    for k in range(most):
        out = order[number == k].sort().values
        if len(out):
            train, test = graph.train.clone(), torch.zeros_like(graph.train)
            train[out], test[out] = False, True
            made.append(Fold(partition.replace(graph=graph.replace(train=train, test=test)), out))
    return made


def left_out(
    some: list[Fold], settings: Settings, told: Callable[[], None] = lambda: None
) -> Tensor:
    """Whether each left-out node is predicted rightly, fold after fold."""
    right = []
    for fold in some:
        told()
        found = run_on(fold.partition, settings).prediction
        right.append(found.labels == fold.partition.graph.y[found.nodes])
    return torch.cat(right)
