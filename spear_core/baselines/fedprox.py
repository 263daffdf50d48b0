"""FedProx: FedAvg whose clients are held near the received model by (μ/2) ‖θ - θ_received‖²."""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.baselines.fedavg import FedAvg, Message
from spear_core.baselines.fit import Term, narrows
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.model import GCN
from spear_core.fields import setting


@dataclass(frozen=True)
class FedProxKnobs(Knobs):
    """What FedProx adds."""

    proximal: float = setting(1e-3, "pull to the received model", "μ", low=0.0, high=1e6)


class FedProx(FedAvg):
    """At one step a round the penalty has no gradient yet, so the method is FedAvg then."""

    knobs = FedProxKnobs

    def term(self, k: int, message: Message) -> Term:
        received, mu = message["model"], self.training.proximal
        if narrows(self.training):
            received = self.clients[k].narrow(received)

        def pull(net: GCN, h: Tensor) -> Tensor:
            away = [(p - received[name]).square().sum() for name, p in net.named_parameters()]
            return mu / 2 * torch.stack(away).sum()

        return pull
