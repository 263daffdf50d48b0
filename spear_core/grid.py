"""`grid`: a whole α × γ × T grid from one set of propagated bases, identical to single runs.

Smoothing is a mixture of powers, Π = Σ_t w_t Â^t with weights that depend on α and T alone. With
B_s = (Âᵀ)^s S per partition, and ω the server's weights per γ, the unnormalised scores of a point
are Σ_t Σ_s w_t w_s Â^t X̃ X̃ᵀ (B_s ∘ ω): the powers are computed once, a point is a recombination.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from spear_core.attack import attackers, poison
from spear_core.client import DeferredUploads
from spear_core.datasets import load
from spear_core.device import pick_device
from spear_core.errors import DataDamaged, SettingError
from spear_core.graph import Graph
from spear_core.partition import Partition, split
from spear_core.perturb import perturb, perturb_test
from spear_core.propagate import mixing
from spear_core.run import run_on
from spear_core.server import mixture
from spear_core.settings import Settings

NEAR_TIE = 4e-6  # relative gap under which a prediction is decided by a single run
CHUNK = 32_000_000  # numbers held at once while recombining


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
        _axis(settings, "alpha", alphas),
        _axis(settings, "gamma", gammas),
        _axis(settings, "steps", steps),
    )
    graph = load(settings) if graph is None else graph.to(pick_device(settings.device)[0])
    if len(graph.test_nodes) == 0:
        raise DataDamaged(f"{graph.name} has no test node, so there is no accuracy to show.")
    partition = split(graph, settings)
    shape = (*(len(axis) for axis in axes), len(graph.test_nodes))
    labels = torch.empty(shape, dtype=torch.int64, device=graph.device)
    if not _linear(settings):
        doubtful = torch.ones(shape[:3], dtype=torch.bool, device=graph.device)
    else:
        held = poison(perturb(partition, settings), settings, attackers(partition, settings))
        tested = perturb_test(partition, settings).graph
        doubtful = _recombine(held, tested, settings, axes, labels)
    for i, j, k in doubtful.nonzero().tolist():
        point = replace(settings, alpha=axes[0][i], gamma=axes[1][j], steps=axes[2][k])
        labels[i, j, k] = run_on(partition, point).prediction.labels
    right = labels == graph.y[graph.test_nodes]
    return Grid(settings, *axes, labels, right.double().mean(dim=-1))


def _axis(settings: Settings, name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """The values as Settings takes them; refuses what a run refuses."""
    checked = []
    for value in values:
        change: dict[str, Any] = {name: value}
        checked.append(getattr(replace(settings, **change), name))
    if not checked:
        raise SettingError(f"A grid needs at least one value of {name}.")
    return tuple(checked)


def _linear(settings: Settings) -> bool:
    """Whether the server only adds prototypes up, with weights that do not depend on them."""
    lying = settings.attacker_count or settings.chosen
    forged = lying and (settings.forge != "none" or settings.inflate != 1)
    private = settings.epsilon < math.inf
    return not (forged or private) and settings.peers == "mean" and settings.defence == "none"


def _recombine(
    partition: Partition,
    graph: Graph,
    settings: Settings,
    axes: tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]],
    labels: Tensor,
) -> Tensor:
    """Fill in the labels; True for every point where two classes are too close to call."""
    alphas, gammas, steps = axes
    top = max(steps)
    w = torch.zeros(len(alphas), len(steps), top + 1, device=graph.device)
    for i, alpha in enumerate(alphas):
        for k, t in enumerate(steps):
            w[i, k, : t + 1] = torch.tensor(mixing(alpha, t), device=graph.device)
    w = w.flatten(0, 1)  # (A S, T + 1)
    pairs = (w[:, :, None] * w[:, None]).flatten(1)  # (A S, (T + 1)²): w_t w_s
    uploads = DeferredUploads(partition, replace(settings, steps=0))
    start = uploads.mass(torch.ones(len(uploads.client), device=graph.device))
    masses = _powers(partition.operator_t, start, top)  # already divided by the counts
    unseen = partition.train_counts.sum(0) == 0
    doubtful = torch.zeros(labels.shape[:3], dtype=torch.bool, device=graph.device)
    for j, gamma in enumerate(gammas):
        omega = mixture(uploads, replace(settings, gamma=gamma))[1]
        weights = uploads.table(omega / omega.max()).index_select(0, partition.owner)  # (N, C)
        sums = torch.stack(
            [partition.graph.collect(weights * mass) for mass in masses]
        )  # (T + 1, C, F)
        length = torch.einsum("ps,scf,tcf,pt->pc", w, sums, sums, w).clamp_min(0).sqrt()
        for rows, basis in _score_basis(graph, sums, top):  # ((T + 1)², M' C)
            scores = (pairs @ basis).view(len(w), -1, graph.classes)  # (A S, M', C)
            scores /= length.clamp_min(1e-30)[:, None]
            scores.masked_fill_(unseen, -torch.inf)
            best, winner = scores.max(dim=2)
            labels[:, j, :, rows] = winner.view(len(alphas), len(steps), -1)
            second = scores.scatter_(2, winner[..., None], -torch.inf).amax(dim=2)
            doubtful[:, j] |= _too_close(best, second).view(len(alphas), len(steps))
    return doubtful


def _powers(operator: Tensor, x: Tensor, top: int) -> list[Tensor]:
    powers = [x]
    for _ in range(top):
        powers.append(operator @ powers[-1])
    return powers


def _score_basis(graph: Graph, sums: Tensor, top: int) -> Iterator[tuple[slice, Tensor]]:
    """Â^t X̃ sums_s for all t and s, in blocks of test rows: the rows, ((T + 1)², M' C)."""
    count, classes, width = sums.shape
    rows = sums.flatten(0, 1)  # ((T + 1) C, F)
    narrow = width <= count * classes and graph.features.layout != torch.sparse_csr
    start = graph.features if narrow else graph.project(rows)
    powers = [start.index_select(0, graph.test_nodes)]
    for _ in range(top):
        start = graph.operator @ start
        powers.append(start.index_select(0, graph.test_nodes))
    height = max(1, CHUNK // (count * count * classes))
    for first in range(0, len(graph.test_nodes), height):
        some = slice(first, first + height)
        blocks = [p[some] @ rows.t() if narrow else p[some] for p in powers]
        stacked = torch.stack(blocks).view(top + 1, -1, count, classes)
        yield some, stacked.transpose(1, 2).reshape(count * count, -1)


def _too_close(best: Tensor, second: Tensor) -> Tensor:
    """Points where some node's two best scores nearly tie, (A S); all-zero rows are no doubt."""
    size = torch.maximum(best.abs(), torch.where(second > -torch.inf, second.abs(), 0.0))
    return ((best - second <= NEAR_TIE * size) & (size > 0)).any(dim=1)
