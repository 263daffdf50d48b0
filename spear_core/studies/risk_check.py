"""The model of Proposition 1 held against the prototypes of a real run.

On a graph, variances are summed over the features: γ = τ²/σ₀² is a ratio, so that changes nothing.
"""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from spear_core.client import Uploads
from spear_core.measures.prototype_error import TEST
from spear_core.run import Result
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

    def _only(self, rows: np.ndarray) -> "Check":
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        kept = {name: v[rows] for name, v in values.items() if isinstance(v, np.ndarray)}
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
