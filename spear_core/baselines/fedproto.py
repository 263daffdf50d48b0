"""FedProto: clients keep their own models and share class means of hidden rows (prototypes).

The loss adds λ Σ_c mean_{i: y_i = c} (1/H) ‖h_i - g_c‖². There is no global model. For the
evaluation the clients' models are gathered once, which is counted apart, and are averaged
(`fedproto`), or each of them answers and their probabilities are averaged (`fedproto-heads`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from spear_core.baselines.fedavg import FedAvg, Federation, Message
from spear_core.baselines.fit import Term, fit
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.local import Block
from spear_core.baselines.model import GCN, State, average
from spear_core.fields import setting


@dataclass(frozen=True)
class FedProtoKnobs(Knobs):
    """What FedProto adds."""

    prototype_pull: float = setting(1.0, "pull to the global prototypes", "λ", low=0.0, high=1e6)
    readout: str = setting(
        "head",
        "who predicts: head (of the averaged model), prototype (the nearest one), ensemble (the "
        "clients' own models, the mean of their probabilities)",
        choices=("head", "prototype", "ensemble"),
    )


class FedProto(FedAvg):
    """Every client starts from the same model, else their hidden spaces would be unrelated."""

    knobs = FedProtoKnobs

    def __init__(self, federation: Federation) -> None:
        super().__init__(federation)
        self.own: dict[int, State] = {}  # each client's model, once it has trained
        self.prototypes: Tensor | None = None  # (C, H); NaN for a class that nobody holds

    def download(self, k: int) -> Message:
        return {} if self.prototypes is None else {"prototypes": self.prototypes}

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        client, t = self.clients[k], self.training
        if not client.trains:
            return {}
        start = self.own.get(k, self.model)
        self.own[k] = fit(self.net, client, start, t, rng, self.term(k, message))
        with torch.no_grad():
            h = self.net.hidden(client.reach)[client.rows]
        counts = torch.bincount(client.label, minlength=self.federation.classes)
        held = counts.nonzero().squeeze(1)
        means = (_members(client.label, self.federation.classes) @ h)[held] / counts[held, None]
        return {"labels": held.int(), "counts": counts[held].int(), "prototypes": means}

    def term(self, k: int, message: Message) -> Term | None:
        if "prototypes" not in message:
            return None
        client, pull = self.clients[k], self.training.prototype_pull
        goal = message["prototypes"][client.label]  # (n_k, H)
        known = ~goal.isnan().any(1)
        share = known / torch.bincount(client.label)[client.label]  # a class counts as one

        def near(net: GCN, h: Tensor) -> Tensor:
            away = (h[client.rows] - goal.nan_to_num()).square().mean(1)
            return pull * (share * away).sum()

        return near

    def aggregate(self, uploads: list[Message], rng: np.random.Generator) -> None:
        sent = [u for u in uploads if u]
        if not sent:
            return
        label = torch.cat([u["labels"] for u in sent]).long()
        count = torch.cat([u["counts"] for u in sent]).float()
        rows = torch.cat([u["prototypes"] for u in sent])
        member = _members(label, self.federation.classes) * count  # (C, P)
        self.prototypes = (member @ rows) / member.sum(1, keepdim=True)

    def report(self, k: int) -> Message:
        return {"model": self.own.get(k, self.model), "weight": self.weight(k)}

    def global_model(self) -> State:
        reports = [self.report(k) for k in range(len(self.clients))]
        return average([r["model"] for r in reports], [r["weight"] for r in reports]) or self.model

    @torch.no_grad()
    def predict(self, graph: Block) -> Tensor:
        if self.training.readout == "ensemble" and self.own:
            return self.together(graph)
        net = self.plain().load(self.global_model())
        if self.training.readout == "head" or self.prototypes is None:
            return net(graph)[1]
        distance = torch.cdist(net.hidden(graph), self.prototypes)
        return -distance.nan_to_num(nan=torch.inf)

    def together(self, graph: Block) -> Tensor:
        """The mean by weight of what the clients' own models say, (N, C)."""
        weight = {k: self.weight(k) for k in self.own}
        total = sum(weight.values())
        said = (self.plain().load(self.own[k])(graph)[1].softmax(1) * weight[k] for k in self.own)
        return torch.stack([some / total for some in said]).sum(0)

    def state(self) -> dict[str, Any]:
        return super().state() | {"own": self.own, "prototypes": self.prototypes}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.own, self.prototypes = state["own"], state["prototypes"]


def _members(label: Tensor, classes: int) -> Tensor:
    """1 where a row belongs to a class, (C, n)."""
    return one_hot(label, classes).t().float()
