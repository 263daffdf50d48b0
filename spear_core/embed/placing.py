"""How a vector finds its place on a map."""

import math

import torch
from torch import Tensor

from spear_core.embed.fitting import NEIGHBOURS, A, B
from spear_core.embed.maps import Map
from spear_core.embed.nodes import WIDE
from spear_core.propagate import propagate, select_rows


def place(plane: Map, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Where vectors of width F go: barycentres of the 15 most similar nodes, (P, 2).

    Beside it the best cosine to any background node, (P); below `plane.hollow_below` the place
    says little.
    """
    near, weight, best = _nearest(plane, rows)
    return _barycentre(plane, near, weight), best


def refine(plane: Map, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Better places on a fitted map, by UMAP's own pull; for a preview the same as `place`.

    Twenty steps down UMAP's objective for the new points alone, from their barycentres: a point
    leaves the empty middle between two groups for the one that pulls harder.
    """
    near, weight, best = _nearest(plane, rows)
    xy = _barycentre(plane, near, weight)
    for done in range(20 if plane.fitted else 0):
        apart = xy[:, None] - plane.xy[near]  # (P, 15, 2)
        d2 = apart.square().sum(2).clamp_min(1e-6)
        pull = 2 * A * B * d2 ** (B - 1) / (1 + A * d2**B) * weight  # of -log 1/(1 + a d^2b)
        step = (pull[:, :, None] * apart).sum(1).clamp(-1, 1)
        xy = xy - 0.5 * (1 - done / 20) * step
    return xy, best


def _nearest(plane: Map, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The 15 most similar nodes, their weights as in UMAP, and the best cosine."""
    near = similarity(plane, rows)
    cosine, index = near.topk(min(NEIGHBOURS, len(plane.nodes)), dim=1)
    far = cosine[:, :1] - cosine  # beyond the nearest one
    low, high = torch.full_like(far[:, :1], 1e-4), torch.full_like(far[:, :1], 4.0)
    for _ in range(20):  # bisect the scale at which the weights sum to log2(15)
        scale = (low + high) / 2
        much = torch.exp(-far / scale).sum(1, keepdim=True) > math.log2(NEIGHBOURS)
        low, high = torch.where(much, low, scale), torch.where(much, scale, high)
    return index, torch.exp(-far / scale), cosine[:, 0]


def _barycentre(plane: Map, near: Tensor, weight: Tensor) -> Tensor:
    return (weight[:, :, None] * plane.xy[near]).sum(1) / weight.sum(1, keepdim=True)


def similarity(plane: Map, rows: Tensor) -> Tensor:
    """Cosine of every vector (P, F) to every background node, (P, M)."""
    rows, graph = torch.nn.functional.normalize(rows, dim=1, eps=1e-30), plane.graph
    if graph.num_features <= WIDE:
        return rows @ plane.rows.t()
    picked = (plane.nodes, select_rows(graph.operator, plane.nodes))
    near = propagate(
        graph.operator, graph.project(rows), plane.alpha, plane.steps, picked
    )  # (M, P)
    return (near / plane.lengths.clamp_min(1e-30)[:, None]).clamp_max(1).t()
