"""Made-up graphs for the server: features from noise and a class, edges between the most alike."""

import torch
from torch import Tensor
from torch.nn import Dropout, Embedding, Linear, Module, Sequential, Tanh
from torch.nn.functional import normalize

from spear_core.randomness import generator

WIDTHS = (64, 128, 256)


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

    def forward(self, z: Tensor, y: Tensor) -> Tensor:
        return self.layers(torch.cat([z, self.classes(y)], dim=1))

    def start(self, seed: int, device: torch.device) -> "ConditionalGenerator":
        """Itself with first values drawn from the seed."""
        rng = generator(seed, "first weights of the generator")
        self.to(device)
        for p in self.parameters():
            limit = p.shape[-1] ** -0.5 if p.dim() > 1 else 0.0
            p.data = torch.as_tensor(
                rng.uniform(-limit, limit, tuple(p.shape)).astype("float32"), device=device
            )
        return self


def balanced_labels(n: int, classes: int, device: torch.device) -> Tensor:
    """0, 1, …, C-1, 0, 1, … (n)."""
    return torch.arange(n, device=device) % classes


def knn_operator(x: Tensor, k: int) -> Tensor:
    """The GCN's operator of the graph that joins each row to its k most similar, dense (n, n).

    No gradient flows through the choice of neighbours.
    """
    n = len(x)
    unit = normalize(x.detach(), dim=1)
    similar = (unit @ unit.t()).fill_diagonal_(-torch.inf)
    near = similar.topk(min(k, n - 1), dim=1).indices
    a = torch.zeros(n, n, device=x.device).scatter_(1, near, 1.0)
    a = torch.maximum(a, a.t()).fill_diagonal_(1.0)
    scale = a.sum(1).rsqrt()
    return scale[:, None] * a * scale
