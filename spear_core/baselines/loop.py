"""`train`: the one loop of every trained method, download → local → aggregate → predict.

The loop counts the bytes from the messages it passes on and takes the time of clients and server
apart. The evaluation after each round, on the full graph, is nobody's time and nobody's bytes.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from spear_core.baselines import checkpoint
from spear_core.baselines.fedavg import Federation
from spear_core.baselines.local import clients_of, whole_graph
from spear_core.baselines.methods import METHODS
from spear_core.baselines.model import GCN, State
from spear_core.baselines.oneshot import OneShot
from spear_core.baselines.rounds import Books, Point, Progress, accuracies, long_round, one_round
from spear_core.baselines.traffic import Traffic, payload_bytes
from spear_core.baselines.training import Training
from spear_core.datasets import load
from spear_core.graph import Graph
from spear_core.partition import Partition, split
from spear_core.settings import Settings
from spear_core.transforms.perturb import perturb, perturb_test

__all__ = ["Point", "Progress", "Trained", "curve_so_far", "train", "train_on"]


@dataclass(frozen=True, eq=False)
class Trained:
    """What a trained method gave, whole or as far as it came."""

    settings: Settings
    training: Training
    partition: Partition  # with the clients' noise, if there is any
    graph: Graph  # that is tested on: the clean one, unless the settings say otherwise
    curve: tuple[Point, ...]  # after every round
    steps: tuple[Point, ...]  # of a one-shot method: after some steps of the server
    traffic: Traffic
    seconds: dict[str, float]  # wall clock: client (all of them, one after another), server
    cpu_seconds: dict[str, float]  # processor time of both, which a busy machine leaves alone
    model: State  # the global model
    scores: Tensor  # (N, C)

    @property
    def stopped(self) -> bool:
        """Whether rounds are missing."""
        return len(self.curve) < self.training.rounds

    @property
    def accuracy(self) -> float | None:
        """On the test nodes, after the last round, or as far as a server came in its only one."""
        return next((some[-1].accuracy for some in (self.curve, self.steps) if some), None)

    @property
    def best(self) -> Point:
        """The first round of the best validation accuracy; the last one without validation.

        There is none before a round is done.
        """
        if any(p.validation is None for p in self.curve):
            return self.curve[-1]
        return max(self.curve, key=lambda p: p.validation or 0.0)

    @property
    def label(self) -> Tensor:
        """The predicted class of every node, (N)."""
        return self.scores.argmax(1)

    @property
    def histogram(self) -> list[int]:
        """How many test nodes each class is predicted for, (C)."""
        predicted = self.label[self.graph.test_nodes]
        return torch.bincount(predicted, minlength=self.graph.classes).tolist()

    @property
    def constant(self) -> int | None:
        """The class, if one and the same is predicted for every test node: nothing was learnt."""
        chosen = [c for c, n in enumerate(self.histogram) if n]
        return chosen[0] if len(chosen) == 1 else None

    @property
    def hidden(self) -> Tensor:
        """The global model's representation of every node after its first layer, (N, H)."""
        t, graph = self.training, self.graph
        net = GCN(graph.num_features, t.hidden, graph.classes, t.dropout).to(graph.device)
        with torch.no_grad():
            return net.load(self.model).hidden(whole_graph(graph))


def train(
    settings: Settings, training: Training, progress: Progress | None = None, keep: bool = True
) -> Trained:
    """Train a method on the dataset and split of the settings.

    A run that was stopped or killed goes on where it was; one that is finished is read from the
    cache. `keep=False` leaves the cache alone and trains all rounds.
    """
    partition, tested = _held(settings)
    return train_on(partition, settings, training, progress, keep, tested)


def _held(settings: Settings) -> tuple[Partition, Graph]:
    """What the clients hold, noise included, and the graph that is tested on."""
    clean = split(load(settings), settings)
    return perturb(clean, settings), perturb_test(clean, settings).graph


def curve_so_far(settings: Settings, training: Training) -> tuple[Point, ...]:
    """The rounds that the cache has of a run, from which `train` would go on.

    Of a one-shot method whose only round is not done, the looks at the server's steps.
    """
    partition, tested = _held(settings)
    path = checkpoint.path_of(partition, settings.seed, training, tested)
    saved = checkpoint.load(path, partition.graph.device)
    if saved is None:
        return ()
    books = Books.opened(partition.clients, saved)
    return tuple(books.steps or books.curve)


def train_on(
    partition: Partition,
    settings: Settings,
    training: Training,
    progress: Progress | None = None,
    keep: bool = True,
    tested: Graph | None = None,
) -> Trained:
    """What `train` gives, on a partition that is already there; tested on its graph or another."""
    graph = tested or partition.graph
    device = graph.device
    path = checkpoint.path_of(partition, settings.seed, training, graph) if keep else None
    saved = checkpoint.load(path, device) if path else None
    books, told = Books.opened(partition.clients, saved), progress or (lambda point: True)

    def result(model: State, scores: Tensor) -> Trained:
        curve, steps, took = tuple(books.curve), tuple(books.steps), books.seconds
        more = (books.traffic, took, books.cpu_seconds)
        return Trained(settings, training, partition, graph, curve, steps, *more, model, scores)

    def save(more: dict[str, Any]) -> None:
        if path:
            checkpoint.save(path, books.saved() | {"done": False} | more)

    saved = saved or {}
    if saved.get("done"):
        return result(saved["model"], saved["scores"])

    clients = clients_of(partition)
    federation = Federation(
        clients, graph.num_features, graph.classes, training, settings.seed, device
    )
    method, whole = METHODS[training.method].kind(federation), whole_graph(graph)

    def look() -> tuple[float | None, float | None]:
        return accuracies(graph, method.predict(whole))

    if saved.get("method") and not isinstance(method, OneShot):
        method.restore(saved["method"])
    going = True
    while going and len(books.curve) < training.rounds:
        number = len(books.curve) + 1
        if not isinstance(method, OneShot):
            one_round(method, number, books)
        elif not long_round(method, books, saved, look, save, told):
            break
        done = number == training.rounds
        if done:
            for k in range(len(clients)):
                books.traffic.evaluation[k] += payload_bytes(method.report(k))
        with books.clock("evaluate"):
            scores = method.predict(whole)
            books.curve.append(Point(number, training.rounds, *accuracies(graph, scores)))
        end = {"done": True, "model": method.global_model(), "scores": scores}
        save(end if done else {"method": method.state()})
        going = told(books.curve[-1]) is not False
    return result(method.global_model(), method.predict(whole))
