"""What carries the gain: smoothing, shrinkage and count weights switched on and off, 2 × 2 × 2.

Every cell is run with several seeds. An effect is a difference of accuracies in points, taken seed
by seed; it is called an effect only if it exceeds the spread over seeds, both its own and that of
the whole method, and has the same sign with every seed. The words below never say more than that.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spear_core.datasets import load
from spear_core.partition import split
from spear_core.run import run, run_on
from spear_core.settings import PAPER_SEEDS, Settings, defaults, equation

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
PRINTED = {  # the paper's "w/o shrinkage", accuracy in percent
    "Cora": 55.13,
    "CiteSeer": 59.27,
    "PubMed": 65.20,
    "Computers": 62.84,
    "Coauthor-CS": 87.14,
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
        return f"{self.mean:+.2f}\u00a0±\u00a0{self.std:.2f}".replace("-", "−")


@dataclass(frozen=True, eq=False)
class Ablation:
    """Accuracies in percent of all eight cells with every seed."""

    settings: Settings
    seeds: tuple[int, ...]
    cells: np.ndarray  # (2, 2, 2, S), indexed [smoothing, shrinkage, count weights]

    def accuracy(self, cell: Cell) -> str:
        """Mean ± standard deviation over the seeds, in percent."""
        return f"{self.cells[cell].mean():.2f}\u00a0±\u00a0{self.cells[cell].std():.2f}"

    def effect(self, high: Cell, low: Cell) -> Effect:
        """What going from one cell to another changes."""
        return self._effect(self.cells[high] - self.cells[low])

    def main(self, switch: str) -> Effect:
        """What a switch changes on average over the four states of the other two."""
        off, on = np.moveaxis(self.cells, SWITCHES.index(switch), 0)
        return self._effect((on - off).mean((0, 1)))

    def alone(self, switch: str) -> Effect:
        """What a switch changes when the other two are off."""
        return self.effect(_with(NONE, switch, 1), NONE)

    def removed(self, switch: str) -> Effect:
        """What a switch gives within SPEAR: SPEAR minus SPEAR without it."""
        return self.effect(ALL, _with(ALL, switch, 0))

    def _effect(self, each: np.ndarray) -> Effect:
        return Effect(each, float(self.cells[ALL].std()))

    def cell_table(self) -> dict[str, list]:
        """One row a cell: the switches, the mean accuracy and its standard deviation."""
        columns: dict[str, list] = {
            switch: ["on" if cell[i] else "off" for cell in CELLS]
            for i, switch in enumerate(SWITCHES)
        }
        columns["accuracy %"] = [self.accuracy(c) for c in CELLS]
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

    def words(self) -> list[str]:
        """What carries the gain on this dataset, in sentences."""
        return [*self._notes(), self._gain(), *self._shares(), *self._shrinkage(), *self._printed()]

    def _notes(self) -> list[str]:
        s, notes = self.settings, []
        if s.alpha == 0 or s.steps == 0:
            notes.append("With α = 0 or T = 0 nothing is smoothed, so that switch does nothing.")
        if np.isinf(s.gamma):
            notes.append("With γ = ∞ nothing is shrunk, so that switch does nothing.")
        return notes

    def _gain(self) -> str:
        gain = self.effect(ALL, NONE)
        low, high = self.accuracy(NONE), self.accuracy(ALL)
        ends = f"From the plain mean of raw features, {low} %, to SPEAR, {high} %, "
        ends += f"accuracy changes by {gain} points"
        return ends + ("." if gain.verdict in ("up", "down") else f": {_call(gain)}.")

    def _shares(self) -> list[str]:
        """Who leads by main effects, and what the switches other than shrinkage give."""
        effects = {switch: self.main(switch) for switch in SWITCHES}
        first, second, _ = sorted(SWITCHES, key=lambda switch: -effects[switch].mean)
        said, lead = [], effects[first]
        if self.effect(ALL, NONE).verdict == "up" and lead.verdict == "up":
            ahead = self._effect(lead.each - effects[second].each)
            many = first == "count weights"
            where = f"{lead} points on average over the other two switches"
            if ahead.verdict == "up" and lead.mean > self.effect(ALL, NONE).mean / 2:
                said.append(
                    f"{_upper(first)} {'carry' if many else 'carries'} most of it: {where}."
                )
            elif ahead.verdict == "up":
                said.append(f"{_upper(first)} {'give' if many else 'gives'} most: {where}.")
            else:
                short = "within the spread" if "within" in ahead.verdict else "not with every seed"
                said.append(
                    f"{_upper(first)} {'lead' if many else 'leads'}: {where}; "
                    f"that is {ahead} ahead of {second}, but {short}."
                )
        for switch in ("count weights", "smoothing"):
            if not said or switch != first:
                effect = effects[switch]
                said.append(f"{_upper(switch)}: {effect} points on average, {_call(effect)}.")
        return said

    def _shrinkage(self) -> list[str]:
        """Shrinkage as the method uses it, and without the count weights."""
        inside, without = self.removed("shrinkage"), self.effect((1, 1, 0), (1, 0, 0))
        said = (
            f"Shrinkage: with count weights on, as in SPEAR, it changes accuracy by {inside} "
            f"points, {_call(inside)}. Without count weights it is {without} points, "
            f"{_call(without)}."
        )
        if without.verdict == "up" and self.settings.peers == "mean":
            said += " It then does part of their work, as it too takes weight from small n."
        return [said]

    def _printed(self) -> list[str]:
        """Which cell the paper's row fits, where its settings are the present ones."""
        s = self.settings
        if s.dataset not in PRINTED or s != replace(defaults(s.dataset), seed=s.seed):
            return []
        cells = {cell: float(self.cells[cell].mean()) for cell in ((1, 0, 0), (1, 0, 1))}
        near = min(cells, key=lambda cell: abs(cells[cell] - PRINTED[s.dataset]))
        return [
            f"The paper prints {PRINTED[s.dataset]:.2f} % without shrinkage; of the two cells "
            f"without it that is nearer to the {NAMES[near]} ({cells[near]:.2f} %), "
            f"{'where count weights are off too' if near == (1, 0, 0) else 'count weights kept'}."
        ]


def ablation(
    settings: Settings,
    seeds: Iterable[int] = PAPER_SEEDS,
    accuracy: Callable[[Settings], float | None] | None = None,
) -> Ablation | None:
    """All eight cells around the settings, with every seed; None without a test node."""
    accuracy = accuracy or (lambda s: run(s).metrics.accuracy)
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


def gamma_words(gammas: Sequence[float], curve: np.ndarray, now: float) -> str:
    """How far accuracy moves over γ with one seed, (G), and how flat the curve is from `now` on."""
    low, high = int(curve.argmin()), int(curve.argmax())
    worst, best, here = (equation("gamma", g) for g in (gammas[low], gammas[high], now))
    later = curve[[i for i, g in enumerate(gammas) if g >= now]]
    return (
        f"With this seed accuracy runs from {curve[low]:.2f} % at {worst} to "
        f"{curve[high]:.2f} % at {best}. From the present {here} to no shrinkage at all it moves "
        f"by {later.max() - later.min():.2f} points."
    )


def _call(effect: Effect) -> str:
    """The verdict in words."""
    spread = f"{effect.spread:.2f}"
    return {
        "none": "no change at all",
        "within the spread": f"within the spread over seeds ({spread})",
        "not with every seed": f"above the spread ({spread}), but not with every seed",
        "up": f"a gain above the spread ({spread})",
        "down": f"a loss above the spread ({spread})",
    }[effect.verdict]


def _with(cell: Cell, switch: str, state: int) -> Cell:
    return tuple(state if s == switch else c for s, c in zip(SWITCHES, cell, strict=True))


def _upper(words: str) -> str:
    return words[0].upper() + words[1:]
