"""Predictions of a grid from smoothed products of features and class sums, all in float64."""

import math

import torch
from torch import Tensor

from spear_core.exact import SMALLEST, TIE
from spear_core.graph import Graph
from spear_core.grids.basis import Basis
from spear_core.grids.scores import BLOCK, Put, powers_at_tests, winners
from spear_core.propagate import as_double


def by_products(graph: Graph, w: Tensor, basis: Basis, put: Put) -> None:
    """Put the winners of every row of w (U, T + 1) and every γ."""
    columns, mix = basis.by_column()  # (F, T + 1, J)
    sums = basis.mixed(columns, mix)
    count, width = columns.shape[1:]
    pairs = (w[:, :, None] * w[:, None]).flatten(1)  # (U, (T + 1)²): w_t w_s
    gram = torch.einsum("tcgf,scgf->tscg", sums, sums).flatten(2).flatten(0, 1)
    scale = (pairs @ gram).clamp_min_(0).sqrt_().clamp_min_(1e-30).reciprocal_()[..., None]
    scaled = scale if mix is None else scale * mix  # (U, C' G, 1 or J)
    start = as_double(graph.features) @ columns.flatten(1)
    operators = as_double(graph.operator), as_double(graph.test_operator)
    powers = powers_at_tests(graph, start, *operators, count - 1)
    wide = max(len(w) * max(width, math.prod(basis.shape)), count * count * width)
    height = max(1, BLOCK // wide)
    for first in range(0, len(graph.test_nodes), height):
        nodes = slice(first, first + height)
        some = powers[:, nodes].unflatten(2, (count, -1)).permute(0, 2, 3, 1)
        some = some.reshape(count * count, -1)  # ((T + 1)², J M')
        mixed = (pairs @ some).view(len(w), width, -1)
        scores = scaled @ mixed if mix is not None else mixed.mul_(scaled)
        scores = scores.unflatten(1, basis.shape)  # (U, C', G, M')
        best = scores.amax(dim=1)
        least = best - TIE * best.clamp_min(SMALLEST)
        for u, won in enumerate(winners(scores, least, basis.classes)[0]):
            put(u, slice(None), nodes, won)
