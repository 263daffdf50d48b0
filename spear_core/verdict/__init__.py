"""`verdict(settings)`: is training-free a good idea on this graph, and with which settings?

Decided without a test label: labels outside the training nodes are replaced before anything is
read (blind.py), and every accuracy is that of training nodes which the others predict.

>>> from spear_core import Settings
>>> found = verdict(Settings(dataset="karate", clients=3))
>>> found.best[0] in ("SPEAR", "LANCE")
True
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from spear_core.datasets import load
from spear_core.datasets.store import Progress
from spear_core.device import pick_device
from spear_core.errors import SettingError
from spear_core.fields import changed
from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.settings import Settings
from spear_core.verdict.blind import blinded, dealt
from spear_core.verdict.facts import Fact, as_dict, facts_of
from spear_core.verdict.leave_out import FOLDS, GRID, Fold, Key, folds, left_out, setting_of

__all__ = ["GRID", "Verdict", "setting_of", "verdict"]

USUAL: Key = ("LANCE", "gated")  # where nothing is clearly better
LARGE = 3e7  # nodes × features beyond which two folds must do
ROUNDS = 20  # of a short live run of FedAvg


@dataclass(frozen=True)
class Estimate:
    """An accuracy of left-out training nodes, or a difference of two, and its standard error."""

    value: float
    error: float

    @property
    def clear(self) -> bool:
        """Whether it lies further from 0 than chance takes it."""
        return abs(self.value) > 2 * self.error

    def to_dict(self) -> dict[str, float]:
        return {"value": self.value, "standard_error": self.error}


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was found, and what to do."""

    settings: Settings  # that were asked about
    facts: tuple[Fact, ...]
    left_out: int  # training nodes that were predicted
    grid: dict[Key, Estimate]
    best: Key  # the recommended point of the grid
    smoothing: Estimate  # the recommended smoothing against none, the same head
    head: Estimate  # LANCE against SPEAR, the same smoothing
    shrinkage: Estimate  # SPEAR with its shrinkage against without
    central: Estimate  # one client that holds everything, against the clients
    majority: float  # guessing the largest class
    fedavg: Estimate | None = None  # the recommendation against it
    fedavg_accuracy: Estimate | None = None

    @property
    def recommended(self) -> Settings:
        """The settings to run."""
        return setting_of(self.best, self.settings)

    @property
    def expected(self) -> Estimate:
        return self.grid[self.best]

    @property
    def lines(self) -> tuple[str, ...]:
        """The recommendation and its reasons, a sentence each."""
        from spear_core.verdict.words import sentences

        return tuple(sentences(self))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        differences = {n: getattr(self, n) for n in ("smoothing", "head", "shrinkage", "central")}
        differences |= {"fedavg": self.fedavg} if self.fedavg else {}
        return {
            "settings": self.settings.to_dict(),
            "facts": as_dict(list(self.facts)),
            "left_out": self.left_out,
            "expected": self.expected.to_dict(),
            "majority": self.majority,
            "grid": {" ".join(key): one.to_dict() for key, one in self.grid.items()},
            "recommended": {"head": self.best[0], "smoothing": self.best[1]}
            | {"changes": changed(self.recommended, self.settings)},
            "differences": {name: one.to_dict() for name, one in differences.items()},
            "lines": list(self.lines),
        }


def verdict(
    settings: Settings,
    graph: Graph | None = None,
    fedavg: bool = False,
    progress: Progress | None = None,
) -> Verdict:
    """The verdict on a dataset, or on a graph of your own, under the partition of the settings.

    `fedavg` trains it too, shortly, on the same folds.
    """
    graph = load(settings) if graph is None else graph.to(pick_device(settings.device)[0])
    partition = dealt(blinded(graph), settings)
    large = graph.num_nodes * graph.num_features > LARGE
    some = folds(partition, most=2 if large else FOLDS)
    if not some:
        raise SettingError(
            f"No class of {graph.name} has two training nodes, so none can be left out; label more."
        )
    many = len(some) * (len(GRID) + 2)
    told = _counter(progress, many)
    right = {key: left_out(some, setting_of(key, settings), told) for key in GRID}
    best = _chosen(right)
    free = replace(setting_of(("SPEAR", best[1]), settings), gamma=math.inf)
    unshrunk = left_out(some, free, told)
    alone = left_out([_whole(fold) for fold in some], setting_of(best, settings), told)
    y = torch.cat([fold.partition.graph.y[fold.nodes] for fold in some])
    trained = _trained(some, settings, progress) if fedavg else None
    return Verdict(
        settings,
        tuple(facts_of(partition)),
        len(y),
        {key: _share(one) for key, one in right.items()},
        best,
        _paired(right[best], right[best[0], "none"]),
        _paired(right["LANCE", best[1]], right["SPEAR", best[1]]),
        _paired(right["SPEAR", best[1]], unshrunk),
        _paired(alone, right[best]),
        float(torch.bincount(y).max()) / len(y),
        None if trained is None else _paired(right[best], trained),
        None if trained is None else _share(trained),
    )


def _chosen(right: dict[Key, Tensor]) -> Key:
    """The usual point, unless another is better by more than a standard error."""
    best = max(GRID, key=lambda key: float(right[key].float().mean()))
    gain = _paired(right[best], right[USUAL])
    return best if gain.value > gain.error else USUAL


def _share(right: Tensor) -> Estimate:
    """Of so many, with the error of as many draws (one more right and wrong each, so never 0)."""
    n = len(right)
    p = (float(right.sum()) + 1) / (n + 2)
    return Estimate(float(right.double().mean()), math.sqrt(p * (1 - p) / n))


def _paired(one: Tensor, other: Tensor) -> Estimate:
    """The difference of two on the same nodes."""
    gap = one.double() - other.double()
    n = len(gap)
    spread = (float((gap * gap).sum()) + 1) / (n + 1) - float(gap.mean()) ** 2
    return Estimate(float(gap.mean()), math.sqrt(max(spread, 0) / n))


def _whole(fold: Fold) -> Fold:
    """The same nodes left out of one client that holds everything."""
    graph = fold.partition.graph
    return Fold(Partition(graph, torch.zeros_like(graph.y), 1), fold.nodes)


def _trained(some: list[Fold], settings: Settings, progress: Progress | None) -> Tensor:
    """FedAvg on the same folds, some rounds of it."""
    from spear_core.baselines import defaults
    from spear_core.baselines.loop import train_on

    training, right = defaults("fedavg", rounds=ROUNDS), []
    for k, fold in enumerate(some):

        def told(point: Any, k: int = k) -> None:
            if progress:
                done = (k + point.round / ROUNDS) / len(some)
                progress(f"Training FedAvg: part {k + 1} of {len(some)}", min(1.0, done))

        graph = fold.partition.graph
        found = train_on(fold.partition, settings, training, told, keep=False)
        right.append(found.label[graph.test_nodes] == graph.y[graph.test_nodes])
    return torch.cat(right)


def _counter(progress: Progress | None, many: int) -> Callable[[], None]:
    done = 0

    def told() -> None:
        nonlocal done
        if progress:
            progress(f"Leaving out training nodes: run {done + 1} of {many}", done / many)
        done += 1

    return told
