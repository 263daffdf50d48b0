"""Defences of the server: which uploads it keeps, which counts it believes, what it calls a mean.

A cap and a filter turn uploads into uploads, and SPEAR goes on with them as ever. A robust mean
(`robust.py`) takes the place of shrinking and averaging. All of them act on the prototypes as they
were sent: a shrunk one has already been pulled towards the lies of its peers. Every class is judged
among its own holders, which under strong label skew are two or so: two holders that disagree are
equally far from each other, so no rule that looks at one class alone can say which of them lies.
"""

import torch
from torch import Tensor

from spear_core.client import Uploads
from spear_core.defences.consensus import consensus
from spear_core.graph import Graph
from spear_core.settings import Settings

TIE = 1e-6  # relative difference under which two scores are the same


def defend(
    uploads: Uploads, settings: Settings, graph: Graph | None, liars: tuple[int, ...]
) -> Uploads:
    """The uploads the defence keeps, with the counts it believes; themselves without one."""
    defence = settings.defence
    if defence == "cap":
        return uploads.replace(counts=share_cap(uploads, settings.cap_share))
    if defence == "cap-median":
        return uploads.replace(counts=median_cap(uploads))
    if defence in ("krum", "multi-krum"):
        return keep(uploads, krum(uploads, settings.expected_attackers, defence == "multi-krum"))
    if defence == "cosine":
        return keep(uploads, cosine(uploads))
    if defence == "consensus":
        return keep(uploads, consensus(uploads, median_cap(uploads), graph))
    if defence == "oracle":
        return keep(uploads, ~torch.isin(uploads.client, _tensor(liars, uploads.client)))
    return uploads


def keep(uploads: Uploads, rows: Tensor) -> Uploads:
    """Only the rows marked True, (P); the same object if that is all of them."""
    if bool(rows.all()):
        return uploads
    parts = {name: getattr(uploads, name)[rows] for name in ("client", "label", "counts")}
    return uploads.replace(**parts, prototypes=uploads.prototypes[rows])


def share_cap(uploads: Uploads, share: float) -> Tensor:
    """Counts of which none exceeds `share` of its class's total, (P): min(n, t) with the largest
    t for which t = share · Σ min(n, t).

    The total is that of the capped counts, otherwise a liar would raise its own cap. A share that
    the number of holders cannot meet means equal counts: two holders at a share of a half, or
    less, both get the smaller count.

    >>> ten, none = torch.tensor([0, 1, 2]), torch.zeros(3, dtype=torch.int64)
    >>> share_cap(Uploads(ten, none, torch.tensor([700, 2, 1]), torch.eye(3), 3, 1), 0.5)
    tensor([3., 2., 1.])
    """
    counts = uploads.counts.to(torch.float32)
    for rows in _by_class(uploads):
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
        if level >= float(n[holders - m - 1]) * (1 - TIE):  # none of the others needs a cut
            return level if m else torch.inf
    return torch.inf


def median_cap(uploads: Uploads) -> Tensor:
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


def krum(uploads: Uploads, attackers: int, several: bool) -> Tensor:
    """Rows that Krum or multi-Krum keeps, (P): those with the least distance to their neighbours.

    With h holders and f liars a row's score is the sum of squared distances to its h - f - 2
    nearest fellow holders. Krum keeps the best row, multi-Krum the h - f best, and all that tie
    with the last. It needs h ≥ 2f + 3: with fewer holders f is lowered to what they allow, down to
    0 and one neighbour. Two holders always tie, and both are kept.
    """
    kept = torch.ones(len(uploads.client), dtype=torch.bool, device=uploads.client.device)
    for rows in _by_class(uploads):
        h = len(rows)
        f = max(0, min(attackers, (h - 3) // 2))
        if h < 3 or (several and f == 0):
            continue
        p = uploads.prototypes[rows].double()
        square = (p[:, None] - p[None]).square().sum(2)  # (h, h)
        score = square.sort(dim=1).values[:, 1 : 1 + max(1, h - f - 2)].sum(1)
        last = score.sort().values[h - f - 1 if several else 0]
        kept[rows] = score <= last * (1 + TIE)
    return kept


def cosine(uploads: Uploads) -> Tensor:
    """Rows that are not far from their class's median direction, (P).

    The median direction is the coordinate median of the unit prototypes, their mean where that is
    zero. A row is far if its cosine is under the median cosine by more than three times the
    scaled median absolute deviation of the cosines (Hampel's rule for an outlier).
    """
    kept = torch.ones(len(uploads.client), dtype=torch.bool, device=uploads.client.device)
    for rows in _by_class(uploads):
        if len(rows) < 3:
            continue
        unit = torch.nn.functional.normalize(uploads.prototypes[rows].double(), dim=1)
        centre = unit.quantile(0.5, dim=0)
        centre = centre if bool(centre.any()) else unit.mean(0)
        near = unit @ torch.nn.functional.normalize(centre, dim=0)
        middle = near.quantile(0.5)
        spread = (near - middle).abs().quantile(0.5)
        kept[rows] = near >= middle - 3 * 1.4826 * spread - TIE
    return kept


def _by_class(uploads: Uploads) -> list[Tensor]:
    """The rows of every class that somebody holds."""
    return [(uploads.label == c).nonzero().squeeze(1) for c in uploads.label.unique()]


def _tensor(clients: tuple[int, ...], like: Tensor) -> Tensor:
    return torch.tensor(clients, dtype=like.dtype, device=like.device)
