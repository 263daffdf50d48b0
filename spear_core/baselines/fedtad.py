"""FedTAD: FedAvg, then the server teaches the mean model on made-up graphs, class by class.

A client is believed in class c as far as its training nodes resemble their neighbours in features
and position: r_kc. On graphs from a generator the mean model learns the clients' logits weighted
by r_kc; the generator seeks rows that clients recognise and the mean model gets wrong.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from spear_core.baselines.fedavg import FedAvg, Federation, Message
from spear_core.baselines.generator import ConditionalGenerator, balanced_labels, knn_operator
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.local import Block, Local
from spear_core.baselines.model import State
from spear_core.fields import setting
from spear_core.wanted import still_wanted

NODES, NOISE, NEIGHBOURS = 100, 32, 5  # of a made-up graph
WALK = 5  # return probabilities of 1 to 5 steps describe a node's position


@dataclass(frozen=True)
class FedTADKnobs(Knobs):
    """What FedTAD adds."""

    distil_rounds: int = setting(5, "pseudo-graphs a round; 0 leaves the mean", low=0, high=10**4)
    student_steps: int = setting(5, "steps of the server's model on each", low=0, high=10**4)
    distil_rate: float = setting(1e-3, "of both Adams of the server", above=0.0, high=1e6)


class FedTAD(FedAvg):
    """With no distillation round the method is FedAvg."""

    knobs = FedTADKnobs

    def __init__(self, federation: Federation) -> None:
        super().__init__(federation)
        f = federation
        maker = ConditionalGenerator(NOISE, f.classes, f.features).start(f.seed, f.device)
        self.maker = maker
        self.maker_adam = torch.optim.Adam(maker.parameters(), lr=self.training.distil_rate)
        self.reliable: dict[int, Tensor] = {}  # r_k (C) of each client that has any

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        upload = super().local(k, message, rng)
        if k not in self.reliable and self.clients[k].trains:  # sent once
            upload["reliability"] = reliability(self.clients[k], self.federation.classes)
        return upload

    def aggregate(self, uploads: list[Message], rng: np.random.Generator) -> None:
        for k, upload in enumerate(uploads):
            if "reliability" in upload:
                self.reliable[k] = upload["reliability"]
        self.model = self.mean(uploads)
        if self.training.distil_rounds == 0 or not self.reliable:
            return
        held = sorted(self.reliable)
        trust = torch.stack([self.reliable[k] for k in held])  # (k, C)
        self.distil(Teachers([uploads[k]["model"] for k in held]), trust, rng)

    def distil(self, teachers: "Teachers", trust: Tensor, rng: np.random.Generator) -> None:
        """Some rounds of one generator step and a few steps of the mean model."""
        t, f = self.training, self.federation
        self.net.load(self.model)
        adam = torch.optim.Adam(self.net.parameters(), lr=t.distil_rate)
        label = balanced_labels(NODES, f.classes, f.device)
        size = torch.bincount(label, minlength=f.classes).clamp_min(1)
        share = (trust / size)[:, label]  # (k, n): r_kc over the rows of class c
        for _ in range(t.distil_rounds):
            still_wanted()
            z = torch.as_tensor(rng.standard_normal((NODES, NOISE), "float32"), device=f.device)
            x = self.maker(z, label)
            graph = Block(x, a := knn_operator(x, NEIGHBOURS), a)
            taught = teachers(x, a)  # (k, n, C)
            known = cross_entropy(taught.flatten(0, 1), label.repeat(len(trust)), reduction="none")
            gap = (self.net(graph)[1] - taught).abs().mean(2)
            apart = torch.cdist(z, z).square() / NOISE
            spread = _Spread.apply(x, apart / (f.features * NODES**2))
            loss = (share * (known.view_as(share) - gap)).sum() + (-spread).exp()
            self.maker_adam.zero_grad()
            loss.backward()
            self.maker_adam.step()
            fixed, taught = Block(x.detach(), a, a), taught.detach()
            for _ in range(t.student_steps):
                gap = (self.net(fixed)[1] - taught).abs().mean(2)
                adam.zero_grad()
                (share * gap).sum().backward()
                adam.step()
        self.model = self.net.state()

    def state(self) -> dict[str, Any]:
        return super().state() | {
            "reliable": self.reliable,
            "maker": self.maker.state_dict(),
            "maker_adam": self.maker_adam.state_dict(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.reliable = state["reliable"]
        self.maker.load_state_dict(state["maker"])
        self.maker_adam.load_state_dict(state["maker_adam"])


class _Spread(torch.autograd.Function):
    """Σ_ij w_ij |x_i - x_j|₁ of symmetric weights; torch's own took three times as long."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        slope = torch.empty_like(x)
        for i, row in enumerate(x):
            torch.mv((row - x).sign_().t(), weight[i], out=slope[i])
        ctx.slope = 2 * slope
        return 2 * (slope * x).sum()

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[no-untyped-def]
        return grad * ctx.slope, None


class Teachers:
    """The uploaded models, run on one graph together."""

    def __init__(self, states: list[State]) -> None:
        self.first = torch.cat([s["first.weight"] for s in states], dim=1)  # (F, k H)
        self.first_bias = torch.cat([s["first.bias"] for s in states])
        self.second = torch.stack([s["second.weight"] for s in states])  # (k, H, C)
        self.second_bias = torch.stack([s["second.bias"] for s in states])[:, None]

    def __call__(self, x: Tensor, operator: Tensor) -> Tensor:
        h = (operator @ (x @ self.first) + self.first_bias).relu()
        h = h.view(len(x), len(self.second), -1).transpose(0, 1)  # (k, n, H)
        return operator @ (h @ self.second) + self.second_bias


def reliability(client: Local, classes: int) -> Tensor:
    """r_kc: how alike a client's training nodes of each class are to their neighbours, sums to 1.

    φ_i = (1 + Σ_j cos(e_i, e_j)) / (neighbours + 1), e_i features and return probabilities.
    """
    train = client.train.cpu().numpy()
    around = client.links[train]
    needed = np.union1d(train, around.indices)
    e = sp.hstack([client.features[needed], sp.csr_matrix(returns(client.links, needed))]).tocsr()
    length = np.sqrt(e.multiply(e).sum(1).A1)
    e = sp.diags(1 / np.maximum(length, 1e-12)) @ e
    row, col = around.nonzero()
    mine, other = np.searchsorted(needed, train)[row], np.searchsorted(needed, col)
    alike = e[mine].multiply(e[other]).sum(1).A1
    near = np.bincount(row, minlength=len(train))
    phi = (1 + np.bincount(row, weights=alike, minlength=len(train))) / (near + 1)
    weight = torch.as_tensor(phi, dtype=torch.float32, device=client.label.device)
    total = weight @ one_hot(client.label, classes).float()
    return total / total.sum()


def returns(links: sp.csr_matrix, nodes: np.ndarray, block: int = 512) -> np.ndarray:
    """The chance that a random walk with self-loops is back after 1 to 5 steps, (n, 5)."""
    a = links + sp.identity(links.shape[0], format="csr")
    step = sp.diags(1 / a.sum(1).A1) @ a
    out = np.zeros((len(nodes), WALK))
    for first in range(0, len(nodes), block):
        still_wanted()
        some = nodes[first : first + block]
        here = np.zeros((links.shape[0], len(some)))
        here[some, np.arange(len(some))] = 1
        for s in range(WALK):
            here = step @ here
            out[first : first + block, s] = here[some, np.arange(len(some))]
    return out
