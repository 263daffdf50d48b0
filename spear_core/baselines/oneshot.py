"""`OneShot`: one upload of every client, then a long phase of the server.

It is the base of the one-shot rivals, each of which says what a client sends (`local`), what the
server makes of it at once (`begin`) and what one of its steps is. The loop is that of all trained
methods; it looks at the model between the server's steps.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import kl_div

from spear_core.baselines.fedavg import FedAvg, Federation, Message
from spear_core.baselines.model import GCN, State, start
from spear_core.randomness import generator


class OneShot(FedAvg):
    """Nothing goes down: all start from the shared seed."""

    one_shot = True
    steps: int  # of the server, known after `begin`

    def __init__(self, federation: Federation) -> None:
        super().__init__(federation)
        self.parts: dict[str, Any] = {}  # networks and optimisers of the server, by name
        self.memory: dict[str, Any] = {}  # tensors that its next step needs besides

    def download(self, k: int) -> Message:
        return {}

    def begin(self, uploads: list[Message], rng: np.random.Generator) -> None:
        """What the server makes of the uploads before its first step."""
        raise NotImplementedError

    def step(self, number: int, rng: np.random.Generator) -> None:
        """One step of the server, from 1; its random numbers depend on the step alone."""
        raise NotImplementedError

    def aggregate(self, uploads: list[Message], rng: np.random.Generator) -> None:
        """The whole phase of the server at once."""
        self.begin(uploads, rng)
        for number in range(1, self.steps + 1):
            self.step(number, generator(self.federation.seed, f"step {number} of the server"))

    def student(self, rate: float, decay: float = 0.0, dropout: float = 0.0) -> GCN:
        """A network with first weights of its own, and its Adam, among the parts."""
        f = self.federation
        net = GCN(f.features, self.training.hidden, f.classes, dropout)
        self.model = start(net, f.seed, f.device, "first weights of the server's model")
        self.parts["student"] = net
        self.parts["adam"] = torch.optim.Adam(net.parameters(), lr=rate, weight_decay=decay)
        return net

    def global_model(self) -> State:
        net: GCN | None = self.parts.get("student")
        return self.model if net is None else net.state()

    def state(self) -> dict[str, Any]:
        parts = {name: part.state_dict() for name, part in self.parts.items()}
        return {"parts": parts, "memory": self.memory}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a saved state, after `begin`."""
        for name, part in self.parts.items():
            part.load_state_dict(state["parts"][name])
        self.memory = state["memory"]


def descend(optimiser: torch.optim.Optimizer, loss: Tensor) -> None:
    """One step down a loss."""
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def divergence(teacher: Tensor, student: Tensor, temperature: float = 1.0) -> Tensor:
    """T² KL(softmax(teacher / T) ‖ softmax(student / T)), a mean over rows, of logits (n, C)."""
    goal = (teacher / temperature).log_softmax(1)
    mine = (student / temperature).log_softmax(1)
    return temperature**2 * kl_div(mine, goal, reduction="batchmean", log_target=True)


def normal(rng: np.random.Generator, *shape: int, device: torch.device) -> Tensor:
    """Standard normal numbers."""
    return torch.as_tensor(rng.standard_normal(shape, "float32"), device=device)
