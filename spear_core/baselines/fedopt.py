"""FedOPT: the server treats the mean change of its clients as a gradient and steps adaptively.

Δ = Σ p_k θ_k - θ, m ← β1 m + (1 - β1) Δ, v by the optimiser, θ ← θ + η m / (√v + τ). There is no
bias correction. With a tiny τ every weight would move by about η in every round, noise or not.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from spear_core.baselines.fedavg import FedAvg, Federation, Message
from spear_core.baselines.knobs import Knobs
from spear_core.fields import setting


@dataclass(frozen=True)
class FedOPTKnobs(Knobs):
    """What FedOPT adds."""

    server_optimizer: str = setting(
        "adam",
        "how the server moves: adam, yogi, adagrad, or none (to the mean)",
        choices=("adam", "yogi", "adagrad", "none"),
    )
    server_rate: float = setting(0.01, "step of the server", "η", low=0.0, high=1e6)
    server_beta1: float = setting(0.9, "memory of the mean", "β1", low=0.0, below=1.0)
    server_beta2: float = setting(0.99, "memory of the square", "β2", low=0.0, below=1.0)
    server_floor: float = setting(1e-3, "added to the root of the square", "τ", above=0.0, high=1e6)


class FedOPT(FedAvg):
    """`server_optimizer`: adam, yogi or adagrad; none takes the mean itself, as FedAvg does."""

    knobs = FedOPTKnobs

    def __init__(self, federation: Federation) -> None:
        super().__init__(federation)
        self.m = {name: torch.zeros_like(p) for name, p in self.model.items()}
        self.v = {name: torch.zeros_like(p) for name, p in self.model.items()}

    def aggregate(self, uploads: list[Message], rng: np.random.Generator) -> None:
        mean, t = self.mean(uploads), self.training
        if t.server_optimizer == "none":
            self.model = mean
            return
        moved = {}
        for name, old in self.model.items():
            delta = mean[name] - old
            square = delta * delta
            self.m[name] = t.server_beta1 * self.m[name] + (1 - t.server_beta1) * delta
            v = self.v[name]
            if t.server_optimizer == "adam":
                v = t.server_beta2 * v + (1 - t.server_beta2) * square
            elif t.server_optimizer == "yogi":
                v = v - (1 - t.server_beta2) * square * (v - square).sign()
            else:
                v = v + square
            self.v[name] = v
            moved[name] = old + t.server_rate * self.m[name] / (v.sqrt() + t.server_floor)
        self.model = moved

    def state(self) -> dict[str, Any]:
        return super().state() | {"m": self.m, "v": self.v}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.m, self.v = state["m"], state["v"]
