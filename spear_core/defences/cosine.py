"""The cosine filter: of every class, uploads that point elsewhere than most are left out."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from spear_core.client import Uploads

TIE = 1e-6  # difference under which two cosines are the same


def cosine(uploads: "Uploads") -> "Uploads":
    """The uploads that are not far from their class's median direction."""
    return uploads.keep(in_line(uploads))


def in_line(uploads: "Uploads") -> Tensor:
    """Rows that are not far from their class's median direction, (P).

    The median direction is the coordinate median of the unit prototypes, their mean where that is
    zero. A row is far if its cosine is under the median cosine by more than three times the
    scaled median absolute deviation of the cosines (Hampel's rule for an outlier).
    """
    kept = torch.ones(len(uploads.client), dtype=torch.bool, device=uploads.client.device)
    for rows in uploads.by_class():
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
