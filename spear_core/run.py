"""`run(settings)`: the whole line from a dataset to a result."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor

from spear_core.classify import Prediction, classify
from spear_core.client import Uploads, upload
from spear_core.datasets import load
from spear_core.device import pick_device
from spear_core.graph import Graph
from spear_core.measure import Metrics, measure
from spear_core.partition import Partition, split
from spear_core.propagate import propagate
from spear_core.server import Estimate, estimate
from spear_core.settings import Settings

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Result:
    """Everything a run gave; what is costly and seldom shown is computed on first access."""

    settings: Settings
    partition: Partition
    estimate: Estimate
    prediction: Prediction  # of the test nodes
    metrics: Metrics
    seconds: dict[str, float]  # by stage: load, split, upload, estimate, classify

    @property
    def graph(self) -> Graph:
        return self.partition.graph

    @property
    def uploads(self) -> Uploads:
        """What the clients sent."""
        return self.estimate.uploads

    @property
    def method_seconds(self) -> float:
        """Clients, server and inference together; loading and splitting left out."""
        return sum(self.seconds[stage] for stage in ("upload", "estimate", "classify"))

    @cached_property
    def every_prediction(self) -> Prediction:
        """Predictions for every node of the graph."""
        return classify(self.graph, self.estimate, self.settings, every_node=True)

    @cached_property
    def z(self) -> Tensor:
        """The smoothed features on the full graph, (N, F)."""
        x = self.graph.features
        x = x.to_dense() if x.layout == torch.sparse_csr else x
        return propagate(self.graph.operator, x, self.settings.alpha, self.settings.steps)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was out of the ordinary in this run and how it was handled, one sentence each."""
        return (
            *pick_device(self.settings.device)[1],
            *self.graph.notes,
            *self.partition.notes,
            *_class_notes(self.graph, self.partition, self.estimate),
        )


def run(settings: Settings, graph: Graph | None = None) -> Result:
    """Run SPEAR once, on the named dataset or on a graph of your own.

    >>> round(run(Settings(dataset="karate", clients=3)).metrics.accuracy, 2)
    0.79
    """
    seconds: dict[str, float] = {}
    loaded = _timed(seconds, "load", lambda: _graph(settings, graph))
    return run_on(_timed(seconds, "split", lambda: split(loaded, settings)), settings, seconds)


def run_on(
    partition: Partition, settings: Settings, seconds: dict[str, float] | None = None
) -> Result:
    """Run the method on a partition that is already there."""
    seconds = {} if seconds is None else seconds
    uploads = _timed(seconds, "upload", lambda: upload(partition, settings))
    estimated = _timed(seconds, "estimate", lambda: estimate(uploads, settings))
    predicted = _timed(seconds, "classify", lambda: classify(partition.graph, estimated, settings))
    metrics = measure(partition, estimated, predicted, settings)
    return Result(settings, partition, estimated, predicted, metrics, seconds)


def _graph(settings: Settings, own: Graph | None) -> Graph:
    return load(settings) if own is None else own.to(pick_device(settings.device)[0])


def _timed(seconds: dict[str, float], stage: str, step: Callable[[], T]) -> T:
    start = time.perf_counter()
    out: Any = step()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    seconds[stage] = time.perf_counter() - start
    return out


def _class_notes(graph: Graph, partition: Partition, estimate: Estimate) -> list[str]:
    tested = torch.bincount(graph.y[graph.test_nodes], minlength=graph.classes) > 0
    lone = (partition.train_counts > 0).sum(0) == 1
    return [
        words.format(_classes(graph, which))
        for words, which in (
            ("No training node, so never predicted: {}.", ~estimate.seen),
            ("No test node, so without an accuracy: {}.", ~tested),
            ("Held by a single client, so without peers and not pulled: {}.", lone),
        )
        if bool(which.any())
    ]


def _classes(graph: Graph, which: Tensor) -> str:
    """Some classes by name, the first eight of them."""
    index = which.nonzero().squeeze(1).tolist()
    names = [graph.class_names[c] if graph.class_names else str(c) for c in index]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"class {', '.join(names[:8])}{more}"
