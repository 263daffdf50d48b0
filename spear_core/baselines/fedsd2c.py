"""FedSD2C: clients send a few distilled rows with soft labels, the server trains a GCN on them.

A client trains its own GCN, keeps of each class the training nodes that it is surest of (the core
set), and moves a blurred copy of their rows until its GCN sees in them what it sees in the nodes
where they are. The server trains the model on all of them to the clients' soft labels.

Graphs force: there is no pretrained autoencoder, so rows are moved themselves, joined to their
nearest; a class with fewer nodes than the core set holds is kept, where the original skips it and
would send nothing of twenty labels a class; and soft labels travel in place of the model.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

from spear_core.baselines.fedavg import Message
from spear_core.baselines.fit import fit
from spear_core.baselines.generator import knn_operator
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.local import Block, Local
from spear_core.baselines.oneshot import OneShot, descend, divergence, normal
from spear_core.fields import setting
from spear_core.wanted import still_wanted

MIX = 0.8  # of a row in its blurred copy
BETAS = (0.5, 0.9)  # of the clients' AdamW


@dataclass(frozen=True)
class FedSD2CKnobs(Knobs):
    """What FedSD2C adds."""

    sd2c_core: int = setting(10, "nodes kept of a class (original: 50)", low=1, high=10**5)
    sd2c_skip: bool = setting(False, "whether a class with no more nodes is left out (original)")
    sd2c_moves: int = setting(100, "steps of the distilled rows", low=0, high=10**5)
    sd2c_rate: float = setting(0.01, "of their AdamW (original: 0.1)", above=0.0, high=1e3)
    sd2c_guide: float = setting(0.0, "weight of the label in their loss", low=0.0, high=1e6)
    sd2c_neighbours: int = setting(3, "links of a distilled row; 0 for none", low=0, high=100)
    sd2c_steps: int = setting(200, "steps of the model (original: 100 epochs)", low=1, high=10**5)


class FedSD2C(OneShot):
    """Clients without a training node, or without a class to send, send nothing."""

    knobs = FedSD2CKnobs

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        client, t = self.clients[k], self.training
        if not client.trains:
            return {}
        self.net.load(fit(self.net, client, self.model, t, rng))
        with torch.no_grad():
            seen, logits = self.net(client.reach)
            surprise = cross_entropy(logits, client.label, reduction="none")
        core, partner = core_set(client.label, surprise, t.sd2c_core, t.sd2c_skip)
        if not len(core):
            return {}
        x = self.moved(client, core, partner, seen[client.rows][core], rng)
        with torch.no_grad():
            soft = self.net(self.block(x))[1].softmax(1)
        return {"rows": x, "labels": client.label[core].int(), "soft": soft}

    def moved(
        self, client: Local, core: Tensor, partner: Tensor, goal: Tensor, rng: np.random.Generator
    ) -> Tensor:
        """The distilled rows, (m, F): they start blurred by a partner of the class, or by noise."""
        t, real = self.training, client.training_rows
        own, label = real[core], client.label[core]
        noise = normal(rng, *own.shape, device=own.device) / own.shape[1] ** 0.5  # of unit length
        other = torch.where((partner >= 0)[:, None], real[partner.clamp_min(0)], noise)
        x = (MIX * own + (1 - MIX) * other).requires_grad_()
        adam = torch.optim.AdamW([x], lr=t.sd2c_rate, betas=BETAS)
        slower = torch.optim.lr_scheduler.CosineAnnealingLR(adam, max(t.sd2c_moves, 1))
        for _ in range(t.sd2c_moves):
            still_wanted()
            hidden, logits = self.net(self.block(x))
            loss = mse_loss(hidden, goal) + t.sd2c_guide * cross_entropy(logits, label)
            (x.grad,) = torch.autograd.grad(loss, x)
            adam.step()
            slower.step()
        return x.detach()

    def block(self, x: Tensor) -> Block:
        """Distilled rows of one client as a graph."""
        a = knn_operator(x, self.training.sd2c_neighbours)
        return Block(x, a, a)

    def begin(self, uploads: list[Message], rng: np.random.Generator) -> None:
        t, sent = self.training, [u for u in uploads if u]
        self.steps = t.sd2c_steps if sent else 0
        if not sent:
            return
        self.student(t.learning_rate, t.weight_decay, t.dropout)
        x = torch.cat([u["rows"] for u in sent])
        a = torch.block_diag(*(self.block(u["rows"]).near for u in sent))
        self.union = Block(x, a, a)
        self.goal = torch.cat([u["soft"] for u in sent]).clamp_min(1e-12).log()

    def step(self, number: int, rng: np.random.Generator) -> None:
        parts: dict[str, Any] = self.parts
        said = parts["student"](self.union, rng)[1]
        descend(parts["adam"], divergence(self.goal, said))


def core_set(label: Tensor, surprise: Tensor, most: int, skip: bool) -> tuple[Tensor, Tensor]:
    """Of each class the rows of least surprise, and for each a partner among the others or -1.

    Partners are the others of most surprise.
    """
    core, partner = [], []
    for c in label.unique().tolist():
        rows = (label == c).nonzero().squeeze(1)
        rows = rows[surprise[rows].argsort(stable=True)]
        if skip and len(rows) <= most:
            continue
        kept, rest = rows[:most], rows[most:].flip(0)
        core.append(kept)
        turn = torch.arange(len(kept), device=label.device)
        none = torch.full_like(kept, -1)
        partner.append(rest[turn % len(rest)] if len(rest) else none)
    if not core:
        return label.new_zeros(0), label.new_zeros(0)
    return torch.cat(core), torch.cat(partner)
