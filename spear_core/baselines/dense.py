"""DENSE: the server teaches a new model what the clients' models say together, on made-up graphs.

Every client trains its own GCN and sends it. In each epoch of the server a new generator and its
noise seek rows that the mean of the clients' logits names as asked and the student gets wrong; the
best batch joins a pool, and the student learns the mean logits on the whole pool.

Graphs force: rows are joined to their nearest, the network has no batch norm to match statistics
of, and the epochs, the batch and the pool are smaller than the reference's 200, 256 and all.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from spear_core.baselines.fedavg import Message
from spear_core.baselines.fedtad import Teachers
from spear_core.baselines.generator import MOST, ConditionalGenerator, knn_operator
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.local import Block
from spear_core.baselines.oneshot import OneShot, descend, divergence, normal
from spear_core.fields import setting
from spear_core.wanted import still_wanted

NOISE, MAKER_RATE, BETAS = 256, 1e-3, (0.5, 0.999)
RATES = {"adam": 0.01, "sgd": 0.005}


@dataclass(frozen=True)
class DENSEKnobs(Knobs):
    """What DENSE adds."""

    dense_epochs: int = setting(50, "epochs of the server (reference: 200)", low=1, high=10**4)
    dense_steps: int = setting(20, "steps of each generator", low=1, high=10**4)
    dense_nodes: int = setting(200, "nodes of a batch (reference: 256)", low=2, high=MOST)
    dense_pool: int = setting(20, "latest batches kept (reference: all)", low=1, high=10**4)
    dense_adversary: float = setting(
        1.0, "reward for rows the student gets wrong", "λ", low=0.0, high=1e6
    )
    dense_temperature: float = setting(20.0, "of both softmaxes", "T", above=0.0, high=1e4)
    dense_neighbours: int = setting(5, "links of a made-up row; 0 for none", low=0, high=100)
    dense_labelled: bool = setting(False, "whether the generator sees the label it is to hit")
    dense_student: str = setting(
        "adam",
        "who teaches the student: adam (rate 0.01), sgd (0.005 with momentum, the reference's)",
        choices=("adam", "sgd"),
    )


class DENSE(OneShot):
    """A client without a training node is not among the teachers."""

    knobs = DENSEKnobs

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        return super().local(k, {"model": self.model}, rng)

    def begin(self, uploads: list[Message], rng: np.random.Generator) -> None:
        t, sent = self.training, [u for u in uploads if u["weight"] > 0]
        self.steps = t.dense_epochs if sent else 0
        if not sent:
            return
        weight = torch.tensor([float(u["weight"]) for u in sent], device=self.federation.device)
        self.share = (weight / weight.sum())[:, None, None]
        self.teachers = Teachers([u["model"] for u in sent])
        net = self.student(RATES["adam"])
        if t.dense_student == "sgd":
            self.parts["adam"] = torch.optim.SGD(net.parameters(), lr=RATES["sgd"], momentum=0.9)
        self.memory = {"rows": [], "taught": []}

    def together(self, x: Tensor, operator: Tensor) -> Tensor:
        """The clients' logits, their mean by weight, (n, C)."""
        return (self.share * self.teachers(x, operator)).sum(0)

    def step(self, number: int, rng: np.random.Generator) -> None:
        t, net, pool = self.training, self.parts["student"], self.memory
        x = self.batch(rng)
        pool["rows"].append(x)
        pool["taught"].append(self.together(x, knn_operator(x, t.dense_neighbours)))
        pool = self.memory = {name: kept[-t.dense_pool :] for name, kept in pool.items()}
        for x, taught in zip(pool["rows"], pool["taught"], strict=True):
            still_wanted()
            a = knn_operator(x, t.dense_neighbours)
            said = net(Block(x, a, a))[1]
            descend(self.parts["adam"], divergence(taught, said, t.dense_temperature))

    def batch(self, rng: np.random.Generator) -> Tensor:
        """The best rows that a new generator made, (n, F)."""
        t, f, net = self.training, self.federation, self.parts["student"]
        n = t.dense_nodes
        maker = ConditionalGenerator(NOISE, f.classes, f.features).to(f.device)
        for p in maker.parameters():
            p.data = 0.02 * normal(rng, *p.shape, device=f.device) * (p.dim() > 1)
        z = normal(rng, n, NOISE, device=f.device).requires_grad_()
        label = torch.as_tensor(rng.integers(f.classes, size=n), device=f.device)
        seen = label if t.dense_labelled else torch.zeros_like(label)  # one class says nothing
        adam = torch.optim.Adam([*maker.parameters(), z], lr=MAKER_RATE, betas=BETAS)
        best, least = maker(z, seen).detach(), torch.inf
        for _ in range(t.dense_steps):
            still_wanted()
            x = maker(z, seen)
            a = knn_operator(x, t.dense_neighbours)
            taught, said = self.together(x, a), net(Block(x, a, a))[1]
            wrong = taught.argmax(1) != said.argmax(1)
            gap = taught.softmax(1) * (taught.log_softmax(1) - said.log_softmax(1))
            loss = cross_entropy(taught, label)
            loss = loss - t.dense_adversary * (gap.sum(1) * wrong).mean()
            if float(loss.detach()) < least:
                best, least = x.detach(), float(loss.detach())
            descend(adam, loss)
        return best
