"""MOON: FedAvg whose clients keep their hidden rows near the global model's, away from their own
previous ones: μ · mean_i -log e^{s(z, z_g)/τ} / (e^{s(z, z_g)/τ} + e^{s(z, z_p)/τ}), s the cosine.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, softplus

from spear_core.baselines.fedavg import FedAvg, Federation, Message
from spear_core.baselines.fit import Term
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.model import GCN, State
from spear_core.fields import setting


@dataclass(frozen=True)
class MOONKnobs(Knobs):
    """What MOON adds."""

    contrast: float = setting(0.1, "weight of the contrastive term", "μ", low=0.0, high=1e6)
    temperature: float = setting(0.5, "of the contrastive term", "τ", above=0.0, high=1e6)


class MOON(FedAvg):
    """The term is taken over every node of the client, from its second round on."""

    knobs = MOONKnobs
    narrow = False  # its term reads every node

    def __init__(self, federation: Federation) -> None:
        super().__init__(federation)
        self.previous: dict[int, State] = {}  # each client's own model after its last round

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        upload = super().local(k, message, rng)
        if self.clients[k].trains:
            self.previous[k] = upload["model"]
        return upload

    def term(self, k: int, message: Message) -> Term | None:
        if k not in self.previous:
            return None
        block, t = self.clients[k].whole, self.training
        with torch.no_grad():
            received = self.net.load(message["model"]).hidden(block)
            own = self.net.load(self.previous[k]).hidden(block)

        def contrast(net: GCN, h: Tensor) -> Tensor:
            z = net.hidden(block)
            nearer = cosine_similarity(z, received) - cosine_similarity(z, own)
            return t.contrast * softplus(-nearer / t.temperature).mean()

        return contrast

    def state(self) -> dict[str, Any]:
        return super().state() | {"previous": self.previous}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.previous = state["previous"]
