"""One round of a trained method, and what is written down of it: bytes, seconds, accuracies.

A round of most methods is short. That of a one-shot method is the only one and has a long phase of
the server, of which the accuracies are a second curve.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from spear_core.baselines.fedavg import FedAvg, Message
from spear_core.baselines.oneshot import OneShot
from spear_core.baselines.traffic import Traffic, payload_bytes
from spear_core.graph import Graph
from spear_core.randomness import generator
from spear_core.wanted import still_wanted

STAGES = ("client", "server", "evaluate")
CLIENT, SERVER, ROUND = "client", "server step", "round"  # what a point stands after
LOOKS = 20  # how often the long phase of a server is looked at, at most


@dataclass(frozen=True)
class Point:
    """How good the global model is after a round; `None` where there is no such node.

    Of a one-shot method also after a client, when there is no global model yet, and after some
    steps of the server: `stage` says which, and the numbers count those.
    """

    round: int  # from 1
    rounds: int
    accuracy: float | None  # on the test nodes
    validation: float | None
    stage: str = ROUND


Progress = Callable[[Point], bool | None]  # False stops the run here


@dataclass
class Books:
    """What is written down of a run so far."""

    curve: list[Point]
    steps: list[Point]  # of the server of a one-shot method
    traffic: Traffic
    seconds: dict[str, float]
    cpu_seconds: dict[str, float]

    @classmethod
    def opened(cls, clients: int, saved: dict[str, Any] | None) -> "Books":
        """Empty ones, or those of a saved run."""
        if saved is None:
            zeros = dict.fromkeys(STAGES, 0.0)
            return cls([], [], Traffic.of(clients), zeros, dict(zeros))
        return cls(
            [Point(*p) for p in saved["curve"]],
            [Point(*p) for p in saved.get("steps", [])],
            Traffic(**saved["traffic"]),
            saved["seconds"],
            saved["cpu_seconds"],
        )

    def saved(self) -> dict[str, Any]:
        """The books as plain values."""
        curve, steps = (
            [(p.round, p.rounds, p.accuracy, p.validation, p.stage) for p in some]
            for some in (self.curve, self.steps)
        )
        return {
            "curve": curve,
            "steps": steps,
            "traffic": asdict(self.traffic),
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
        }

    @contextmanager
    def clock(self, stage: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        start, cpu_start = time.perf_counter(), time.process_time()
        yield
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.seconds[stage] += time.perf_counter() - start
        self.cpu_seconds[stage] += time.process_time() - cpu_start


Look = Callable[[], tuple[float | None, float | None]]  # test and validation accuracy now
Keep = Callable[[dict[str, Any]], None]  # saves a run as far as it is, with what it goes on from


def one_round(method: FedAvg, number: int, books: Books) -> None:
    """One round of every client and the server; random numbers depend on the round alone."""
    f = method.federation
    uploads = [_client(method, k, number, books) for k in range(len(f.clients))]
    still_wanted()
    with books.clock("server"):
        method.aggregate(uploads, generator(f.seed, f"round {number} of the server"))


def long_round(
    method: OneShot,
    books: Books,
    saved: dict[str, Any],
    look: Look,
    keep: Keep,
    told: Progress,
) -> bool:
    """The only round of a one-shot method, from where it was saved; False where it was stopped.

    It is saved after every client and whenever it is looked at.
    """
    f = method.federation
    uploads: list[Message] = list(saved.get("uploads", ()))
    many = len(f.clients)
    for k in range(len(uploads), many):
        uploads.append(_client(method, k, 1, books))
        keep({"uploads": uploads})
        if told(Point(k + 1, many, None, None, CLIENT)) is False:
            return False
    with books.clock("server"):
        method.begin(uploads, generator(f.seed, "round 1 of the server"))
        if "method" in saved:
            method.restore(saved["method"])
    for number in range(saved.get("step", 0) + 1, method.steps + 1):
        still_wanted()
        with books.clock("server"):
            method.step(number, generator(f.seed, f"step {number} of the server"))
        if number * LOOKS // method.steps > (number - 1) * LOOKS // method.steps:
            with books.clock("evaluate"):
                books.steps.append(Point(number, method.steps, *look(), SERVER))
            keep({"uploads": uploads, "step": number, "method": method.state()})
            if told(books.steps[-1]) is False:
                return False
    return True


def _client(method: FedAvg, k: int, number: int, books: Books) -> Message:
    """What client k sends in a round."""
    still_wanted()
    with books.clock("server"):
        message = method.download(k)
    books.traffic.down[k] += payload_bytes(message)
    rng = generator(method.federation.seed, f"round {number} of client {k}")
    with books.clock("client"):
        upload = method.local(k, message, rng)
    books.traffic.up[k] += payload_bytes(upload)
    return upload


def accuracies(graph: Graph, scores: Tensor) -> tuple[float | None, float | None]:
    """Share of right predictions among test and among validation nodes."""
    right = scores.argmax(1) == graph.y
    test, val = right[graph.test], right[graph.val]
    return (
        float(test.double().mean()) if len(test) else None,
        float(val.double().mean()) if len(val) else None,
    )
