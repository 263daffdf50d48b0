"""Krum and multi-Krum: of every class, the uploads with the nearest neighbours are kept."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from spear_core.defences.distance import distances

if TYPE_CHECKING:
    from spear_core.client import Uploads

TIE = 1e-6  # relative difference under which two scores are the same


def krum(uploads: "Uploads", attackers: int) -> "Uploads":
    """The one upload of every class that has the nearest neighbours, and those that tie."""
    return uploads.keep(nearest(uploads, attackers, several=False))


def multi_krum(uploads: "Uploads", attackers: int) -> "Uploads":
    """The uploads of every class without the `attackers` that have the farthest neighbours."""
    return uploads.keep(nearest(uploads, attackers, several=True))


def nearest(uploads: "Uploads", attackers: int, several: bool) -> Tensor:
    """Rows that Krum or multi-Krum keeps, (P): those with the least distance to their neighbours.

    With h holders and f liars a row's score is the sum of squared distances to its h - f - 2
    nearest fellow holders. Krum keeps the best row, multi-Krum the h - f best, and all that tie
    with the last. It needs h ≥ 2f + 3: with fewer holders f is lowered to what they allow, down to
    0 and one neighbour. Two holders always tie, and both are kept.
    """
    kept = torch.ones(len(uploads.client), dtype=torch.bool, device=uploads.client.device)
    for rows in uploads.by_class():
        h = len(rows)
        f = max(0, min(attackers, (h - 3) // 2))
        if h < 3 or (several and f == 0):
            continue
        square = distances(uploads.prototypes[rows].double()).square()  # (h, h)
        score = square.sort(dim=1).values[:, 1 : 1 + max(1, h - f - 2)].sum(1)
        last = score.sort().values[h - f - 1 if several else 0]
        kept[rows] = score <= last * (1 + TIE)
    return kept
