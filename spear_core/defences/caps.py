"""Caps: no client counts for more than a share of its class, or for more than the median client."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from spear_core.client import Uploads

ROUNDING = 1e-6  # relative: a count that is above the cap by less is not cut


def cap(uploads: "Uploads", share: float) -> "Uploads":
    """All uploads, with no count above this share of its class's total."""
    return uploads.replace(counts=share_cap(uploads, share))


def cap_median(uploads: "Uploads") -> "Uploads":
    """All uploads, with no client counting for more in all than the median client."""
    return uploads.replace(counts=median_cap(uploads))


def share_cap(uploads: "Uploads", share: float) -> Tensor:
    """Counts of which none exceeds `share` of its class's total, (P): min(n, t) with the largest
    t for which t = share · Σ min(n, t).

    The total is that of the capped counts, otherwise a liar would raise its own cap. A share that
    the number of holders cannot meet means equal counts: two holders at a share of a half, or
    less, both get the smaller count.

    >>> from spear_core import Uploads
    >>> client, label = torch.tensor([0, 1, 2]), torch.tensor([0, 0, 0])
    >>> share_cap(Uploads(client, label, torch.tensor([700, 2, 1]), torch.eye(3), 3, 1), 0.5)
    tensor([3., 2., 1.])
    """
    counts = uploads.counts.to(torch.float32)
    for rows in uploads.by_class():
        n = counts[rows]
        counts[rows] = n.clamp_max(_share_level(n[n > 0].sort().values, share))
    return counts


def _share_level(n: Tensor, share: float) -> float:
    """The cap t for positive counts in ascending order; ∞ where nothing has to be cut.

    With the m largest cut to t and the others summing to r, t = share · (r + m t).
    """
    holders = len(n)
    share = max(share, 1 / max(holders, 1))
    for m in range(holders):
        level = share * float(n[: holders - m].sum()) / (1 - m * share)
        if level >= float(n[holders - m - 1]) * (1 - ROUNDING):  # none of the others needs a cut
            return level if m else torch.inf
    return torch.inf


def median_cap(uploads: "Uploads") -> Tensor:
    """Counts scaled so that no client claims more nodes in all than the median client, (P).

    Over a client's classes together: a class has too few holders for a median, while of the
    clients as a whole fewer than half lie.
    """
    counts = uploads.counts.to(torch.float32)
    total = torch.zeros(uploads.clients, device=counts.device)
    total.index_add_(0, uploads.client, counts)
    if not bool((total > 0).any()):
        return counts
    middle = total[total > 0].quantile(0.5)
    return counts * (middle / total.clamp_min(middle))[uploads.client]
