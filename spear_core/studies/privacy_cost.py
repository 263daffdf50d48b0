"""What privacy costs: accuracy over ε, with the spread over seeds and draws of the noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spear_core.datasets import load
from spear_core.partition import split
from spear_core.run import run_on
from spear_core.settings import PAPER_SEEDS, Settings

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0)
DRAWS = 4


@dataclass(frozen=True, eq=False)
class Cost:
    """Accuracies in percent: with noise for every ε, seed and draw, and without noise."""

    settings: Settings
    epsilons: tuple[float, ...]
    noisy: np.ndarray  # (E, S, D)
    exact: np.ndarray  # (S)
    constant: float  # what always naming the most frequent test class reaches

    @property
    def mean(self) -> np.ndarray:
        return self.noisy.mean((1, 2))

    @property
    def std(self) -> np.ndarray:
        """Standard deviation over seeds and draws together."""
        return self.noisy.std((1, 2))

    def table(self) -> dict[str, list]:
        """One row an ε: mean accuracy and its standard deviation."""
        return {
            "epsilon": [*self.epsilons, math.inf],
            "accuracy, %": [*self.mean, self.exact.mean()],
            "standard deviation": [*self.std, self.exact.std()],
            "runs": [self.noisy[0].size] * len(self.epsilons) + [len(self.exact)],
        }


def privacy_cost(
    settings: Settings,
    epsilons: Sequence[float] = EPSILONS,
    seeds: Sequence[int] = PAPER_SEEDS,
    draws: int = DRAWS,
) -> Cost | None:
    """Accuracy with and without noise, one partition a seed; None without a test node."""
    noisy, exact = np.empty((len(epsilons), len(seeds), draws)), np.empty(len(seeds))
    for j, seed in enumerate(seeds):
        here = replace(settings, seed=seed, epsilon=math.inf)
        partition = split(load(here), here)
        if len(partition.graph.test_nodes) == 0:
            return None
        exact[j] = _percent(run_on(partition, here).metrics.accuracy)
        for d in range(draws):  # one draw serves every ε
            for i, epsilon in enumerate(epsilons):
                one = replace(here, epsilon=epsilon, draw=settings.draw + d)
                noisy[i, j, d] = _percent(run_on(partition, one).metrics.accuracy)
    tested = partition.graph.y[partition.graph.test_nodes]
    constant = 100 * float(tested.bincount().max()) / len(tested)
    return Cost(settings, tuple(epsilons), noisy, exact, constant)


def _percent(accuracy: float | None) -> float:
    return math.nan if accuracy is None else 100 * accuracy
