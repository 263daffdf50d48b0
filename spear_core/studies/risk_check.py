"""The model of Proposition 1 held against the prototypes of a real run.

On a graph, variances are summed over the features: γ = τ²/σ₀² is a ratio, so that changes nothing.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from spear_core.client import Uploads
from spear_core.measures.prototype_error import EVERY, TEST
from spear_core.run import Result
from spear_core.settings import equation
from spear_core.studies.slope import Slope, fit_slope


@dataclass(frozen=True, eq=False)
class Check:
    """Squared errors of a run's prototypes and peer means, and the model fitted to them."""

    client: np.ndarray  # (P)
    label: np.ndarray  # (P)
    n: np.ndarray  # (P)
    error: np.ndarray  # (P): of the local prototype, summed over the features
    pulled: np.ndarray  # (P): False for the lone holder of a class, who has no peers
    peer_error: np.ndarray  # (P): of the peer mean; 0 where there is none
    peer_factor: np.ndarray  # (P): Σ a_j²/n_j over the peers; times σ₀² it is the exact variance
    gamma: float  # of the settings
    reading: str = TEST  # what the true centroids are the means of

    @property
    def slope(self) -> Slope | None:
        return fit_slope(self.n, self.error)

    @property
    def sigma2(self) -> float | None:
        """σ₀²: the mean of n · error, which weighs every pair alike under the model."""
        value = float((self.n * self.error).mean()) if len(self.n) else 0.0
        return value or None

    @property
    def tau2(self) -> float | None:
        """τ²: the mean squared error of the peer means; None if no class has two holders."""
        return float(self.peer_error[self.pulled].mean()) if self.pulled.any() else None

    @property
    def gamma_hat(self) -> float | None:
        """γ̂ = τ²/σ₀², the γ that this run's errors ask for."""
        return None if self.sigma2 is None or self.tau2 is None else self.tau2 / self.sigma2

    @property
    def gamma_range(self) -> tuple[float, float] | None:
        """The least and the largest γ̂ when one class at a time is left out."""
        without = [self._only(self.label != c).gamma_hat for c in np.unique(self.label)]
        found = [g for g in without if g is not None]
        return (min(found), max(found)) if len(found) > 1 else None

    @property
    def exact(self) -> np.ndarray:
        """The exact variance of every peer mean by the model, (P)."""
        return (self.sigma2 or 0.0) * self.peer_factor

    @property
    def typical_miss(self) -> tuple[float, float] | None:
        """By what factor a peer mean's error typically misses the exact variance, and τ²."""
        rows = self.pulled & (self.peer_error > 0)
        if not rows.any() or self.sigma2 is None:
            return None
        seen, tau2 = self.peer_error[rows], self.tau2
        misses = (np.abs(np.log(seen / guess)).mean() for guess in (self.exact[rows], tau2))
        exact, constant = (float(np.exp(miss)) for miss in misses)
        return exact, constant

    def table(self) -> dict[str, list]:
        """One row a prototype: errors, the exact variance, and λ by γ̂ and by that variance."""
        own = (self.sigma2 or 0.0) / self.n
        by_gamma = 1 / (1 + (self.gamma_hat or 0.0) * self.n)
        by_exact = np.divide(own, own + self.exact, out=np.ones_like(own), where=own > 0)
        columns = {
            "client": self.client,
            "class": self.label,
            "n": self.n.astype(int),
            "squared error": self.error,
            "has peers": self.pulled,
            "squared error of peers": self.peer_error,
            "exact variance of peers": self.exact,
            "lambda by gamma hat": by_gamma,
            "lambda by exact variance": by_exact,
        }
        return {name: column.tolist() for name, column in columns.items()}

    def words(self) -> dict[str, str]:
        """What the fit says and what it does not: on the slope, on γ and on the peer means."""
        return {
            "slope": _slope_words(self),
            "gamma": _gamma_words(self),
            "peers": _peer_words(self),
        }

    def _only(self, rows: np.ndarray) -> "Check":
        kept: dict[str, Any] = {
            name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        return replace(self, **kept)


def check(result: Result, reading: str = TEST) -> Check:
    """A `Check`: how far a run's prototypes and peer means are from the true centroids."""
    up, estimate = result.uploads, result.estimate
    centre = result.metrics.centroids_of(reading)
    n = up.counts.double()
    inverse = torch.zeros(up.classes, dtype=n.dtype, device=n.device)
    inverse.index_add_(0, up.label, 1 / n)
    holders = _holders(up)
    if estimate.peer_share is None:
        factor = (inverse[up.label] - 1 / n) / (holders - 1).clamp_min(1) ** 2
    else:
        factor = estimate.peer_share.double() ** 2 @ (1 / n)
    there = (centre.abs().sum(1) > 0)[up.label]  # a class without nodes has no centroid

    def squared(rows: Tensor) -> Tensor:
        return (rows - centre[up.label]).double().square().sum(1)

    pulled = holders > 1
    factor = torch.where(pulled, factor, 0.0)
    peer_error = torch.where(pulled, squared(estimate.peers), 0.0)
    columns = {
        "client": up.client,
        "label": up.label,
        "n": n,
        "error": squared(up.prototypes),
        "pulled": pulled,
        "peer_error": peer_error,
        "peer_factor": factor,
    }
    kept: dict[str, Any] = {name: c[there].cpu().numpy() for name, c in columns.items()}
    gamma = result.settings.gamma if result.settings.shrinkage else math.inf
    return Check(gamma=gamma, reading=reading, **kept)


def _holders(uploads: Uploads) -> Tensor:
    """How many clients hold the class of each upload, (P)."""
    return torch.bincount(uploads.label, minlength=uploads.classes)[uploads.label]


def _slope_words(seen: Check) -> str:
    line, different = seen.slope, len(np.unique(seen.n[seen.error > 0]))
    if line is None:
        return (
            f"No slope can be fitted: that takes three different counts n, and there "
            f"{'is' if different == 1 else 'are'} {different or 'none'}."
        )
    found = (
        f"The fitted slope is {line.slope:.2f} over {len(seen.n)} prototypes, 95 % interval "
        f"{line.low:.2f} to {line.high:.2f}"
    ).replace("-", "−")
    if line.low <= 0 <= line.high:
        return f"{found}: too few or too scattered points to tell whether the error falls with n."
    if line.low <= -1 <= line.high:
        return f"{found}. It holds −1: nothing here speaks against an error that falls as 1/n."
    if line.slope > -1:
        return (
            f"{found}: the error falls more slowly than 1/n, as it would if n nodes of one client "
            "told less than n independent ones, or if the centroid were off by something itself."
        )
    own = " The client's own nodes are part of this centroid, which has that effect."
    return f"{found}: the error falls faster than 1/n.{own if seen.reading == EVERY else ''}"


def _gamma_words(seen: Check) -> str:
    if seen.sigma2 is None:
        return "No prototype differs from its centroid, so there is no variance to fit."
    if seen.gamma_hat is None:
        return "No class has two holders, so there are no peers and τ² cannot be measured."
    spread, guess = seen.gamma_range, f"The errors ask for γ̂ = τ²/σ₀² = {seen.gamma_hat:.2g}"
    if spread is None:
        return f"{guess}; only one class has peers, so how sure that is cannot be said."
    low, high = spread
    inside = f"{guess}, between {low:.2g} and {high:.2g} when one class at a time is left out"
    now = equation("gamma", seen.gamma)
    if low <= seen.gamma <= high:
        return f"{inside}. The present {now} lies within."
    more = "less" if seen.gamma > high else "more"
    return f"{inside}. The present {now} pulls {more} towards the peers than that."


def _peer_words(seen: Check) -> str:
    miss = seen.typical_miss
    if miss is None:
        return (
            "No class has two holders (or no error is left), so there is no peer mean to look at."
        )
    exact = seen.exact[seen.pulled]
    wide = exact.max() / exact.min()
    return (
        f"By the model the variance of a peer mean runs from {exact.min():.2g} to {exact.max():.2g}"
        f", a factor of {wide:.3g}, where the paper takes one τ² = {seen.tau2:.2g} for all. The "
        f"errors seen miss the exact variance by a factor of {miss[0]:.1f} on a typical prototype, "
        f"the constant by {miss[1]:.1f}."
    )
