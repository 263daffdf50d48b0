"""`run(settings)`: the whole line from a dataset to a result."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor

from spear_core.classify import Prediction, classify
from spear_core.client import Uploads, upload
from spear_core.datasets import load
from spear_core.defences.check import Rejected, check
from spear_core.device import pick_device
from spear_core.graph import Graph
from spear_core.lance.gate import at_test, private_notes
from spear_core.measures import Metrics, measure
from spear_core.memory.kept import Kept, made_from
from spear_core.partition import Partition, split
from spear_core.propagate import propagate
from spear_core.server import Estimate, estimate, head_notes
from spear_core.settings import Settings
from spear_core.transforms.attack import attack_notes, attackers, forge, poison
from spear_core.transforms.perturb import perturb, perturb_test
from spear_core.transforms.privacy import privatise
from spear_core.wanted import still_wanted

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Result:
    """Everything a run gave; what is costly and seldom shown is computed on first access.

    `seconds["upload"]` is what the clients' smoothing costs: where a run before did it, with this α
    and T on this split, the seconds that it took then are counted, and are in `reused` too.
    """

    settings: Settings
    partition: Partition  # of the graph that is tested on
    held: Partition  # what the clients hold: the same object unless there is noise or a lie
    attackers: tuple[int, ...]  # the clients that lie
    sent: Uploads  # what left the clients, before the server's checks
    rejected: tuple[Rejected, ...]  # what the server dropped because it cannot be true
    estimate: Estimate
    prediction: Prediction  # of the test nodes
    metrics: Metrics
    seconds: dict[str, float]  # by stage: load, split, upload, estimate, classify
    reused: float = 0.0  # of the seconds, those of work that was done before
    kept: Kept = field(default_factory=Kept, init=False, repr=False)  # what is computed when read

    @property
    def graph(self) -> Graph:
        return self.partition.graph

    @property
    def uploads(self) -> Uploads:
        """What the server worked with: what was sent, less what it dropped."""
        return self.estimate.uploads

    @property
    def method_seconds(self) -> float:
        """Clients, server and inference together; loading and splitting left out."""
        return sum(self.seconds[stage] for stage in ("upload", "estimate", "classify"))

    @property
    def spent_seconds(self) -> float:
        """What this very run took: those of the method without work that a run before did."""
        return self.method_seconds - self.reused

    @made_from()
    def every_prediction(self) -> Prediction:
        """Predictions for every node of the graph."""
        return classify(self.graph, self.estimate, self.settings, every_node=True)

    @property
    def z(self) -> Tensor:
        """The smoothed features on the full graph, (N, F); large, so made at every reading."""
        x = self.graph.features
        x = x.to_dense() if x.layout == torch.sparse_csr else x
        smoothed = at_test(self.graph, self.settings)
        return propagate(self.graph.operator, x, smoothed.alpha, smoothed.steps)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was out of the ordinary in this run and how it was handled, one sentence each."""
        return (
            *pick_device(self.settings.device)[1],
            *self.graph.notes,
            *self.partition.notes,
            *private_notes(self.settings),
            *attack_notes(self.partition, self.settings),
            *head_notes(self.estimate, self.settings),
            *_class_notes(self.graph, self.sent, self.estimate),
            *_rejections(self.rejected, len(self.uploads.client)),
        )


def run(settings: Settings, graph: Graph | None = None) -> Result:
    """Run SPEAR once, on the named dataset or on a graph of your own.

    >>> round(run(Settings(dataset="karate", clients=3)).metrics.accuracy, 2)
    0.79
    """
    seconds: dict[str, float] = {}
    loaded = _timed(seconds, "load", lambda: _graph(settings, graph))
    return run_on(_timed(seconds, "split", lambda: split(loaded, settings)), settings, seconds)


def accuracy_of(settings: Settings) -> float | None:
    """The accuracy of a run that is not looked at further."""
    return run(settings).metrics.accuracy


def run_on(
    partition: Partition, settings: Settings, seconds: dict[str, float] | None = None
) -> Result:
    """Run the method on a partition that is already there."""
    seconds = {} if seconds is None else seconds
    liars = attackers(partition, settings)
    held = poison(perturb(partition, settings), settings, liars)
    tested = perturb_test(partition, settings)
    honest = _timed(seconds, "upload", lambda: upload(held, settings))
    sent = _timed(seconds, "upload", lambda: forge(privatise(honest, settings), settings, liars))
    kept, rejected = check(sent)
    estimated = _timed(seconds, "estimate", lambda: estimate(kept, settings, tested.graph, liars))
    predicted = _timed(seconds, "classify", lambda: classify(tested.graph, estimated, settings))
    metrics = measure(tested, estimated, predicted, settings, sent)
    reused = honest.source.reused if honest.source else 0.0
    seconds["upload"] += reused
    run_parts = settings, tested, held, liars, sent, rejected, estimated, predicted, metrics
    return Result(*run_parts, seconds, reused)


def _graph(settings: Settings, own: Graph | None) -> Graph:
    return load(settings) if own is None else own.to(pick_device(settings.device)[0])


def _timed(seconds: dict[str, float], stage: str, step: Callable[[], T]) -> T:
    still_wanted()
    start = time.perf_counter()
    out: Any = step()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - start
    return out


def _class_notes(graph: Graph, sent: Uploads, estimate: Estimate) -> list[str]:
    tested = torch.bincount(graph.y[graph.test_nodes], minlength=graph.classes) > 0
    named = torch.bincount(sent.label, minlength=graph.classes) > 0
    lone = torch.bincount(estimate.uploads.label, minlength=graph.classes) == 1
    return [
        words.format(_classes(graph, which))
        for words, which in (
            ("No training node, so never predicted: {}.", ~named & ~estimate.seen),
            ("No upload that the server keeps, so never predicted: {}.", named & ~estimate.seen),
            ("No test node, so without an accuracy: {}.", ~tested),
            ("Held by a single client, so without peers and not pulled: {}.", lone),
        )
        if bool(which.any())
    ]


def _rejections(rejected: tuple[Rejected, ...], kept: int) -> list[str]:
    """What the server dropped, the first eight of it, and what is left."""
    said = [one.sentence for one in rejected[:8]]
    if len(rejected) > 8:
        said.append(f"Dropped in the same way: {len(rejected) - 8} more uploads.")
    if kept == 0:
        said.append("No upload is left, so every node gets the first class.")
    return said


def _classes(graph: Graph, which: Tensor) -> str:
    """Some classes by name, the first eight of them."""
    names = [graph.names[c] for c in which.nonzero().squeeze(1).tolist()]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"class {', '.join(names[:8])}{more}"
