"""`RELATIVES`: training-free methods beside SPEAR, on the same split and the same smoothed rows.

To add one, write its function and name it here: Compare and the notebooks read this table. None of
them belongs to the trained methods: there is no network and no round.

>>> from spear_core import Settings
>>> answer("lp", Settings(dataset="karate", clients=3)).bytes_up  # ten labels
80
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from spear_core.datasets import load
from spear_core.graph import Graph
from spear_core.lance.gate import at_test
from spear_core.partition import Partition, split
from spear_core.propagate import propagate
from spear_core.relatives import heads, spread
from spear_core.relatives.rows import Sent, added, floats_of, smoothed_rows, sums_of
from spear_core.run import run_on
from spear_core.settings import Settings

FLOAT_BYTES, PAIR_BYTES = 4, 8  # a number; a node with its label
BLOCK = 256  # columns smoothed at a time
ROWS = "the scatter of its training rows; of fewer rows than features that is the rows themselves"
LABELS = "which node has which label"


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method gave."""

    scores: Tensor  # (N, C)
    bytes_up: int  # of all clients
    bytes_down: int  # if what is needed to score a node is sent back; 0 where the server scores
    seconds: float


@dataclass(frozen=True)
class Relative:
    """One training-free method."""

    name: str
    title: str  # as the literature writes it
    colour: str  # on every figure
    gives: str  # what a client gives away
    run: Callable[[Partition, Settings], tuple[Tensor, int, int]]


def answer(name: str, settings: Settings) -> Answer:
    """A method on the dataset and split of the settings."""
    return answer_on(name, split(load(settings), settings), settings)


def answer_on(name: str, partition: Partition, settings: Settings) -> Answer:
    """What `answer` gives, on a partition that is already there."""
    began = time.perf_counter()
    scores, up, down = RELATIVES[name].run(partition, settings)
    absent = ~partition.train_counts.any(dim=0)
    scores = scores.masked_fill(absent, -math.inf)
    return Answer(scores, up, down, time.perf_counter() - began)


def ridge(partition: Partition, settings: Settings) -> tuple[Tensor, int, int]:
    """One regression over all rows: LANCE's head with everything that a sketch can hold.

    Fed3R sends ZᵀZ and ZᵀY, AFL local solutions and ZᵀZ; all have the same solution.
    """
    exact = replace(settings, head="ridge", sketch=math.inf, sketch_cap=False)
    done = run_on(partition, exact)
    m = done.metrics
    return done.every_prediction.scores.double(), m.bytes_up_total, m.bytes_down_total


def correct_and_smooth(partition: Partition, settings: Settings) -> tuple[Tensor, int, int]:
    """The ridge head, corrected by the training labels of its nodes."""
    scores, up, _ = ridge(partition, settings)
    scores = scores.masked_fill(~partition.train_counts.any(dim=0), -math.inf)
    labels = PAIR_BYTES * len(partition.graph.train_nodes)
    return spread.correct_and_smooth(partition.graph, scores), up + labels, 0


def _of_labels(
    scores: Callable[[Graph], Tensor],
) -> Callable[[Partition, Settings], tuple[Tensor, int, int]]:
    def run(partition: Partition, settings: Settings) -> tuple[Tensor, int, int]:
        return scores(partition.graph), PAIR_BYTES * len(partition.graph.train_nodes), 0

    return run


def _of_sums(
    head: Callable[[Sent], heads.Linear | heads.Quadratic], scatter: bool, squares: bool, unit: bool
) -> Callable[[Partition, Settings], tuple[Tensor, int, int]]:
    def run(partition: Partition, settings: Settings) -> tuple[Tensor, int, int]:
        rows = smoothed_rows(partition, settings)
        sent = []
        for z, y in rows.clients():
            z = torch.nn.functional.normalize(z, dim=1, eps=1e-30) if unit else z
            sent.append(sums_of(z, y, rows.classes, scatter, squares))
        made = head(added(sent))
        seen = int(partition.train_counts.any(dim=0).sum())
        parts = 2 if squares else 1
        down = FLOAT_BYTES * seen * (parts * partition.graph.num_features + 1) * partition.clients
        up = FLOAT_BYTES * sum(map(floats_of, sent))
        return _scores(partition.graph, made, settings, unit), up, down

    return run


def _scores(
    graph: Graph, head: heads.Linear | heads.Quadratic, settings: Settings, unit: bool
) -> Tensor:
    """Scores of every node; a linear head's are smoothed in place of the rows."""
    smoothing = at_test(graph, settings)
    if isinstance(head, heads.Linear):
        flat = graph.project(head.w.t().to(graph.features.dtype))
        z = propagate(graph.operator, flat, smoothing.alpha, smoothing.steps)
        return z.double() + head.b
    square = torch.zeros(graph.num_nodes, graph.classes, dtype=torch.float64)
    plain, length = torch.zeros_like(square), torch.zeros(graph.num_nodes, 1, dtype=torch.float64)
    for block in torch.arange(graph.num_features).split(BLOCK):
        x = _columns(graph, block)
        z = propagate(graph.operator, x, smoothing.alpha, smoothing.steps).double()
        square += z.square() @ head.q[block]
        plain += z @ head.w[block]
        length += z.square().sum(1, keepdim=True)
    scale = length.clamp_min(1e-30).rsqrt() if unit else torch.ones_like(length)
    return scale.square() * square + scale * plain + head.b


def _columns(graph: Graph, block: Tensor) -> Tensor:
    """Some columns of X̃, dense (N, columns)."""
    chosen = torch.zeros(len(block), graph.num_features)
    chosen[torch.arange(len(block)), block] = 1
    if graph.features.layout == torch.sparse_csr:
        return graph.project(chosen)
    return graph.features[:, block].contiguous()


RELATIVES = {
    r.name: r
    for r in (
        Relative("ridge", "Ridge (Fed3R, AFL)", "#1B4F72", ROWS, ridge),
        Relative("fedcgs", "FedCGS", "#117A65", ROWS, _of_sums(heads.fedcgs, True, False, False)),
        Relative("lda", "GH-OFL, LDA", "#7D6608", ROWS, _of_sums(heads.lda, True, False, False)),
        Relative(
            "nb",
            "GH-OFL, naive Bayes",
            "#6E2C00",
            "class means and variances, of a single row the row",
            _of_sums(heads.naive_bayes, False, True, True),
        ),
        Relative(
            "lp", "Label propagation", "#78281F", LABELS, _of_labels(spread.label_propagation)
        ),
        Relative("tfgnn", "TFGNN, untrained", "#512E5F", LABELS, _of_labels(spread.tfgnn)),
        Relative("cs", "Correct & Smooth", "#212F3C", f"{ROWS}; and {LABELS}", correct_and_smooth),
    )
}
