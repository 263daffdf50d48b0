"""FedGTA: clients share with those whose smoothed predictions look alike, weighted by confidence.

Each client spreads its predictions over its graph, sends their moments and how sure it is in all.
θ_i = Σ_{j: cos(mom_i, mom_j) > ε} H_j θ_j / Σ H_j. Evaluated is the same rule over all clients.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from spear_core.baselines.fedavg import FedAvg, Federation, Message
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.local import Local
from spear_core.baselines.model import State, average
from spear_core.fields import setting

SPREAD_STEPS, SPREAD, SOFTEN = 5, 0.5, 20.0


@dataclass(frozen=True)
class FedGTAKnobs(Knobs):
    """What FedGTA adds."""

    moments: int = setting(10, "orders of the moments", "M", low=1, high=100)
    similar_above: float = setting(
        0.5, "cosine of moments from which clients share", "ε", low=-1.0, high=1.0
    )


class FedGTA(FedAvg):
    """A client that did not train weighs nothing, but still gets the mean of those like it."""

    knobs = FedGTAKnobs
    weightings = (*FedAvg.weightings, "confidence")

    def __init__(self, federation: Federation) -> None:
        super().__init__(federation)
        self.personal: dict[int, State] = {}  # what each client is to receive

    def download(self, k: int) -> Message:
        return {"model": self.personal.get(k, self.model)}

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        upload = super().local(k, message, rng)
        client, t = self.clients[k], self.training
        with torch.no_grad():
            sharp, soft = self.spread(client, upload["model"])
        if t.weighting == "confidence":
            upload["weight"] = confidence(client, soft) if client.trains else 0.0
        return upload | {"moments": moments(sharp, t.moments)}

    def weight(self, k: int) -> int:
        return 0 if self.training.weighting == "confidence" else super().weight(k)

    def spread(self, client: Local, model: State) -> tuple[Tensor, Tensor]:
        """Predictions spread over the client's graph, sharp and softened, (N_k, C) each."""
        if client.nodes == 0:
            none = torch.zeros(0, self.federation.classes, device=self.federation.device)
            return none, none
        first = self.net.load(model)(client.whole)[1].softmax(1)
        truth = torch.zeros(len(client.train), first.shape[1], device=first.device)
        truth.scatter_(1, client.label[:, None], 1.0)
        first[client.train] = truth
        y = first
        for _ in range(SPREAD_STEPS):
            y = SPREAD * (client.whole.far @ y) + (1 - SPREAD) * first
        sharp, soft = y.softmax(1), (y / SOFTEN).softmax(1)
        sharp[client.train] = soft[client.train] = truth
        return sharp, soft

    def aggregate(self, uploads: list[Message], rng: np.random.Generator) -> None:
        self.model = self.mean(uploads)
        models, weights = [u["model"] for u in uploads], [u["weight"] for u in uploads]
        sketch = normalize(torch.stack([u["moments"] for u in uploads]).double().cpu(), dim=1)
        alike = (sketch @ sketch.t() > self.training.similar_above).fill_diagonal_(True).tolist()
        done: dict[tuple[bool, ...], State | None] = {}
        for k, row in enumerate(alike):
            if tuple(row) not in done:
                shares = [w if near else 0 for w, near in zip(weights, row, strict=True)]
                done[tuple(row)] = average(models, shares)
            self.personal[k] = done[tuple(row)] or models[k]

    def state(self) -> dict[str, Any]:
        return super().state() | {"personal": self.personal}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.personal = state["personal"]


def confidence(client: Local, soft: Tensor) -> float:
    """Σ_i d_i (C/e + Σ_c ỹ_ic log ỹ_ic), with d_i the neighbours and the node itself."""
    degree = torch.as_tensor(client.links.sum(1).A1 + 1, device=soft.device)
    sure = soft.shape[1] / math.e + torch.xlogy(soft, soft).sum(1)
    return float((degree * sure).sum())


def moments(y: Tensor, orders: int) -> Tensor:
    """Raw and central moments of order 1 to M of every class, (2 M C); zeros without a node."""
    if len(y) == 0:
        return torch.zeros(2 * orders * y.shape[1], device=y.device)
    central = y - y.mean(0)
    powers = range(1, orders + 1)
    return torch.cat([y.pow(p).mean(0) for p in powers] + [central.pow(p).mean(0) for p in powers])
