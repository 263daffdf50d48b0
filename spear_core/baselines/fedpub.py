"""FedPub: every client gets its own mean, weighted towards clients whose models act alike.

How a model acts is its mean hidden row on one random graph that everybody draws from the seed.
Clients multiply their weights by masks that stay theirs; θ_i = Σ_j softmax_j(τ cos(e_i, e_j)) θ_j.
Evaluated is the server's weighted mean of weights times the mean of masks, pruned.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter
from torch.nn.functional import normalize

from spear_core.baselines.fedavg import FedAvg, Federation, Message
from spear_core.baselines.fit import Term, fit, narrows
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.local import Block
from spear_core.baselines.model import GCN, Layer, State, average
from spear_core.fields import setting
from spear_core.randomness import generator

COMMUNITIES, MEMBERS, CHANCE = 5, 100, 0.1  # of the random graph


@dataclass(frozen=True)
class FedPubKnobs(Knobs):
    """What FedPub adds."""

    masks: bool = setting(True, "train a mask for every weight")
    sharpness: float = setting(10.0, "preference for similar clients", "τ", low=0.0, high=1e9)
    mask_penalty: float = setting(
        0.0, "L1 pull of the masks to zero, and where they are cut", "λ1", low=0.0, high=1e6
    )
    model_pull: float = setting(1e-3, "pull to the received model", "λ2", low=0.0, high=1e6)


class MaskedLayer(Layer):
    """A layer whose weight is multiplied by a mask that starts at 1."""

    def __init__(self, features: int, width: int) -> None:
        super().__init__(features, width)
        self.mask = Parameter(torch.ones_like(self.weight))

    def effective(self) -> Tensor:
        return self.weight * self.mask


class MaskedGCN(GCN):
    layer = MaskedLayer


class FedPub(FedAvg):
    """Without masks and penalties and with τ = 0 every client gets the plain mean of all."""

    knobs = FedPubKnobs

    def __init__(self, federation: Federation) -> None:
        self.network = MaskedGCN if federation.training.masks else GCN
        super().__init__(federation)
        self.personal: dict[int, State] = {}  # the weights each client is to receive
        self.own: dict[int, State] = {}  # the masks each client keeps
        self.proxy = proxy_graph(federation)

    def download(self, k: int) -> Message:
        return {"model": self.personal.get(k, _only(self.model, masks=False))}

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        client, t = self.clients[k], self.training
        model = message["model"] | self.own.get(k, _only(self.model, masks=True))
        if client.trains:
            model = fit(self.net, client, model, t, rng, self.term(k, message), not t.mask_penalty)
            self.own[k] = _only(model, masks=True)
        with torch.no_grad():
            acts = self.net.load(self.pruned(model)).hidden(self.proxy).mean(0)
        return {"model": model, "acts": acts, "weight": self.weight(k)}

    def term(self, k: int, message: Message) -> Term:
        received, t, first = message["model"], self.training, k not in self.own
        if narrows(t) and not t.mask_penalty:  # a penalty moves every mask
            received = self.clients[k].narrow(received)

        def penalty(net: GCN, h: Tensor) -> Tensor:
            parts: State = dict(net.named_parameters())
            size = [parts[name].abs().sum() for name in _only(parts, masks=True)]
            away = torch.cat([(parts[name] - p).flatten() for name, p in received.items()])
            loss = t.mask_penalty * torch.stack(size).sum() if size else h.new_zeros(())
            return loss if first else loss + t.model_pull * away.norm()

        return penalty

    def aggregate(self, uploads: list[Message], rng: np.random.Generator) -> None:
        self.model = self.mean(uploads)
        trained = torch.tensor([u["weight"] > 0 for u in uploads])
        if not bool(trained.any()):
            return
        acts = normalize(torch.stack([u["acts"] for u in uploads]).double().cpu(), dim=1)
        alike = self.training.sharpness * acts @ acts.t()
        share = alike.masked_fill(~trained, -torch.inf).softmax(1).tolist()  # (K, K)
        models = [_only(u["model"], masks=False) for u in uploads]
        done: dict[tuple[float, ...], State] = {}
        for k, row in enumerate(share):
            mean = done.setdefault(tuple(row), average(models, row) or self.model)
            self.personal[k] = mean

    def pruned(self, model: State) -> State:
        """The parameters with masks below λ1 at zero, as they count outside training."""
        low = self.training.mask_penalty
        return {
            name: p * (p.abs() >= low) if name.endswith("mask") else p for name, p in model.items()
        }

    def global_model(self) -> State:
        model = self.pruned(self.model)
        weights = _only(model, masks=False)
        for name, mask in _only(model, masks=True).items():
            weight = name.replace("mask", "weight")
            weights[weight] = weights[weight] * mask
        return weights

    def plain(self) -> GCN:
        t, f = self.training, self.federation
        return GCN(f.features, t.hidden, f.classes, t.dropout).to(f.device)

    def state(self) -> dict[str, Any]:
        return super().state() | {"personal": self.personal, "own": self.own}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.personal, self.own = state["personal"], state["own"]


def _only(state: State, masks: bool) -> State:
    return {name: p for name, p in state.items() if name.endswith("mask") == masks}


def proxy_graph(federation: Federation) -> Block:
    """Five random communities of 100 nodes with normal features, the same for everybody."""
    rng = generator(federation.seed, "proxy graph")
    n = COMMUNITIES * MEMBERS
    x = torch.as_tensor(
        rng.standard_normal((n, federation.features), dtype="float32"), device=federation.device
    )
    home = torch.arange(n, device=federation.device) // MEMBERS
    chance = torch.as_tensor(rng.random((n, n)) < CHANCE, device=federation.device)
    upper = (chance & (home[:, None] == home)).float().triu(1)
    a = upper + upper.t() + torch.eye(n, device=federation.device)
    scale = a.sum(1).rsqrt()
    operator = scale[:, None] * a * scale
    return Block(x, operator, operator)
