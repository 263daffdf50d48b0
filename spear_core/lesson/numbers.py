"""What the questions of the lesson are made from: draws, counts and choices of the present run."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import torch

from spear_core.datasets import load
from spear_core.graph import Graph
from spear_core.partition import Partition, split
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


@lru_cache(maxsize=64)
def apart(settings: Settings) -> tuple[float, float]:
    """How far from the regression of all training nodes in one place, as a part of its length.

    First what the clients' sums give when they are added, then the mean of their own regressions.
    """
    partition = split(load(settings), settings)
    graph, nodes = partition.graph, partition.graph.train_nodes
    x = torch.stack([dense(graph, int(node)) for node in nodes])
    x = torch.nn.functional.normalize(x, dim=1).double()
    y = torch.nn.functional.one_hot(graph.y[nodes], graph.classes).double()
    mine = [rows for k in range(partition.clients) if len(rows := held(partition, k))]
    whole = solved(x.t() @ x, x.t() @ y, len(x))
    scatter = sum((x[i].t() @ x[i] for i in mine), torch.zeros_like(x.t() @ x))
    towards = sum((x[i].t() @ y[i] for i in mine), torch.zeros_like(x.t() @ y))
    own = [len(i) * solved(x[i].t() @ x[i], x[i].t() @ y[i], len(i)) for i in mine]
    added, mean = solved(scatter, towards, len(x)), sum(own[1:], own[0]) / len(x)
    size = float(whole.norm())
    return float((added - whole).norm()) / size, float((mean - whole).norm()) / size


def held(partition: Partition, client: int) -> torch.Tensor:
    """Which of the training nodes a client has, by their place among them."""
    return (partition.owner[partition.graph.train_nodes] == client).nonzero().squeeze(1)


def solved(scatter: torch.Tensor, towards: torch.Tensor, n: int) -> torch.Tensor:
    """The ridge regression that n nodes ask for, with a penalty of a hundredth of a node each."""
    eye = torch.eye(len(scatter), dtype=scatter.dtype)
    return torch.linalg.solve(scatter + 0.01 * n * eye, towards)


def how_many(n: int) -> str:
    """How many, in words."""
    return "1 node" if n == 1 else f"{n} nodes"


def dense(graph: Graph, node: int) -> torch.Tensor:
    """The features of one node, zeros included."""
    row = graph.x[node]
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
