"""The network that every trained method shares: a GCN of two layers."""

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module, Parameter

from spear_core.baselines.local import Block, Matrix
from spear_core.randomness import generator

State = dict[str, Tensor]  # the parameters of a network by name


class Layer(Module):
    """Â (X W) + b, the layer of PyG's GCNConv, for an Â made once and an X that may be sparse.

    W lies as (F, H), the way a product with sparse rows reads it. PyG's own layer took about
    twice the time in a run of FedAvg on Cora (benchmarks/baseline.py).
    """

    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        self.bias = Parameter(torch.zeros(width))
        self.weight = Parameter(torch.zeros(features, width))

    def forward(self, x: Matrix, operator: Matrix) -> Tensor:
        return operator @ (x @ self.effective()) + self.bias

    def effective(self) -> Tensor:
        """The weight as it acts, (F, H)."""
        return self.weight


class GCN(Module):
    """Two layers with ReLU and dropout between; all parameters are zero until `start` or `load`."""

    layer: type[Layer] = Layer

    def __init__(self, features: int, hidden: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.first = self.layer(features, hidden)
        self.second = self.layer(hidden, classes)
        self.dropout = dropout

    def hidden(self, block: Block) -> Tensor:
        """The representation of every node after the first layer, (n, H)."""
        return self.first(block.x, block.near).relu()

    def forward(
        self, block: Block, rng: np.random.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Hidden rows before dropout and logits; without a generator nothing is dropped."""
        h = self.hidden(block)
        kept = h
        if rng is not None and self.dropout > 0:
            share = 1 - self.dropout
            stay = rng.random(tuple(h.shape), dtype="float32") < share
            kept = h * (torch.as_tensor(stay, device=h.device) / share)
        return h, self.second(kept, block.far)

    def state(self) -> State:
        """A copy of the parameters."""
        return {name: p.detach().clone() for name, p in self.named_parameters()}

    def load(self, state: State) -> "GCN":
        """Itself with other parameters."""
        with torch.no_grad():
            for name, p in self.named_parameters():
                p.copy_(state[name])
        return self


SHARED_START = "first weights of the trained methods"


def start(net: GCN, seed: int, device: torch.device, stage: str = SHARED_START) -> State:
    """Glorot's first weights and zero biases, moved into the network; equal for every method."""
    rng = generator(seed, stage)
    net.to(device)
    for layer in (net.first, net.second):
        limit = math.sqrt(6 / sum(layer.weight.shape))
        values = rng.uniform(-limit, limit, tuple(layer.weight.shape)).astype("float32")
        layer.weight.data = torch.as_tensor(values, device=device)
        layer.bias.data.zero_()
    return net.state()


def average(states: list[State], weights: list[float]) -> State | None:
    """Σ w_k θ_k / Σ w_k over the clients that weigh anything; nothing where none does."""
    total = sum(weights)
    held = [(s, w / total) for s, w in zip(states, weights, strict=True) if w > 0]
    if not held:
        return None
    mean = {name: p * held[0][1] for name, p in held[0][0].items()}
    for state, share in held[1:]:
        for name, p in state.items():
            mean[name].add_(p, alpha=share)
    return mean
