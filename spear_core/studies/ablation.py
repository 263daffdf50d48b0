"""What carries the gain: smoothing, shrinkage and count weights switched on and off, 2 × 2 × 2.

Every cell is run with several seeds. An effect is a difference of accuracies in points, taken seed
by seed; it is called an effect only if it exceeds the spread over seeds, both its own and that of
the whole method, and has the same sign with every seed; explain/ablation.py puts it into words.
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from spear_core.datasets import load
from spear_core.measures.spread import signed_spread, with_spread
from spear_core.partition import split
from spear_core.run import accuracy_of, run_on
from spear_core.settings import PAPER_SEEDS, Settings

SWITCHES = ("smoothing", "shrinkage", "count weights")
Cell = tuple[int, ...]
CELLS: tuple[Cell, ...] = tuple(
    itertools.product((0, 1), repeat=3)
)  # (smoothing, shrinkage, count weights)
NONE: Cell = (0, 0, 0)
ALL: Cell = (1, 1, 1)
NAMES: dict[Cell, str] = {
    NONE: "nothing: plain mean of raw features",
    (0, 0, 1): "pooled mean of raw features",
    (0, 1, 0): "shrinkage alone",
    (1, 0, 0): "plain mean of smoothed features",
    (1, 0, 1): "SPEAR without shrinkage",
    (0, 1, 1): "SPEAR without smoothing",
    (1, 1, 0): "SPEAR without count weights",
    ALL: "SPEAR",
}


@dataclass(frozen=True, eq=False)
class Effect:
    """A difference in accuracy, in points, seed by seed."""

    each: np.ndarray  # (S)
    method_spread: float  # standard deviation of SPEAR's accuracy over the seeds

    @property
    def mean(self) -> float:
        return float(self.each.mean())

    @property
    def std(self) -> float:
        return float(self.each.std())

    @property
    def spread(self) -> float:
        """What the effect must exceed: the larger of its own spread and the method's."""
        return max(self.std, self.method_spread)

    @property
    def verdict(self) -> str:
        """none, within the spread, not with every seed, up or down."""
        if not np.abs(self.each).max() > 1e-9:
            return "none"
        if abs(self.mean) <= self.spread + 1e-9:
            return "within the spread"
        if len(set(np.sign(self.each))) > 1:
            return "not with every seed"
        return "up" if self.mean > 0 else "down"

    def __str__(self) -> str:
        return signed_spread(self.each)


@dataclass(frozen=True, eq=False)
class Ablation:
    """Accuracies in percent of all eight cells with every seed."""

    settings: Settings
    seeds: tuple[int, ...]
    cells: np.ndarray  # (2, 2, 2, S), indexed [smoothing, shrinkage, count weights]

    def accuracy(self, cell: Cell) -> str:
        """Mean ± standard deviation over the seeds, in percent."""
        return with_spread(self.cells[cell].mean(), self.cells[cell].std())

    def effect(self, high: Cell, low: Cell) -> Effect:
        """What going from one cell to another changes."""
        return self.as_effect(self.cells[high] - self.cells[low])

    def main(self, switch: str) -> Effect:
        """What a switch changes on average over the four states of the other two."""
        off, on = np.moveaxis(self.cells, SWITCHES.index(switch), 0)
        return self.as_effect((on - off).mean((0, 1)))

    def alone(self, switch: str) -> Effect:
        """What a switch changes when the other two are off."""
        return self.effect(_with(NONE, switch, 1), NONE)

    def removed(self, switch: str) -> Effect:
        """What a switch gives within SPEAR: SPEAR minus SPEAR without it."""
        return self.effect(ALL, _with(ALL, switch, 0))

    def as_effect(self, each: np.ndarray) -> Effect:
        """A difference, seed by seed, beside the spread of the whole method."""
        return Effect(each, float(self.cells[ALL].std()))

    def cell_table(self) -> dict[str, list]:
        """One row a cell: the switches, the mean accuracy and its standard deviation."""
        columns: dict[str, list] = {
            switch: ["on" if cell[i] else "off" for cell in CELLS]
            for i, switch in enumerate(SWITCHES)
        }
        columns["accuracy, %"] = [self.accuracy(c) for c in CELLS]
        return columns | {"which is": [NAMES.get(c, "") for c in CELLS]}

    def effect_table(self) -> dict[str, list]:
        """One row a switch: alone, on average, and within SPEAR, in points."""
        kinds = {"alone": self.alone, "on average": self.main, "in SPEAR": self.removed}
        columns: dict[str, list] = {"switch": list(SWITCHES)}
        for name, kind in kinds.items():
            columns[name] = [str(kind(switch)) for switch in SWITCHES]
        short = {"none": "no change", "up": "a gain", "down": "a loss"}
        found = [self.removed(switch).verdict for switch in SWITCHES]
        return columns | {"in SPEAR it is": [short.get(v, v) for v in found]}


def ablation(
    settings: Settings,
    seeds: Iterable[int] = PAPER_SEEDS,
    accuracy: Callable[[Settings], float | None] = accuracy_of,
) -> Ablation | None:
    """All eight cells around the settings, with every seed; None without a test node."""
    seeds = tuple(seeds)
    cells = np.empty((2, 2, 2, len(seeds)))
    for i, seed in enumerate(seeds):
        for cell in CELLS:
            value = accuracy(cell_settings(replace(settings, seed=seed), cell))
            if value is None:
                return None
            cells[(*cell, i)] = 100 * value
    return Ablation(settings, seeds, cells)


def cell_settings(settings: Settings, cell: Cell) -> Settings:
    """The settings of one cell: smoothing off is α = 0, shrinkage off is λ = 0 whatever γ is."""
    smoothing, shrinkage, counts = map(bool, cell)
    alpha = settings.alpha if smoothing else 0.0
    gamma = settings.gamma if shrinkage else Settings.gamma  # one kept run serves every γ
    return replace(settings, alpha=alpha, gamma=gamma, shrinkage=shrinkage, count_weights=counts)


def gamma_curve(
    settings: Settings, gammas: Iterable[float], seeds: Iterable[int] = PAPER_SEEDS
) -> np.ndarray:
    """Accuracy in percent for every seed and γ, (S, G); an empty array without a test node.

    Single runs: for one α and T they cost less than the bases that `grid` shares.
    """
    rows: list[list[float]] = []
    for seed in seeds:
        one = replace(settings, seed=seed)
        partition = split(load(one), one)
        row = [run_on(partition, replace(one, gamma=g)).metrics.accuracy for g in gammas]
        rows.append([100 * a for a in row if a is not None])
    return np.array(rows)


def _with(cell: Cell, switch: str, state: int) -> Cell:
    return tuple(state if s == switch else c for s, c in zip(SWITCHES, cell, strict=True))
