"""`grid`: accuracy and predictions over a whole α × γ × T grid, identical to single runs."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import torch
from torch import Tensor

from spear_core.datasets import load
from spear_core.device import pick_device
from spear_core.errors import DataDamaged, SettingError
from spear_core.graph import Graph
from spear_core.grids.recombine import recombine as recombined
from spear_core.partition import split
from spear_core.run import run_on
from spear_core.settings import Settings, taken
from spear_core.transforms.attack import attackers, poison
from spear_core.transforms.perturb import perturb, perturb_test

HELD = 64_000_000  # numbers of a basis for sparse features: more γ than fit are done in turn


@dataclass(frozen=True, eq=False)
class Grid:
    """Predictions and accuracy at every point, indexed [α, γ, T]."""

    settings: Settings
    alphas: tuple[float, ...]
    gammas: tuple[float, ...]
    steps: tuple[int, ...]
    labels: Tensor  # (A, G, S, M): predicted class of each test node
    accuracy: Tensor  # (A, G, S)


def grid(
    settings: Settings,
    alphas: Iterable[float],
    gammas: Iterable[float],
    steps: Iterable[int],
    graph: Graph | None = None,
) -> Grid:
    """Accuracy and predictions for every combination of α, γ and T around the settings."""
    axes = (
        _axis("alpha", alphas),
        _axis("gamma", gammas),
        _axis("steps", steps),
    )
    graph = load(settings) if graph is None else graph.to(pick_device(settings.device)[0])
    if len(graph.test_nodes) == 0:
        raise DataDamaged(f"{graph.name} has no test node, so there is no accuracy to show.")
    partition = split(graph, settings)
    shape = (*(len(axis) for axis in axes), len(graph.test_nodes))
    labels = torch.empty(shape, dtype=torch.int64, device=graph.device)
    if linear(settings):
        held = poison(perturb(partition, settings), settings, attackers(partition, settings))
        tested = perturb_test(partition, settings).graph
        few = shape[1]
        if tested.features.layout == torch.sparse_csr:
            few = max(1, HELD // (graph.num_nodes * graph.classes * (max(axes[2]) + 1)))
        for first in range(0, shape[1], few):
            some = slice(first, first + few)
            part = (axes[0], axes[1][some], axes[2])
            recombined(held, tested, settings, part, labels[:, some])
    else:
        for i, j, k in product(*map(range, shape[:3])):
            if (
                k and axes[0][i] == 0 and settings.test_alpha < 0
            ):  # without neighbours T changes nothing
                labels[i, j, k] = labels[i, j, 0]
                continue
            point = replace(settings, alpha=axes[0][i], gamma=axes[1][j], steps=axes[2][k])
            labels[i, j, k] = run_on(partition, point).prediction.labels
    right = (labels == graph.y[graph.test_nodes]).sum(dim=-1)
    return Grid(settings, *axes, labels, right.double() / labels.shape[-1])


def _axis(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """The values as Settings takes them; refuses what a run refuses."""
    axis = tuple(taken(name, value) for value in values)
    if not axis:
        raise SettingError(f"A grid needs at least one value of {name}.")
    return axis


def linear(settings: Settings) -> bool:
    """Whether the server only adds prototypes up, with weights that do not depend on them.

    Elsewhere, and where clients or inference choose their own smoothing, every point is a run.
    """
    lying = settings.attacker_count or settings.chosen
    forged = lying and (settings.forge != "none" or settings.inflate != 1)
    private = settings.epsilon < math.inf
    plain = not (forged or private) and settings.peers == "mean" and settings.defence == "none"
    own = settings.test_alpha >= 0 or settings.test_steps >= 0  # inference smooths otherwise
    return plain and not own and settings.smoothing == "fixed" and settings.head == "cosine"
