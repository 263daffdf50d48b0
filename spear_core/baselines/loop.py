"""`train`: the one loop of every trained method, download → local → aggregate → predict.

The loop counts the bytes from the messages it passes on and takes the time of clients and server
apart. The evaluation after each round, on the full graph, is nobody's time and nobody's bytes.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from spear_core.baselines import checkpoint
from spear_core.baselines.fedavg import FedAvg, Federation
from spear_core.baselines.local import clients_of, whole_graph
from spear_core.baselines.methods import METHODS
from spear_core.baselines.model import GCN, State
from spear_core.baselines.traffic import Traffic, payload_bytes
from spear_core.baselines.training import Training
from spear_core.datasets import load
from spear_core.graph import Graph
from spear_core.partition import Partition, split
from spear_core.randomness import generator
from spear_core.settings import Settings
from spear_core.wanted import still_wanted

STAGES = ("client", "server", "evaluate")


@dataclass(frozen=True)
class Point:
    """How good the global model is after a round; `None` where there is no such node."""

    round: int  # from 1
    rounds: int
    accuracy: float | None  # on the test nodes
    validation: float | None


Progress = Callable[[Point], bool | None]  # False stops the run after this round


@dataclass(frozen=True, eq=False)
class Trained:
    """What a trained method gave, whole or as far as it came."""

    settings: Settings
    training: Training
    partition: Partition
    curve: tuple[Point, ...]
    traffic: Traffic
    seconds: dict[str, float]  # wall clock: client (all of them, one after another), server
    cpu_seconds: dict[str, float]  # processor time of both, which a busy machine leaves alone
    model: State  # the global model
    scores: Tensor  # (N, C)

    @property
    def graph(self) -> Graph:
        return self.partition.graph

    @property
    def stopped(self) -> bool:
        """Whether rounds are missing."""
        return len(self.curve) < self.training.rounds

    @property
    def accuracy(self) -> float | None:
        """On the test nodes, after the last round."""
        return self.curve[-1].accuracy

    @property
    def best(self) -> Point:
        """The first round of the best validation accuracy; the last one without validation."""
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
    return train_on(split(load(settings), settings), settings, training, progress, keep)


def curve_so_far(settings: Settings, training: Training) -> tuple[Point, ...]:
    """The rounds that the cache has of a run, from which `train` would go on."""
    partition = split(load(settings), settings)
    path = checkpoint.path_of(partition, settings.seed, training)
    saved = checkpoint.load(path, partition.graph.device)
    return tuple(Point(*p) for p in saved["curve"]) if saved else ()


def train_on(
    partition: Partition,
    settings: Settings,
    training: Training,
    progress: Progress | None = None,
    keep: bool = True,
) -> Trained:
    """What `train` gives, on a partition that is already there."""
    graph, device = partition.graph, partition.graph.device
    path = checkpoint.path_of(partition, settings.seed, training) if keep else None
    saved = (checkpoint.load(path, device) if path else None) or _nothing(partition.clients)
    curve = [Point(*p) for p in saved["curve"]]
    traffic, seconds, cpu = Traffic(**saved["traffic"]), saved["seconds"], saved["cpu_seconds"]

    def result(model: State, scores: Tensor) -> Trained:
        return Trained(
            settings, training, partition, tuple(curve), traffic, seconds, cpu, model, scores
        )

    if saved["done"]:
        return result(saved["model"], saved["scores"])

    clients = clients_of(partition)
    federation = Federation(
        clients, graph.num_features, graph.classes, training, settings.seed, device
    )
    method, whole = METHODS[training.method].kind(federation), whole_graph(graph)
    if saved["method"]:
        method.restore(saved["method"])
    going = True
    while going and len(curve) < training.rounds:
        number = len(curve) + 1
        one_round(method, number, traffic, seconds, cpu)
        done = number == training.rounds
        if done:
            for k in range(len(clients)):
                traffic.evaluation[k] += payload_bytes(method.report(k))
        with _clock(seconds, cpu, "evaluate"):
            scores = method.predict(whole)
            curve.append(Point(number, training.rounds, *_accuracy(graph, scores)))
        if path:
            kept: dict[str, Any] = {
                "curve": [(p.round, p.rounds, p.accuracy, p.validation) for p in curve],
                "traffic": asdict(traffic),
                "seconds": seconds,
                "cpu_seconds": cpu,
                "done": done,
            }
            end = {"model": method.global_model(), "scores": scores}
            checkpoint.save(path, kept | (end if done else {"method": method.state()}))
        going = progress is None or progress(curve[-1]) is not False
    return result(method.global_model(), method.predict(whole))


def one_round(
    method: FedAvg,
    number: int,
    traffic: Traffic,
    seconds: dict[str, float],
    cpu: dict[str, float],
) -> None:
    """One round of every client and the server; random numbers depend on the round alone."""
    f = method.federation
    uploads = []
    for k in range(len(f.clients)):
        still_wanted()
        with _clock(seconds, cpu, "server"):
            message = method.download(k)
        traffic.down[k] += payload_bytes(message)
        rng = generator(f.seed, f"round {number} of client {k}")
        with _clock(seconds, cpu, "client"):
            upload = method.local(k, message, rng)
        traffic.up[k] += payload_bytes(upload)
        uploads.append(upload)
    still_wanted()
    with _clock(seconds, cpu, "server"):
        method.aggregate(uploads, generator(f.seed, f"round {number} of the server"))


def _nothing(clients: int) -> dict[str, Any]:
    """What is saved of a run before its first round."""
    return {
        "curve": [],
        "traffic": asdict(Traffic.of(clients)),
        "seconds": dict.fromkeys(STAGES, 0.0),
        "cpu_seconds": dict.fromkeys(STAGES, 0.0),
        "done": False,
        "method": None,
    }


def _accuracy(graph: Graph, scores: Tensor) -> tuple[float | None, float | None]:
    """Share of right predictions among test and among validation nodes."""
    right = scores.argmax(1) == graph.y
    test, val = right[graph.test], right[graph.val]
    return (
        float(test.double().mean()) if len(test) else None,
        float(val.double().mean()) if len(val) else None,
    )


@contextmanager
def _clock(seconds: dict[str, float], cpu: dict[str, float], stage: str) -> Iterator[None]:
    start, cpu_start = time.perf_counter(), time.process_time()
    yield
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    seconds[stage] += time.perf_counter() - start
    cpu[stage] += time.process_time() - cpu_start
