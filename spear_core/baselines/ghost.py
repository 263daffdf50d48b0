"""GHOST: clients send generators of their rows, the server trains one GCN on made-up graphs.

No client trains a GCN. The server goes through the clients in random order and trains on some
made-up graphs of each; what keeps it from forgetting the ones before is how strongly the edges of
their graphs hang on each weight: Ω = ∂/∂θ Σ e_ij², e_ij = (h_i W)ᵀ tanh(h_j W) over edges, W the
second layer's weight. The loss adds λ_r Σ_t Σ |Ω_t| (θ - θ_t)² over the graphs before.

Other than the reference: it reads training rows alone, where that code conditions its generator on
the labels of test nodes; it compares real edges with made-up ones, where an integer division in
that code leaves the identity; Ω is taken alone, without what is left of the last gradient; and its
λ_n ‖Ω‖ is left out, for it has no gradient. Which weight W is, is our reading.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from spear_core.baselines.fedavg import Federation, Message
from spear_core.baselines.generator import MOST, ConditionalGenerator, balanced_labels, made_graph
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.local import Block, Sparse
from spear_core.baselines.model import GCN
from spear_core.baselines.oneshot import OneShot, descend, normal
from spear_core.baselines.synthesizer import NEIGHBOURS, NOISE, Terms, fitted, new_maker
from spear_core.fields import setting

SERVER_RATE, SERVER_DECAY = 0.01, 4e-4


@dataclass(frozen=True)
class GHOSTKnobs(Knobs):
    """What GHOST adds."""

    ghost_spread: float = setting(0.05, "weight of the clients' KL term", "λ_d", low=0.0, high=1e6)
    ghost_fused: float = setting(
        0.1, "weight of fused Gromov–Wasserstein; 0 leaves it out", "λ_f", low=0.0, high=1e6
    )
    ghost_labels: str = setting(
        "held",
        "classes of a client's made-up graphs: held (those it has), all (the original: it has to "
        "make up classes it never saw)",
        choices=("held", "all"),
    )
    ghost_edges: bool = setting(True, "whether made-up rows are joined to their nearest")
    ghost_nodes: int = setting(
        MOST,
        "most nodes of a made-up graph (original: as many as the client has)",
        low=1,
        high=MOST,
    )
    ghost_graphs: int = setting(3, "made-up graphs of a client", "M", low=1, high=10**4)
    ghost_steps: int = setting(5, "steps of the model on each", "T_G", low=1, high=10**4)
    ghost_memory: float = setting(
        1e-11, "how hard weights are held that edges hang on", "λ_r", low=0.0, high=1e12
    )


class GHOST(OneShot):
    """A client without a training row has no generator and sends nothing."""

    knobs = GHOSTKnobs

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        client, t = self.clients[k], self.training
        if not client.trains:
            return {}
        terms = Terms(t.ghost_spread, t.ghost_fused, t.epochs, t.learning_rate, t.weight_decay)
        maker = fitted(self.federation, client, terms, rng)
        held = client.label.unique().int() if t.ghost_labels == "held" else None
        return packed(maker, client.nodes, held)

    def begin(self, uploads: list[Message], rng: np.random.Generator) -> None:
        t = self.training
        self.makers = [MadeGraphs(self.federation, u) for u in uploads if u]
        self.order = rng.permutation(len(self.makers))
        self.steps = len(self.makers) * t.ghost_graphs
        if self.steps:
            net = self.student(SERVER_RATE, SERVER_DECAY, t.dropout)
            zeros = {name: torch.zeros_like(p) for name, p in net.named_parameters()}
            self.memory = {name: dict(zeros) for name in ("weight", "place")}

    def step(self, number: int, rng: np.random.Generator) -> None:
        """One made-up graph: what its edges hang on, then some steps of the model."""
        t, net = self.training, self.parts["student"]
        maker = self.makers[self.order[(number - 1) // t.ghost_graphs]]
        graph, label = maker.drawn(t.ghost_nodes, NEIGHBOURS if t.ghost_edges else 0, rng)
        hold = criterion(net, graph)
        for _ in range(t.ghost_steps):
            loss = cross_entropy(net(graph, rng)[1], label)
            descend(self.parts["adam"], loss + t.ghost_memory * self.forgetting(net))
        weight, place = self.memory["weight"], self.memory["place"]
        for name, p in net.named_parameters():
            weight[name] = weight[name] + hold[name]
            place[name] = place[name] + hold[name] * p.detach()

    def forgetting(self, net: GCN) -> Tensor:
        """Σ_t Σ |Ω_t| (θ - θ_t)² up to a constant, from two running sums."""
        weight, place = self.memory["weight"], self.memory["place"]
        pull = [
            (weight[name] * p.square() - 2 * place[name] * p).sum()
            for name, p in net.named_parameters()
        ]
        return torch.stack(pull).sum()


def packed(maker: ConditionalGenerator, nodes: int, held: Tensor | None) -> Message:
    """A generator with the number of its client's nodes, and its classes where they are asked."""
    sent = {name: p.detach().clone() for name, p in maker.named_parameters()}
    return {"maker": sent, "nodes": nodes} | ({} if held is None else {"held": held})


class MadeGraphs:
    """The made-up graphs of one client, from its upload."""

    def __init__(self, f: Federation, upload: Message) -> None:
        self.maker, self.device = new_maker(f), f.device
        self.maker.load_state_dict(upload["maker"])
        every = torch.arange(f.classes, device=f.device)
        self.held = upload.get("held", every).long()
        self.nodes: int = upload["nodes"]

    @torch.no_grad()
    def drawn(self, most: int, neighbours: int, rng: np.random.Generator) -> tuple[Block, Tensor]:
        """A new graph with as many nodes of every class, and its labels."""
        n = max(min(self.nodes, most), len(self.held))
        label = self.held[balanced_labels(n, len(self.held), self.device)]
        x = self.maker(normal(rng, n, NOISE, device=self.device), label)
        return made_graph(x, neighbours), label


def criterion(net: GCN, graph: Block) -> dict[str, Tensor]:
    """|Ω| by parameter: how the squared strengths of all edges hang on it; 0 without edges."""
    assert isinstance(graph.near, Sparse)
    coo = graph.near.m.to_sparse_coo()
    source, target = coo.indices()
    apart = source != target
    z = net.hidden(graph) @ net.second.effective()
    strength = (z[source[apart]] * z[target[apart]].tanh()).sum(1)
    total = strength.square().sum()
    parameters = dict(net.named_parameters())
    found = torch.autograd.grad(total, list(parameters.values()), allow_unused=True)
    return {
        name: torch.zeros_like(p) if g is None else g.abs()
        for (name, p), g in zip(parameters.items(), found, strict=True)
    }
