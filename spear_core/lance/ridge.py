"""The ridge head: one regression over all clients, solved from what they sent.

Ridge regression needs the scatter of the rows, which is a sum over nodes: means and counts give
the part between cells, sketches the rest, and sums over clients do not care how labels are skewed.
With exact sketches this is the ridge regression of all training rows pooled. The penalty is
λ = κ e² t / N + rest / F: t is the scatter of the N rows, rest what no sketch says of it, and e how
even the classes are. Where the scatter tells of nothing but chance, λ is larger (roundness), and
scores are levelled by the classes' shares before they are compared. Where rows hardly tell of a row
that is left out (slope), W is smaller; where they tell nothing, the cosine decides.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from spear_core.propagate import squared

if TYPE_CHECKING:
    from spear_core.client import Uploads

LEAST = 1e-12  # of λ: where there is no scatter at all every weight is 0
ROUNDEST = 0.99  # the most that a scatter is taken for round
LEVEL = 0.3  # of a class's share: its scores are divided by that power of it
BELIEVED = 0.25  # of what the others say of a row must hold for it, else W is made smaller
ROUNDING = 2.0**-52  # of λ, for every row and unit of scatter: with less Cholesky's factor may fail


@dataclass(frozen=True, eq=False)
class Ridge:
    """Scores are ((z − m) W + π) / π^LEVEL, in float64.

    A regression's score is π (1 + evidence): right on average, and yet a small class seldom wins,
    since what speaks for it is multiplied by its share too. Divided by √π the noise in all scores
    is alike and shares count for little; LEVEL lies between that and none. Small graphs of uneven
    classes gained 2 to 6 points by it and Computers 2; alike classes are as before; Actor, whose
    features say the least, lost one.
    """

    w: Tensor  # (F, C)
    mean: Tensor  # (F): m, the mean training row
    prior: Tensor  # (C): π, every class's share of the training rows
    penalty: float  # λ
    rows: int  # of the system that was solved
    grown: float = 1.0  # the factor on W that a larger λ asked for, and a small slope
    slope: float = 1.0  # the part of what the others say of a row that holds for it

    @property
    def believed(self) -> bool:
        """Whether the regression decides at all."""
        return self.grown > 0

    @property
    def lift(self) -> Tensor:
        """π^−LEVEL, (C): what the scores of every class are multiplied by, 0 where nobody is."""
        return torch.where(self.prior > 0, self.prior.clamp_min(LEAST) ** -LEVEL, 0.0)

    @property
    def weights(self) -> Tensor:
        """W with the columns lifted, (F, C): what a node is multiplied with."""
        return self.w * self.lift

    @property
    def offset(self) -> Tensor:
        """π − mᵀ W, lifted, (C): what is added to a node's products with the weights."""
        return (self.prior - self.mean @ self.w) * self.lift


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
    round_penalty: float  # λ of a cloud that is as round as this one
    wide: bool  # whether there are no more rows than columns
    gram: Tensor  # the smaller of A Aᵀ + λ I and Aᵀ A + λ I
    factor: Tensor  # Cholesky's, of it
    total: float  # N, the training rows
    unseen: float  # the part of their scatter that no row of A says

    def solved(self, factor: Tensor) -> Tensor:
        """W = Aᵀ (A Aᵀ + λ I)⁻¹ D, or its (F, F) form where that is the smaller."""
        if self.wide:
            return self.a.t() @ torch.cholesky_solve(self.d, factor)
        return torch.cholesky_solve(self.a.t() @ self.d, factor)

    def slope(self, w: Tensor, factor: Tensor, penalty: float) -> float:
        """The slope of a row's class on what all other rows say of it: 1 if they say what is so.

        Without row i the regression gives it f₋ = (f − h d) / (1 − h), h its leverage, for which
        their mean stands, the trace of the hat matrix over N. The slope is Σ d f₋ / Σ f₋². It is 0
        for rows that share no feature: whatever fits them then, it says nothing of others.
        """
        fit = self.a @ w
        own, square = float((self.d * fit).sum()), float(squared(fit).sum())
        square += self.unseen * float(squared(w).sum()) / self.a.shape[1]
        known = len(factor) - penalty * float(torch.cholesky_inverse(factor).trace())
        each = self.unseen / max(self.total - len(self.a), 1)  # of the rows that are not in A
        leverage = 1 + known + self.unseen / (each + penalty)
        h = min(leverage / max(self.total, 1), 1 - 1e-3)
        spread = self.total * float(self.prior.sum() - self.prior @ self.prior)  # Σ d²
        apart = square - 2 * h * own + h * h * spread
        return max(own - h * spread, 0.0) * (1 - h) / max(apart, LEAST)


def solve(cells: Cells, sent: "Uploads", believed: "Uploads", kappa: float) -> Ridge:
    """The regression with λ, or where that is larger with the λ of a round cloud.

    A larger λ also makes W small, and then the shares of the classes decide: W grows until it
    explains as much as before. `sent` is what clients said before a defence, `believed` what it
    left: a client's residuals weigh by the part of its count that is left.
    """
    if sent.residuals is None:
        raise ValueError("The ridge head needs uploads made with the same setting.")
    s = system(cells, sent, believed, kappa)
    w, factor, penalty, grown = s.solved(s.factor), s.factor, s.penalty, 1.0
    if s.round_penalty > s.penalty:
        s.gram.diagonal().add_(s.round_penalty - s.penalty)
        factor, penalty = torch.linalg.cholesky(s.gram), s.round_penalty
        rounder = s.solved(factor)
        explained = [float((s.d * (s.a @ each)).sum()) for each in (w, rounder)]
        grown = explained[0] / explained[1] if explained[1] > 0 else 1.0
        w = rounder
    slope = s.slope(w, factor, penalty)
    grown *= trust(slope)
    return Ridge(grown * w, s.mean, s.prior, penalty, len(s.a), grown, slope)


def trust(slope: float) -> float:
    """The factor on W where less than BELIEVED of what it says holds: the shares decide more."""
    return min(1.0, slope / BELIEVED)


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
    round_to = roundness(gram, unseen, len(a), float(total), sent.features)
    round_penalty = round_to / (1 - round_to) * scatter / sent.features
    gram.diagonal().add_(penalty)
    factor = torch.linalg.cholesky(gram)
    owners = torch.cat([cells.owner, owner])
    penalties = penalty, round_penalty
    return System(a, d, owners, mean, prior, *penalties, wide, gram, factor, float(total), unseen)


def roundness(gram: Tensor, unseen: float, rows: int, total: float, features: int) -> float:
    """How much of the scatter chance explains: 1 for a cloud that is as wide in every direction.

    The oracle approximating shrinkage of Chen, Wiesel, Eldar and Hero (2010), from the trace of
    the scatter and that of its square. Of N rows in F dimensions that point anywhere, sketches
    tell the directions that chance made long, and a regression that trusted them would lean the
    wrong way. What no sketch says is taken for rows that point anywhere.
    """
    seen = float(gram.trace())
    trace = seen + unseen
    hidden = unseen / max(total - rows, 1) + (unseen + 2 * seen) / features
    square = float(squared(gram).sum()) + unseen * hidden
    apart = square - trace * trace / features
    rest = 1 - 2 / features
    most = ROUNDEST * (total + rest) * apart
    found = rest * square + trace * trace
    return ROUNDEST if found >= most else max(found, 0.0) / ((total + rest) * apart)


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
