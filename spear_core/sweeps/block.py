"""One block of a sweep: the α × γ × T points around one setting, measured in one go.

Everything here is importable by name and takes and returns plain values, so that a worker in
another process or on another machine can do it.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from spear_core.errors import SpearError
from spear_core.grids import grid, linear
from spear_core.measures import FROM_SPLIT, Metrics
from spear_core.run import run
from spear_core.settings import Settings
from spear_core.sweeps.store import version

AXES = ("alpha", "gamma", "steps")
MOST = 256  # points of a block: bounds its memory and what a kill can cost

FROM_LABELS = ("accuracy", "macro_f1")  # differ from point to point, known from the predictions
QUICK = FROM_LABELS + FROM_SPLIT  # what a grid gives without a single run at every point

Point = tuple[float, float, int]  # α, γ, T


@dataclass(frozen=True)
class Block:
    """A full α × γ × T grid around settings whose own α, γ and T are not looked at."""

    settings: Settings
    alphas: tuple[float, ...]
    gammas: tuple[float, ...]
    steps: tuple[int, ...]

    @property
    def points(self) -> list[Point]:
        return list(product(self.alphas, self.gammas, self.steps))

    def at(self, point: Point) -> Settings:
        """The settings of one of its points."""
        alpha, gamma, steps = point
        return replace(self.settings, alpha=alpha, gamma=gamma, steps=steps)

    def parts(self) -> Iterator["Block"]:
        """Blocks of at most `MOST` points that together hold all of this one's."""
        wide = max(1, MOST // len(self.steps))
        for g in range(0, len(self.gammas), wide):
            gammas = self.gammas[g : g + wide]
            high = max(1, MOST // (len(gammas) * len(self.steps)))
            for a in range(0, len(self.alphas), high):
                yield replace(self, alphas=self.alphas[a : a + high], gammas=gammas)


def measure_block(block: Block, measures: tuple[str, ...], engine: str) -> dict[str, Any]:
    """A plain record of every point's measures, or of the sentence that says why there are none.

    `engine` is the caller's version: workers that hold another one refuse.
    """
    if engine != version():
        raise SpearError("The workers hold another version of spear_core; install this one there.")
    start = time.perf_counter()
    points = block.points
    try:
        quick = set(measures) <= set(QUICK) and linear(block.settings)
        if len(points) > 1 and quick:
            each, shared = _by_grid(block, measures)
        else:
            each, shared = _by_runs(block, measures), {}
    except SpearError as problem:
        return {"points": points, "problem": str(problem)}
    seconds = (time.perf_counter() - start) / len(points)
    return {"points": points, "each": each, "shared": {**shared, "seconds": seconds}}


def _by_grid(
    block: Block, measures: tuple[str, ...]
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """By one grid: the clients' uploads are true, so the server keeps them all at every point."""
    whole = grid(block.settings, block.alphas, block.gammas, block.steps)
    first = run(block.at(block.points[0])).metrics
    each: dict[str, list[Any]] = {name: [] for name in FROM_LABELS if name in measures}
    for labels in whole.labels.flatten(0, 2):
        here = replace(first, prediction=replace(first.prediction, labels=labels))
        for name, values in each.items():
            values.append(getattr(here, name))
    return each, {name: getattr(first, name) for name in measures if name in FROM_SPLIT}


def _by_runs(block: Block, measures: tuple[str, ...]) -> dict[str, list[Any]]:
    """By a run at every point, also where a grid would do that: forged rows may be dropped."""

    def row(metrics: Metrics) -> list[Any]:
        return [getattr(metrics, name) for name in measures]

    rows = [row(run(block.at(point)).metrics) for point in block.points]
    return {
        name: list(values) for name, values in zip(measures, zip(*rows, strict=True), strict=True)
    }
