"""Robust means of one class's prototypes, in the place of shrinking and averaging by count."""

import torch
from torch import Tensor

from spear_core.defences.distance import distances

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
    held = _held(p, w)
    if held is not None:
        return points[held]
    m = w @ p
    for _ in range(ROUNDS):
        share = w / (p - m).norm(dim=1).clamp_min(1e-12)
        moved = share @ p / share.sum()
        done = bool((moved - m).norm() <= NEAR * (1 + m.norm()))
        m = moved
        if done:
            break
    return m.to(points.dtype)


def _held(p: Tensor, w: Tensor) -> int | None:
    """The first row that outweighs the pull of all others on it; None if there is none."""
    far = distances(p)
    pull = torch.where(far > 0, w / far.clamp_min(1e-300), 0.0)  # (h, h)
    here = torch.where(far > 0, 0.0, w).sum(1)  # a row and those that equal it
    total = pull.sum(1, keepdim=True)
    drawn = (pull @ p - total * p).norm(dim=1)  # but for rounding, which `slack` is far above
    slack = 1e-12 * total.squeeze(1) * p.norm(dim=1).max()
    for row in (drawn <= here + slack).nonzero().squeeze(1).tolist():
        if bool((pull[row] @ (p - p[row])).norm() < here[row] * (1 - 1e-9)):
            return int(row)
    return None
