"""What noise costs and what smoothing repairs: accuracy over a rate, beside α = 0.

Every point is run with several seeds and draws of noise. A difference is taken run by run, with and
without noise or smoothing on the same split and the same draw, before it is averaged.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from spear_core.run import accuracy_of
from spear_core.settings import PAPER_SEEDS, Settings, written

VALUES: dict[str, tuple[float, ...]] = {  # setting -> where its curve is drawn
    "edge_noise": (0.0, 0.1, 0.25, 0.5, 0.75, 1.0),
    "feature_noise": (0.0, 0.1, 0.25, 0.5, 0.75, 0.9),
    "label_noise": (0.0, 0.1, 0.2, 0.3, 0.5, 0.7),
    "labels_per_class": (1, 2, 3, 5, 10, 20, 0),  # 0 keeps all
}
KNOBS = tuple(VALUES)


@dataclass(frozen=True, eq=False)
class Curve:
    """Accuracy in percent over one knob, with smoothing and without, for every seed and draw."""

    settings: Settings
    knob: str
    values: tuple[float, ...]
    smoothed: np.ndarray  # (V, R): R runs, seeds times draws
    raw: np.ndarray  # (V, R): the same with α = 0

    @property
    def gain(self) -> np.ndarray:
        """What smoothing gives, in points, run by run, (V, R)."""
        return self.smoothed - self.raw

    @property
    def clean(self) -> int:
        """Which value means no noise."""
        return self.values.index(0)

    @property
    def ticks(self) -> list[str]:
        return [written(self.knob, value) for value in self.values]

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """The lines of the curve by name, each (V, R)."""
        return {"smoothed": self.smoothed, "α = 0": self.raw, "gain": self.gain}

    def table(self) -> dict[str, list]:
        """A row for each line and value: x, mean and standard deviation over n runs."""
        out: dict[str, list] = {name: [] for name in ("line", "x", "mean", "std", "n")}
        for name, part in self.parts.items():
            out["line"] += [name] * len(part)
            out["x"] += self.ticks
            out["mean"] += part.mean(1).round(4).tolist()
            out["std"] += part.std(1).round(4).tolist()
            out["n"] += [part.shape[1]] * len(part)
        return out

    def runs(self) -> dict[str, list]:
        """A row for each line and value, a column for each run."""
        lines = [name for name, part in self.parts.items() for _ in part]
        every = np.concatenate(list(self.parts.values()))
        columns = {f"run {j}": every[:, j].round(4).tolist() for j in range(every.shape[1])}
        return {"line": lines, "x": self.ticks * len(self.parts), **columns}


def curve(
    settings: Settings,
    knob: str,
    values: Iterable[float] | None = None,
    seeds: Iterable[int] = PAPER_SEEDS,
    draws: int = 1,
    accuracy: Callable[[Settings], float | None] = accuracy_of,
    progress: Callable[[float], object] | None = None,
) -> Curve | None:
    """Accuracy over a knob around the settings; None without a test node."""
    values = tuple(values or VALUES[knob])
    runs = [(seed, settings.draw + d) for seed in seeds for d in range(draws)]
    found = np.empty((2, len(values), len(runs)))
    for j, (seed, draw) in enumerate(runs):
        for i, value in enumerate(values):
            changes: dict = {knob: value, "seed": seed, "draw": draw}
            for k, alpha in enumerate((settings.alpha, 0.0)):
                one = accuracy(replace(settings, **changes, alpha=alpha))
                if one is None:
                    return None
                found[k, i, j] = 100 * one
            if progress:
                progress((j * len(values) + i + 1) / (len(runs) * len(values)))
    return Curve(settings, knob, values, found[0], found[1])
