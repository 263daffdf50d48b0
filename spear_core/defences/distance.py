"""Distances between the prototypes of one class, without a vector for every pair of them."""

import torch
from torch import Tensor


def distances(points: Tensor) -> Tensor:
    """Euclidean distance of every two rows, (h, h), from points (h, F).

    Sums of squared differences, not the Gram matrix: rows that are nearly equal keep their digits,
    and equal rows are at distance 0. Needs no more room than the points and the answer.

    >>> distances(torch.tensor([[0.0, 0.0], [3.0, 4.0]]))
    tensor([[0., 5.],
            [5., 0.]])
    """
    h = len(points)
    above = torch.triu_indices(h, h, 1, device=points.device)  # the order of pdist
    far = torch.zeros(h, h, dtype=points.dtype, device=points.device)
    far[above[0], above[1]] = torch.pdist(points)
    return far + far.t()
