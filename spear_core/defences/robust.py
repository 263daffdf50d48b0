"""Robust means of one class's prototypes, in the place of shrinking and averaging by count."""

import torch
from torch import Tensor

ROUNDS, NEAR = 200, 1e-7  # of Weiszfeld's iteration


def median(points: Tensor, weight: Tensor) -> Tensor:
    """The median of each coordinate, halfway where two are in the middle, (F).

    Every holder counts once, whatever it weighs.
    """
    return points.quantile(0.5, dim=0)


def trimmed(points: Tensor, weight: Tensor, share: float) -> Tensor:
    """The mean of each coordinate without its ⌊share · h⌋ lowest and highest values, (F).

    Every holder counts once, whatever it weighs.

    >>> trimmed(torch.tensor([[0.0], [1.0], [2.0], [3.0], [99.0]]), torch.ones(5), 0.2)
    tensor([2.])
    """
    cut = int(share * len(points) + 1e-9)
    return points.sort(dim=0).values[cut : len(points) - cut].mean(0)


def geometric(points: Tensor, weight: Tensor) -> Tensor:
    """The point with the least weighted sum of distances to all rows, (F), by Weiszfeld.

    A row that pulls harder than all others together is itself the answer (Vardi and Zhang); where
    it is not unique, as for two rows of equal weight, the one nearest to their mean is taken.

    >>> geometric(torch.tensor([[0.0, 0], [1, 0], [9, 9]]), torch.tensor([5.0, 1, 1]))
    tensor([0., 0.])
    """
    p, w = points.double(), weight.double()
    w = w / w.sum() if bool(w.sum() > 0) else torch.full_like(w, 1 / len(w))
    gap = p[None] - p[:, None]  # (h, h, F): from row i to row j
    far = gap.norm(dim=2)
    pull = torch.where(far > 0, w / far.clamp_min(1e-300), 0.0)
    here = torch.where(far > 0, 0.0, w).sum(1)  # a row and those that equal it
    held = (pull[:, :, None] * gap).sum(1).norm(dim=1) < here * (1 - 1e-9)
    if bool(held.any()):
        return points[held.nonzero()[0, 0]]
    m = w @ p
    for _ in range(ROUNDS):
        share = w / (p - m).norm(dim=1).clamp_min(1e-12)
        moved = share @ p / share.sum()
        done = bool((moved - m).norm() <= NEAR * (1 + m.norm()))
        m = moved
        if done:
            break
    return m.to(points.dtype)
