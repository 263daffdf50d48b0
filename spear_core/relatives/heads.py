"""Heads in closed form on sums of smoothed rows: FedCGS, and GH-OFL's LDA and naive Bayes.

Each makes of the summed messages what scores a node: w and b of a linear head, or two linear parts
of a quadratic one. A class nobody holds scores -∞.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.relatives.rows import Sent

LEAST = 1e-6  # of a variance


@dataclass(frozen=True, eq=False)
class Linear:
    """Scores z w + b."""

    w: Tensor  # (F, C)
    b: Tensor  # (C)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Scores z² q + z w + b."""

    q: Tensor  # (F, C)
    w: Tensor  # (F, C)
    b: Tensor  # (C)


def fedcgs(sent: Sent, gamma: float = 1e-3) -> Linear:
    """w_c = (Σ + γI)⁻¹ μ_c, b_c = −½ μ_cᵀ w_c + log(n_c / N), Σ the covariance of all rows.

    The authors' γ = 0 has no solution for N ≤ F.
    """
    means, total = _means(sent), sent.counts.sum()
    middle = sent.sums.sum(0, keepdim=True) / total
    shape = total - 1
    w = _solve(sent, total.sqrt() * middle, gamma * shape, means.t()) * shape
    return _bayes(sent, means, w)


def lda(sent: Sent, shrink: float = 0.05) -> Linear:
    """The same with the covariance within classes, S ← (1 − r) S + r tr(S)/F I + 1e-6 I."""
    means, width = _means(sent), sent.sums.shape[1]
    shape = (sent.counts.sum() - (sent.counts > 0).sum()).clamp_min(1)
    assert sent.scatter is not None
    within = (sent.scatter.square().sum() - (sent.counts[:, None] * means.square()).sum()) / shape
    ridge = shrink * within.clamp_min(0) / width + LEAST
    if shrink >= 1:  # S is a multiple of I: the nearest mean
        return _bayes(sent, means, means.t() / ridge)
    scale = shape / (1 - shrink)
    w = _solve(sent, sent.counts.sqrt()[:, None] * means, ridge * scale, means.t()) * scale
    return _bayes(sent, means, w)


def naive_bayes(sent: Sent) -> Quadratic:
    """log π − ½ Σ (z − μ)² / v − ½ Σ log v, every class with a variance for every feature."""
    assert sent.squares is not None
    means, counts = _means(sent), sent.counts.clamp_min(1)[:, None]
    v = (sent.squares / counts - means.square()).clamp_min(LEAST)
    b = _prior(sent) - 0.5 * ((means.square() / v).sum(1) + v.log().sum(1))
    return Quadratic((-0.5 / v).t(), (means / v).t(), b)


def _means(sent: Sent) -> Tensor:
    return sent.sums / sent.counts.clamp_min(1)[:, None]


def _prior(sent: Sent) -> Tensor:
    """log(n_c / N): -∞ for a class nobody holds."""
    return (sent.counts / sent.counts.sum()).log()


def _bayes(sent: Sent, means: Tensor, w: Tensor) -> Linear:
    return Linear(w, _prior(sent) - 0.5 * (means * w.t()).sum(1))


def _solve(sent: Sent, taken: Tensor, ridge: Tensor, right: Tensor) -> Tensor:
    """(RᵀR − TᵀT + ridge I)⁻¹ right: as wide as the rows are many, or as the features are."""
    assert sent.scatter is not None
    rows = torch.cat([sent.scatter, taken])
    sign = torch.ones(len(rows), dtype=rows.dtype)
    sign[len(sent.scatter) :] = -1
    if len(rows) < rows.shape[1]:  # Woodbury; signs are their own inverses
        inner = torch.linalg.solve(ridge * sign.diag() + rows @ rows.t(), rows @ right)
        return (right - rows.t() @ inner) / ridge
    whole = (rows.t() * sign) @ rows
    whole.diagonal().add_(ridge)
    return torch.linalg.solve(whole, right)
