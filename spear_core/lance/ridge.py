"""The ridge head: one regression over all clients, solved from what they sent.

Ridge regression needs the scatter of the rows, which is a sum over nodes: means and counts give
the part between cells, sketches the rest, and sums over clients do not care how labels are skewed.
With exact sketches this is the ridge regression of all training rows pooled. The penalty is
λ = κ e² t / N + rest / F: t is the scatter of the N rows, rest what no sketch says of it, and e how
even the classes are.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from spear_core.propagate import squared

if TYPE_CHECKING:
    from spear_core.client import Uploads

LEAST = 1e-12  # of λ: where there is no scatter at all every weight is 0
ROUNDING = 2.0**-52  # of λ, for every row and unit of scatter: with less Cholesky's factor may fail


@dataclass(frozen=True, eq=False)
class Ridge:
    """Scores are (z − m) W + π, in float64."""

    w: Tensor  # (F, C)
    mean: Tensor  # (F): m, the mean training row
    prior: Tensor  # (C): π, every class's share of the training rows
    penalty: float  # λ
    rows: int  # of the system that was solved

    @property
    def offset(self) -> Tensor:
        """π − mᵀ W, (C): what is added to a node's products with W."""
        return self.prior - self.mean @ self.w


@dataclass(frozen=True, eq=False)
class Cells:
    """What stands for the class means: their rows, whatever a defence made of them."""

    rows: Tensor  # (P, F)
    counts: Tensor  # (P)
    label: Tensor  # (P)
    owner: Tensor  # (P): the client of each, or -1 where none is


@dataclass(frozen=True, eq=False)
class System:
    """The equations the clients' messages add up to: (Aᵀ A + λ I) W = Aᵀ D, in float64."""

    a: Tensor  # (L, F): a row for every cell, then the sketches
    d: Tensor  # (L, C): 0 for the rows of a sketch
    owner: Tensor  # (L): the client of each row
    mean: Tensor  # (F): m
    prior: Tensor  # (C): π
    penalty: float  # λ
    wide: bool  # whether there are no more rows than columns
    factor: Tensor  # Cholesky's, of the smaller of A Aᵀ + λ I and Aᵀ A + λ I


def solve(cells: Cells, sent: "Uploads", believed: "Uploads", kappa: float) -> Ridge:
    """W = Aᵀ (A Aᵀ + λ I)⁻¹ D, or its (F, F) form where that is the smaller.

    `sent` is what clients said before a defence, `believed` what it left: a client's residuals
    weigh by the part of its count that is left.
    """
    if sent.residuals is None:
        raise ValueError("The ridge head needs uploads made with the same setting.")
    s = system(cells, sent, believed, kappa)
    if s.wide:
        w = s.a.t() @ torch.cholesky_solve(s.d, s.factor)
    else:
        w = torch.cholesky_solve(s.a.t() @ s.d, s.factor)
    return Ridge(w, s.mean, s.prior, s.penalty, len(s.a))


def system(cells: Cells, sent: "Uploads", believed: "Uploads", kappa: float) -> System:
    """The equations of all clients; without residuals every client's energy is its count."""
    p, n = cells.rows.double(), cells.counts.double()
    total = n.sum().clamp_min(LEAST)
    one_hot = torch.nn.functional.one_hot(cells.label, sent.classes).double()
    mean, prior = (n @ p) / total, (n @ one_hot) / total
    root = n.sqrt()[:, None]
    rest, sketch, owner, share = _residuals(sent, believed)
    a = p.new_empty(len(p) + len(sketch), p.shape[1])
    a[: len(p)] = root * (p - mean)
    a[len(p) :] = sketch  # in float64 from here
    if bool((share < 1).any()):
        a[len(p) :] *= share.sqrt()[owner, None]
    d = p.new_zeros(len(a), sent.classes)
    d[: len(p)] = root * (one_hot - prior)
    wide = len(a) <= a.shape[1]
    gram = a @ a.t() if wide else a.t() @ a
    scatter = float(n @ squared(p) + rest - total * (mean @ mean))
    seen = float(gram.trace())
    unseen = max(scatter - seen, 0.0)
    mean_square = kappa * evenness(prior) ** 2 * scatter / float(total)
    least = max(LEAST, ROUNDING * len(gram) * seen)
    penalty = max(mean_square + unseen / sent.features, least)
    gram.diagonal().add_(penalty)
    factor = torch.linalg.cholesky(gram)
    return System(a, d, torch.cat([cells.owner, owner]), mean, prior, penalty, wide, factor)


def evenness(prior: Tensor) -> float:
    """1 / (C Σπ²) over the classes held: 1 where all are as large, towards 1 / C where one is all.

    A ridge pulls scores towards π. That takes no side where classes are alike; where they are not,
    the largest wins by it, so the uneven get less of it.
    """
    return float(prior.sum() ** 2 / ((prior > 0).sum() * (prior * prior).sum()).clamp_min(LEAST))


def _residuals(sent: "Uploads", believed: "Uploads") -> tuple[float, Tensor, Tensor, Tensor]:
    """The energy that class means leave out; the sketch, whose it is, and by what share, (K)."""
    claimed = _by_client(sent, torch.ones_like(sent.counts))
    means = _by_client(sent, squared(sent.prototypes))
    if sent.residuals is None:
        rest = (claimed - means).clamp_min(0)
        return float(rest.sum()), sent.prototypes[:0], sent.client[:0], torch.ones_like(claimed)
    counted = _by_client(believed, torch.ones_like(believed.counts))
    share = torch.where(claimed > 0, counted / claimed.clamp_min(LEAST), 0.0).clamp(0, 1)
    kept = sent.residuals.of(share > 0)
    rest = torch.maximum(kept.energy - means, kept.lengths())
    rest = torch.where(share > 0, rest, 0.0)
    return float((share * rest).sum()), kept.rows, kept.owner, share


def _by_client(uploads: "Uploads", values: Tensor) -> Tensor:
    """Σ n · value over the rows of every client, (K)."""
    weighed = uploads.counts.double() * values
    zero = torch.zeros(uploads.clients, dtype=torch.float64, device=weighed.device)
    return zero.index_add_(0, uploads.client, weighed)
