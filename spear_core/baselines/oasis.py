"""OASIS (our reconstruction): GHOST's generators, and the clients' GCNs as teachers with codes.

Its code is not public and its formulas were read from its text; which norms the codebook's terms
have, and the form of WESAD's costs, are ours. A client fits a generator as GHOST's does, and a GCN
together with a codebook: of the M codes the nearest stands for a hidden row. The server trains one
GCN on made-up graphs of all clients by their labels, and makes it like each client's GCN in two
ways. WESAD: the cost of moving the student's class probabilities to the teacher's, where classes
are near whose weights are. WDSRD: how far apart two normal distributions are, those of the
affinities of the teacher's and of the student's hidden rows to the codes.

The paper's bytes leave room for one more matrix of 256 F numbers that its text does not name.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import Linear
from torch.nn.functional import cross_entropy, normalize

from spear_core.baselines.fedavg import Message
from spear_core.baselines.generator import MOST, begun, dropped
from spear_core.baselines.ghost import MadeGraphs, packed
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.local import Local
from spear_core.baselines.model import GCN, State
from spear_core.baselines.oneshot import OneShot, descend
from spear_core.baselines.synthesizer import NEIGHBOURS, Terms, fitted
from spear_core.fields import setting
from spear_core.wanted import still_wanted

SERVER_RATE, SERVER_DECAY = 0.01, 4e-4
TEMPERATURE = 3.0  # τ of WESAD's softmaxes
BLUR, ROUNDS = 0.05, 20  # of Sinkhorn
TINY = 1e-20  # below the eigenvalues of covariances, in float64


@dataclass(frozen=True)
class OASISKnobs(Knobs):
    """What OASIS adds."""

    oasis_spread: float = setting(0.05, "weight of the clients' KL term", "λ_d", low=0.0, high=1e6)
    oasis_fused: float = setting(
        0.1, "weight of fused Gromov–Wasserstein; 0 leaves it out", "λ_f", low=0.0, high=1e6
    )
    oasis_teacher: int = setting(50, "epochs of a client's GCN and codes", low=1, high=10**5)
    oasis_codes: int = setting(64, "codes of a client", "M", low=1, high=10**4)
    oasis_commit: float = setting(
        0.25, "pull of hidden rows to their codes", "η", low=0.0, high=1e6
    )
    oasis_apart: float = setting(0.01, "how far codes are kept apart", "λ_o", low=0.0, high=1e6)
    oasis_rebuild: float = setting(1.0, "weight of rows and edges", "λ_c", low=0.0, high=1e6)
    oasis_labels: str = setting(
        "held",
        "classes of a client's made-up graphs: held (those it has), all (the original)",
        choices=("held", "all"),
    )
    oasis_nodes: int = setting(MOST, "most nodes of a made-up graph", low=1, high=MOST)
    oasis_epochs: int = setting(20, "epochs of the server over all clients", low=1, high=10**5)
    oasis_wesad: float = setting(0.01, "weight of WESAD", "λ_k", low=0.0, high=1e6)
    oasis_wdsrd: float = setting(1.0, "weight of WDSRD", "λ_s", low=0.0, high=1e6)


class OASIS(OneShot):
    """A client without a training row sends nothing."""

    knobs = OASISKnobs

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        client, t = self.clients[k], self.training
        if not client.trains:
            return {}
        terms = Terms(t.oasis_spread, t.oasis_fused, t.epochs, t.learning_rate, t.weight_decay)
        maker = fitted(self.federation, client, terms, rng)
        model, codes = self.teacher(client, rng)
        held = client.label.unique().int() if t.oasis_labels == "held" else None
        return packed(maker, client.nodes, held) | {"model": model, "codes": codes}

    def teacher(self, client: Local, rng: np.random.Generator) -> tuple[State, Tensor]:
        """A client's GCN and its codes (M, H), fitted together."""
        t, f, net = self.training, self.federation, self.net.load(self.model)
        real, rows = client.training_rows, client.rows
        inside = client.train.cpu().numpy()
        links = torch.as_tensor(
            client.links[inside][:, inside].toarray(), dtype=torch.float32, device=f.device
        )
        with torch.no_grad():
            seen = net.hidden(client.reach)
            first = seen[torch.as_tensor(rng.integers(len(seen), size=t.oasis_codes))]
            codes = first + 0.01 * seen.std() * torch.as_tensor(
                rng.standard_normal(tuple(first.shape), "float32"), device=f.device
            )
        codes.requires_grad_()
        with torch.random.fork_rng(devices=[]):
            back, pairs = Linear(t.hidden, f.features), Linear(t.hidden, t.hidden)
        begun(back, rng, f.device)
        begun(pairs, rng, f.device)
        learnt = [*net.parameters(), codes, *back.parameters(), *pairs.parameters()]
        adam = torch.optim.Adam(learnt, lr=t.learning_rate, weight_decay=t.weight_decay)
        for _ in range(t.oasis_teacher):
            still_wanted()
            h = net.hidden(client.reach)
            code = codes[torch.cdist(h.detach(), codes.detach()).argmin(1)]
            stands = h + (code - h).detach()  # the code, with the gradient of the row
            said = net.second(dropped(stands, t.dropout, rng), client.reach.far)
            unit = normalize(codes, dim=1)
            loss = cross_entropy(said, client.label)
            loss = loss + (h.detach() - code).square().mean()
            loss = loss + t.oasis_commit * (h - code.detach()).square().mean()
            eye = torch.eye(len(codes), device=f.device)
            loss = loss + t.oasis_apart * (unit @ unit.t() - eye).square().mean()
            mine = stands[rows]
            linked = pairs(mine) @ pairs(mine).t()
            rebuilt = (back(mine) - real).square().mean()
            rebuilt = rebuilt + (links - linked.sigmoid()).square().mean()
            descend(adam, loss + t.oasis_rebuild * rebuilt)
        return net.state(), codes.detach()

    def begin(self, uploads: list[Message], rng: np.random.Generator) -> None:
        t, f, sent = self.training, self.federation, [u for u in uploads if u]
        self.steps = t.oasis_epochs if sent else 0
        if not sent:
            return
        self.makers = [MadeGraphs(f, u) for u in sent]
        sizes = (f.features, t.hidden, f.classes, 0.0)
        self.teachers = [GCN(*sizes).to(f.device).load(u["model"]) for u in sent]
        self.codes = [u["codes"] for u in sent]
        self.student(SERVER_RATE, SERVER_DECAY, t.dropout)

    def step(self, number: int, rng: np.random.Generator) -> None:
        """One made-up graph of every client, in random order."""
        t, net = self.training, self.parts["student"]
        for i in rng.permutation(len(self.makers)):
            still_wanted()
            graph, label = self.makers[i].drawn(t.oasis_nodes, NEIGHBOURS, rng)
            with torch.no_grad():
                theirs, taught = self.teachers[i](graph)
            mine, said = net(graph, rng)
            loss = cross_entropy(said, label)
            if t.oasis_wesad:
                costs = class_costs(self.teachers[i].second.effective().detach())
                loss = loss + t.oasis_wesad * moving(taught, said, costs)
            if t.oasis_wdsrd:
                codes = self.codes[i]
                loss = loss + t.oasis_wdsrd * apart(affinity(theirs, codes), affinity(mine, codes))
            descend(self.parts["adam"], loss)


def class_costs(weight: Tensor) -> Tensor:
    """1 - exp(cos - 1) between the classes' columns of a last weight (H, C): (C, C)."""
    unit = normalize(weight, dim=0)
    return 1 - (unit.t() @ unit - 1).exp()


def moving(teacher: Tensor, student: Tensor, costs: Tensor) -> Tensor:
    """WESAD: what moving class probabilities costs, a mean over rows, by Sinkhorn in logarithms."""
    p, q = ((some / TEMPERATURE).log_softmax(1) for some in (teacher, student))
    kernel = -costs / BLUR  # (C, C)
    u, v = torch.zeros_like(p), torch.zeros_like(q)
    for _ in range(ROUNDS):
        u = p - (kernel + v[:, None, :]).logsumexp(2)
        v = q - (kernel + u[:, :, None]).logsumexp(1)
    plan = (u[:, :, None] + kernel + v[:, None, :]).exp()
    return (plan * costs).sum((1, 2)).mean()


def affinity(h: Tensor, codes: Tensor) -> Tensor:
    """How near each hidden row is to each code, (n, M), rows sum to 1."""
    return (-torch.cdist(h, codes)).softmax(1)


def apart(one: Tensor, other: Tensor) -> Tensor:
    """WDSRD: the squared Wasserstein distance of the normals fitted to two sets of rows.

    ‖μ₁ - μ₂‖² + tr(Σ₁ + Σ₂ - 2 (Σ₁^½ Σ₂ Σ₁^½)^½); the gradient goes to the second alone.
    """
    (mean, cover), (mean2, cover2) = _normal(one.detach()), _normal(other)
    value, vector = torch.linalg.eigh(cover)
    root = (vector * value.clamp_min(0).sqrt()) @ vector.t()
    inner = torch.linalg.eigvalsh(root @ cover2 @ root).clamp_min(TINY).sqrt().sum()
    distance = (mean - mean2).square().sum() + cover.trace() + cover2.trace() - 2 * inner
    return distance.to(other.dtype)


def _normal(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (M) and covariance (M, M), in float64."""
    rows = rows.double()
    mean = rows.mean(0)
    return mean, (rows - mean).t() @ (rows - mean) / len(rows)
