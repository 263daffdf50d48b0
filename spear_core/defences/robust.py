"""Robust means of a class's prototypes, in the place of shrinking and averaging by count."""

import torch
from torch import Tensor

from spear_core.client import Uploads
from spear_core.settings import Settings

ROUNDS, NEAR = 200, 1e-7  # of Weiszfeld's iteration


def robust_mean(uploads: Uploads, settings: Settings) -> Tensor | None:
    """The robust mean of every class, (C, F); None where the weighted mean is meant.

    Of the prototypes as sent. The median and the trimmed mean count every holder once; the
    geometric median weighs by count where `count_weights` is on.
    """
    if settings.defence not in ("median", "trimmed", "geometric"):
        return None
    p = uploads.prototypes
    means = torch.zeros(uploads.classes, uploads.features, dtype=p.dtype, device=p.device)
    for c in uploads.label.unique():
        rows = uploads.label == c
        if settings.defence == "median":
            means[c] = p[rows].quantile(0.5, dim=0)  # halfway where two are in the middle
        elif settings.defence == "trimmed":
            means[c] = trimmed(p[rows], settings.trim)
        else:
            n = uploads.counts[rows].to(p.dtype)
            means[c] = geometric(p[rows], n if settings.count_weights else torch.ones_like(n))
    return means


def trimmed(points: Tensor, share: float) -> Tensor:
    """The mean of each coordinate without its ⌊share · h⌋ lowest and highest values, (F).

    >>> trimmed(torch.tensor([[0.0], [1.0], [2.0], [3.0], [99.0]]), 0.2)
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
