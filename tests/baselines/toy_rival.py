"""A rival of one file, as somebody would add it: FedAvg whose server moves only part of the way."""

from dataclasses import dataclass

import numpy as np

from spear_core.baselines.fedavg import FedAvg, Message
from spear_core.baselines.knobs import Knobs, setting


@dataclass(frozen=True)
class SlowKnobs(Knobs):
    """What the rival adds."""

    pace: float = setting(0.5, "how far the server moves to the mean", "ζ", low=0.0, high=1.0)


class Slow(FedAvg):
    """At a pace of 1 it is FedAvg."""

    knobs = SlowKnobs

    def aggregate(self, uploads: list[Message], rng: np.random.Generator) -> None:
        pace, mean = self.training.pace, self.mean(uploads)
        self.model = {name: p + pace * (mean[name] - p) for name, p in self.model.items()}
