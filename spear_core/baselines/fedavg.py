"""FedAvg: every client trains the received model, the server takes the weighted mean.

It is also the base of the other methods, each of which changes one or two of these steps.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from spear_core.baselines.fit import Term, fit
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.local import Block, Local
from spear_core.baselines.model import GCN, State, average, start

if TYPE_CHECKING:
    from spear_core.baselines.training import Training

Message = dict[str, Any]  # tensors, numbers, and dicts and lists of them


@dataclass(frozen=True, eq=False)
class Federation:
    """Who takes part, and on what terms."""

    clients: list[Local]
    features: int  # F
    classes: int  # C
    training: "Training"
    seed: int
    device: torch.device


class FedAvg:
    """download → local → aggregate in every round, predict at any time."""

    one_shot: bool = False  # whether there is a single round, with a long phase of the server
    knobs: type[Knobs] = Knobs
    weightings: tuple[str, ...] = ("train", "nodes", "uniform")
    network: type[GCN] = GCN
    narrow: bool = True  # whether its term does without the weights of absent features

    def __init__(self, federation: Federation) -> None:
        self.federation = federation
        self.clients, self.training = federation.clients, federation.training
        self.net = self.network(
            federation.features, self.training.hidden, federation.classes, self.training.dropout
        )
        self.model: State = start(self.net, federation.seed, federation.device)

    def download(self, k: int) -> Message:
        """What client k receives in this round."""
        return {"model": self.model}

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        """The client's work; what it returns is what it sends.

        A client without a training node takes no step and weighs nothing.
        """
        client, model = self.clients[k], message["model"]
        if client.trains:
            term = self.term(k, message)
            model = fit(self.net, client, model, self.training, rng, term, self.narrow)
        return {"model": model, "weight": self.weight(k)}

    def term(self, k: int, message: Message) -> Term | None:
        """What the method adds to the client's loss."""
        return None

    def weight(self, k: int) -> int:
        """What client k weighs in the mean."""
        client = self.clients[k]
        counts = {"train": len(client.train), "nodes": client.nodes, "uniform": 1}
        return counts[self.training.weighting] if client.trains else 0

    def aggregate(self, uploads: list[Message], rng: np.random.Generator) -> None:
        """The server's work."""
        self.model = self.mean(uploads)

    def mean(self, uploads: list[Message]) -> State:
        """The weighted mean of the uploaded models; the old one where nobody trained."""
        models, weights = [u["model"] for u in uploads], [u["weight"] for u in uploads]
        return average(models, weights) or self.model

    def report(self, k: int) -> Message:
        """What client k would send once, after the last round, only to be evaluated."""
        return {}

    def global_model(self) -> State:
        """The one model that is evaluated, as parameters of a plain GCN."""
        return self.model

    @torch.no_grad()
    def predict(self, graph: Block) -> Tensor:
        """Logits of every node of a graph, (N, C)."""
        return self.plain().load(self.global_model())(graph)[1]

    def plain(self) -> GCN:
        """A GCN to load a global model into."""
        return self.net

    def state(self) -> dict[str, Any]:
        """Everything that the next round needs, server's and clients'."""
        return {"model": self.model}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.model = state["model"]
