"""Made-up graphs for the server: features from noise and a class, edges between the most alike."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import Dropout, Embedding, Linear, Module, Sequential, Tanh
from torch.nn.functional import normalize

from spear_core.baselines.local import Block, Sparse
from spear_core.randomness import generator

WIDTHS = (64, 128, 256)
MOST = 2000  # nodes of a made-up graph: all pairs are compared


class ConditionalGenerator(Module):
    """Noise z (n, Z) and classes y (n) to features (n, F)."""

    def __init__(self, noise: int, classes: int, features: int, dropout: float = 0.0) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):  # torch's own first values, thrown away by `start`
            self.classes = Embedding(classes, classes)
            parts: list[Module] = []
            width = noise + classes
            for wider in WIDTHS:
                parts += [Linear(width, wider), Tanh(), Dropout(dropout)]
                width = wider
            self.layers = Sequential(*parts, Linear(width, features))

    def forward(self, z: Tensor, y: Tensor, rng: np.random.Generator | None = None) -> Tensor:
        """Without a generator of random numbers nothing is dropped."""
        h = torch.cat([z, self.classes(y)], dim=1)
        for layer in self.layers:
            h = layer(h) if not isinstance(layer, Dropout) else dropped(h, layer.p, rng)
        return h

    def start(self, seed: int, device: torch.device) -> "ConditionalGenerator":
        """Itself with first values drawn from the seed."""
        begun(self, generator(seed, "first weights of the generator"), device)
        return self


def begun(net: Module, rng: np.random.Generator, device: torch.device) -> None:
    """Give a network first values by its widths, and no bias."""
    net.to(device)
    for p in net.parameters():
        limit = p.shape[-1] ** -0.5 if p.dim() > 1 else 0.0
        p.data = torch.as_tensor(
            rng.uniform(-limit, limit, tuple(p.shape)).astype("float32"), device=device
        )


def dropped(h: Tensor, share: float, rng: np.random.Generator | None) -> Tensor:
    """A share of the values at 0 and the others larger, so that the mean stays."""
    if rng is None or share == 0:
        return h
    stay = rng.random(tuple(h.shape), dtype="float32") >= share
    return h * (torch.as_tensor(stay, device=h.device) / (1 - share))


def balanced_labels(n: int, classes: int, device: torch.device) -> Tensor:
    """0, 1, …, C-1, 0, 1, … (n)."""
    return torch.arange(n, device=device) % classes


def knn_links(x: Tensor, k: int) -> Tensor:
    """1 where a row and another are joined: each to its k most similar by cosine, dense (n, n).

    No gradient flows through the choice of neighbours.
    """
    n = len(x)
    unit = normalize(x.detach(), dim=1)
    similar = (unit @ unit.t()).fill_diagonal_(-torch.inf)
    near = similar.topk(min(k, n - 1), dim=1).indices
    a = torch.zeros(n, n, device=x.device).scatter_(1, near, 1.0)
    return torch.maximum(a, a.t())


def operator_of(links: Tensor) -> Tensor:
    """The GCN's operator of symmetric links, dense (n, n)."""
    a = links.clone().fill_diagonal_(1.0)
    scale = a.sum(1).rsqrt()
    return scale[:, None] * a * scale


def knn_operator(x: Tensor, k: int) -> Tensor:
    """The GCN's operator of the graph that joins each row to its k most similar, dense (n, n)."""
    return operator_of(knn_links(x, k))


def made_graph(x: Tensor, k: int) -> Block:
    """Made-up rows as a graph for the GCN; k = 0 gives no edges."""
    a = knn_operator(x, k).to_sparse_csr()
    both = Sparse(a, a)  # it is symmetric
    return Block(x, both, both)
