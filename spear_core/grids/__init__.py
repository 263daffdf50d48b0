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
from spear_core.grids.recombine import Axes, at_once
from spear_core.grids.recombine import recombine as recombined
from spear_core.partition import Partition, split
from spear_core.run import run_on
from spear_core.settings import Settings, taken
from spear_core.transforms.attack import attackers, poison
from spear_core.transforms.perturb import perturb, perturb_test


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
    if not (linear(settings) and _together(partition, settings, axes, labels)):
        _one_by_one(partition, settings, axes, labels)
    right = (labels == graph.y[graph.test_nodes]).sum(dim=-1)
    return Grid(settings, *axes, labels, right.double() / labels.shape[-1])


def _together(partition: Partition, settings: Settings, axes: Axes, labels: Tensor) -> bool:
    """Fill in the labels (A, G, S, M) by recombination; False where single runs are better."""
    held = poison(perturb(partition, settings), settings, attackers(partition, settings))
    tested = perturb_test(partition, settings).graph
    alphas, gammas, steps = axes
    few = at_once(held, tested, axes)
    for first in range(0, len(gammas), few) if few else ():
        some = slice(first, first + few)
        recombined(held, tested, settings, (alphas, gammas[some], steps), labels[:, some])
    return few > 0


def _one_by_one(partition: Partition, settings: Settings, axes: Axes, labels: Tensor) -> None:
    """Fill in the labels by a run at every point; what clients did serves every γ."""
    numbered = enumerate(axes[0]), enumerate(axes[2]), enumerate(axes[1])
    for (i, alpha), (k, steps), (j, gamma) in product(*numbered):
        if k and alpha == 0 and settings.test_alpha < 0:  # without neighbours T changes nothing
            labels[i, j, k] = labels[i, j, 0]
            continue
        point = replace(settings, alpha=alpha, gamma=gamma, steps=steps)
        labels[i, j, k] = run_on(partition, point).prediction.labels


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
