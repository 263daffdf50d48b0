"""Which points of a grid are so alike that one can stand for others."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

ALIKE = 0.04  # how far z and unit prototypes together may be apart, as a part of ‖z‖
GRAM = 2e-6  # float32 error of a product of two rows that are at most 1 long
SAMPLE = 64  # every how many-th node tells how far smoothed features are apart


@dataclass(frozen=True, eq=False)
class Smoothed:
    """The smoothed features of the test nodes for every row of w, made when asked for."""

    powers: Tensor  # (T + 1, M, F): Â^t X̃
    w: Tensor  # (U, T + 1)

    @cached_property
    def gram(self) -> Tensor:
        """Products of the powers of every node, ((T + 1)², M)."""
        return torch.einsum("tmf,smf->tsm", self.powers, self.powers).flatten(0, 1)

    def z(self, rows: list[int], nodes: slice | Tensor) -> Tensor:
        """The features that some rows of w give some nodes, (U', M', F)."""
        some = self.powers
        some = some.index_select(1, nodes) if isinstance(nodes, Tensor) else some[:, nodes]
        return torch.tensordot(self.w[rows].float(), some, 1)

    def length(self, weights: Tensor, every: int = 1) -> Tensor:
        """At least ‖Σ_t w_t Â^t x̃‖ of every node for rows of weights (…, T + 1), (…, M)."""
        pairs = (weights[..., :, None] * weights[..., None, :]).flatten(-2).float()
        error = GRAM * weights.abs().sum(-1, keepdim=True).square().float()
        return (pairs @ self.gram[:, ::every] + error).clamp_min_(0).sqrt_()


@dataclass(frozen=True)
class Follower:
    """Points with one row of w that another point stands for."""

    row: int
    gammas: list[int]
    far: float  # of their prototypes from its own, at most


Plan = list[dict[int, list[Follower]]]
"""For every row of w the γ to score, and whom each of these points stands for."""


def every_point(rows: int, gammas: int) -> Plan:
    """The plan that scores every point."""
    return [{j: [] for j in range(gammas)} for _ in range(rows)]


def stand_ins(smoothed: Smoothed, prototypes: Tensor) -> Plan:
    """Points that stand for as many others as possible, from prototypes (U, C', G, F) in float64.

    >>> one = torch.eye(2, dtype=torch.float64)[None, :, None]
    >>> both = Smoothed(torch.eye(2)[None], torch.ones(2, 1, dtype=torch.float64))
    >>> stand_ins(both, torch.cat([one, one]))
    [{0: [Follower(row=1, gammas=[0], far=1e-07)]}, {}]
    """
    rows, _, gammas, _ = prototypes.shape
    points = prototypes.transpose(0, 1).flatten(1, 2)  # (C', U G, F)
    far = (2 - 2 * points @ points.mT).clamp_min_(1e-14).sqrt_().amax(0)  # above rounding
    far.fill_diagonal_(0)
    moved = smoothed.length(smoothed.w[:, None] - smoothed.w, SAMPLE)
    moved = (moved / smoothed.length(smoothed.w, SAMPLE).clamp_min(1e-30)[:, None]).mean(-1)
    apart = far + moved.repeat_interleave(gammas, 0).repeat_interleave(gammas, 1)
    near = apart < ALIKE
    left = torch.ones(len(near), dtype=torch.bool, device=near.device)
    plan: Plan = [{} for _ in range(rows)]
    while bool(left.any()):
        point = int(torch.where(left, (near & left).sum(1), 0).argmax())
        follow = near[point] & left
        follow[point] = left[point] = False
        left &= ~follow
        groups: dict[int, list[int]] = {}
        for other in follow.nonzero().flatten().tolist():
            groups.setdefault(other // gammas, []).append(other % gammas)
        row, gamma = divmod(point, gammas)
        plan[row][gamma] = [
            Follower(v, own, float(far[point, [v * gammas + j for j in own]].max()))
            for v, own in groups.items()
        ]
    return plan
