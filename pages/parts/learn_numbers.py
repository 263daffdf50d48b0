"""What the questions of the lesson are made from: draws, counts and choices of the present run."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import torch

from spear_core.randomness import generator
from spear_core.run import Result, run
from spear_core.settings import PAPER_SEEDS, Settings

DRAWS = 400  # means drawn for each size in step 3


def mean_errors(result: Result, label: int, sizes: tuple[int, ...]) -> list[float]:
    """Mean squared distance of the mean of n test nodes to the mean of all of them."""
    key = ("mean_errors", label, sizes)
    return result.kept.get(key, frozenset(), lambda: _drawn(result, label, sizes))


def _drawn(result: Result, label: int, sizes: tuple[int, ...]) -> list[float]:
    nodes = result.graph.test_nodes
    z = torch.nn.functional.normalize(result.z[nodes[result.graph.y[nodes] == label]], dim=1)
    pool, draw = z.double().cpu().numpy(), generator(result.settings.seed, "lesson")
    centre = pool.mean(axis=0)
    out = []
    for n in sizes:
        means = np.stack([pool[draw.integers(0, len(pool), n)].mean(axis=0) for _ in range(DRAWS)])
        out.append(float(((means - centre) ** 2).sum(axis=1).mean()))
    return out


@lru_cache(maxsize=64)
def five_seeds(settings: Settings) -> list[float]:
    """Accuracies with the paper's seeds."""
    found = [run(replace(settings, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]
    return [value for value in found if value is not None]


def how_many(n: int) -> str:
    """How many, in words."""
    return "1 node" if n == 1 else f"{n} nodes"


def dense(result: Result, node: int) -> torch.Tensor:
    """The features of one node, zeros included."""
    row = result.graph.x[node]
    return row.to_dense() if row.layout != torch.strided else row


def three_numbers(right: int, low: int, high: int) -> tuple[tuple[str, ...], int]:
    """Three numbers with the right one among them, ascending."""
    near = [right, right - 2, right + 2, right + 4, right - 4, right + 1, right - 1]
    chosen = sorted(list(dict.fromkeys(n for n in near if low <= n <= high))[:3])
    return tuple(str(n) for n in chosen), chosen.index(right)


def fullest(result: Result) -> int:
    """The class with the most test nodes."""
    graph = result.graph
    return int(torch.bincount(graph.y[graph.test_nodes], minlength=graph.classes).argmax())


def contested(result: Result) -> int:
    """The class that most clients hold."""
    return int(torch.bincount(result.uploads.label, minlength=result.graph.classes).argmax())
