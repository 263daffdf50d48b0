"""Proposition 1 simulated, and its model held against the prototypes of a real run.

The model: a client's prototype is the true centroid plus noise of variance σ₀²/n, its peer mean is
the centroid plus independent noise of variance τ². Then (1 - λ) own + λ peers has the risk
(1 - λ)² σ₀²/n + λ² τ², least at λ* = (σ₀²/n) / (σ₀²/n + τ²) = 1 / (1 + γn) with γ = τ²/σ₀².
On a graph, variances are summed over the features: γ is a ratio, so that changes nothing.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy.special import stdtrit
from torch import Tensor

from spear_core.client import Uploads
from spear_core.randomness import generator
from spear_core.run import Result
from spear_core.server import Estimate, mixture
from spear_core.settings import Settings

FEATURES, DRAWS = 32, 200  # of the simulation
PRINTED: dict[
    str, tuple
] = {  # the paper's mean cosine distances to the centroids: local, plain mean, global
    "Texas": (0.376, 0.206, 0.039),
    "Actor": (0.149, 0.109, 0.002),
    "Cora": (0.327, 0.248, 0.158),
    "Coauthor-CS": (0.259, 0.199, 0.024),
    "WikiCS": (0.011, 0.008, 0.000),
    "ogbn-arxiv": (0.141, 0.105, 0.000),
}
PRINTED_TEXT: dict[str, tuple] = {
    "Cora": (0.3217, None, 0.1997)
}  # its main text, which fits the test nodes
TEST, EVERY = "test nodes", "all nodes"  # what a true centroid is the mean of


def best_weight(sigma2: float, tau2: float, n: float) -> float:
    """λ*, the weight with the least risk.

    >>> round(best_weight(sigma2=1, tau2=0.5, n=3), 2)
    0.4
    """
    return sigma2 / n / (sigma2 / n + tau2)


def risk(lam: np.ndarray | float, sigma2: float, tau2: float, n: float) -> np.ndarray:
    """Expected squared error per feature of (1 - λ) own + λ peers."""
    lam = np.asarray(lam, dtype=float)
    return (1 - lam) ** 2 * sigma2 / n + lam**2 * tau2


@dataclass(frozen=True, eq=False)
class Simulation:
    """Squared error per feature over λ: measured on draws from the model, and as predicted."""

    lam: np.ndarray  # (L)
    measured: np.ndarray  # (L): mean over the draws
    error: np.ndarray  # (L): standard error of that mean
    theory: np.ndarray  # (L)
    best: float  # λ*
    measured_best: float  # where the measured curve is least
    best_risk: float  # at λ*
    local: float  # σ₀²/n, the risk without shrinkage

    def words(self) -> str:
        """Where the risk is least, and how much that saves."""
        return (
            f"Simulated, the risk is least at λ = {self.measured_best:.3f}. At λ* it is "
            f"{self.best_risk:.3g}, {100 * (1 - self.best_risk / self.local):.0f} % less than the "
            f"{self.local:.3g} of the local prototype alone."
        )


def simulate(sigma2: float, tau2: float, n: int, seed: int = 0) -> Simulation:
    """Draw prototypes and peer means from the model and measure the risk at every λ."""
    rng = generator(seed, "risk")
    own = rng.standard_normal((DRAWS, FEATURES)) * math.sqrt(sigma2 / n)
    peers = rng.standard_normal((DRAWS, FEATURES)) * math.sqrt(tau2)
    lam = np.linspace(0, 1, 21)
    a, b, both = (own * own).mean(1), (peers * peers).mean(1), (own * peers).mean(1)  # (D)
    each = np.outer(a, (1 - lam) ** 2) + np.outer(b, lam**2) + np.outer(both, 2 * lam * (1 - lam))
    bottom = (a + b - 2 * both).mean()
    measured_best = float(np.clip((a - both).mean() / bottom, 0, 1)) if bottom > 0 else 0.0
    best = best_weight(sigma2, tau2, n)
    return Simulation(
        lam,
        each.mean(0),
        each.std(0) / math.sqrt(DRAWS),
        risk(lam, sigma2, tau2, n),
        best,
        measured_best,
        float(risk(best, sigma2, tau2, n)),
        sigma2 / n,
    )


def inflation(uploads: Uploads, settings: Settings) -> Tensor:
    """Variance of every held class's global prototype by the model, in units of the least, (C').

    Of all weighted means Σ ω p / Σ ω the one with ω = n has the least variance, σ₀² / Σ n. So the
    ratio is Σ n · Σ ω²/n / (Σ ω)², 1 without shrinkage and never less.
    """
    n, omega = uploads.counts.double(), mixture(uploads, settings)[1].double()
    held = uploads.label.unique()
    sums = torch.zeros(3, uploads.classes, dtype=torch.float64, device=n.device)
    sums.index_add_(1, uploads.label, torch.stack([n, omega * omega / n, omega]))
    total, square, weight = sums[:, held]
    return total * square / (weight * weight)


def inflation_words(result: Result) -> str:
    """What the proposition leaves out, the averaging over clients, with this run's figures."""
    settings = result.settings
    plain = replace(settings, shrinkage=False, count_weights=False)
    now, alike = inflation(result.uploads, settings), inflation(result.uploads, plain)
    return (
        "The proposition is about one client's prototype. SPEAR then averages over the clients, "
        "and by the same model the mean weighted by counts, without shrinkage, has the least "
        f"variance of all weighted means. On {settings.dataset} the global prototypes have "
        f"{float(now.mean()):.3f} times that variance with the present settings (worst class "
        f"{float(now.max()):.3f}); a plain mean of the clients has {float(alike.mean()):.2f} times."
    )


def class_errors(estimate: Estimate, centroids: Tensor) -> dict[str, list]:
    """Cosine distance to the true centroid, a row for every held class that has a centroid.

    `local` and `shrunk` are means over the clients that hold the class, `mean` is the plain mean
    of the clients, `spear` the global prototype.
    """
    up = estimate.uploads
    held = (estimate.seen & (centroids.abs().sum(1) > 0)).nonzero().squeeze(1)
    holders = torch.bincount(up.label, minlength=up.classes).clamp_min(1)

    def far(rows: Tensor, label: Tensor) -> Tensor:
        return 1 - torch.nn.functional.cosine_similarity(rows, centroids[label], dim=1, eps=1e-30)

    def by_class(values: Tensor) -> Tensor:
        total = torch.zeros(up.classes, device=values.device).index_add_(0, up.label, values)
        return (total / holders)[held]

    ones = torch.ones(len(up.label), device=up.label.device)
    errors = {
        "local": by_class(far(up.prototypes, up.label)),
        "shrunk": by_class(far(estimate.shrunk, up.label)),
        "mean": far(up.combine(ones)[held], held),
        "spear": far(estimate.prototypes[held], held),
    }
    return {"class": held.tolist()} | {name: e.tolist() for name, e in errors.items()}


def error_table(result: Result) -> dict[str, list]:
    """Mean errors over the classes in both readings, beside the printed ones, as text."""
    stages = ("local", "shrunk", "mean", "spear")
    table: dict[str, list] = {name: [] for name in ("", "local", "shrunk", "plain mean", "global")}

    def add(name: str, values: dict[str, Any], form: str = ".4f") -> None:
        cells = [format(values[s], form) if values.get(s) is not None else "–" for s in stages]
        for column, cell in zip(table.values(), [name, *cells], strict=True):
            column.append("0.0000" if cell in ("-0.0000", "+0.0000") else cell.replace("-", "−"))

    for reading, where, printed in (
        (TEST, "main text", PRINTED_TEXT),
        (EVERY, "appendix", PRINTED),
    ):
        errors = class_errors(result.estimate, _centroids(result, reading))
        if not errors["class"]:
            continue
        ours = {stage: sum(errors[stage]) / len(errors["class"]) for stage in stages}
        add(f"here, {reading}", ours)
        if result.settings.dataset in printed:
            row = printed[result.settings.dataset]
            theirs = dict(zip(("local", "mean", "spear"), row, strict=True))
            add(f"printed, {where}", theirs)
            add("difference", {s: ours[s] - v for s, v in theirs.items() if v is not None}, "+.4f")
    return table


@dataclass(frozen=True)
class Slope:
    """The line log error = intercept + slope · log n, with the 95 % interval of its slope."""

    slope: float
    low: float
    high: float
    intercept: float


def fit_slope(n: np.ndarray, error: np.ndarray) -> Slope | None:
    """Least squares on logarithms; None with fewer than three different counts."""
    good = error > 0
    x, y = np.log(n[good]), np.log(error[good])
    if len(np.unique(x)) < 3:
        return None
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    rest = y - y.mean() - slope * centred
    free = len(x) - 2
    width = stdtrit(free, 0.975) * math.sqrt(rest @ rest / free / (centred @ centred))
    return Slope(slope, slope - width, slope + width, float(y.mean() - slope * x.mean()))


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
    """Errors of the local prototypes and of their peer means to the true centroids."""
    up, estimate = result.uploads, result.estimate
    centroids = _centroids(result, reading)
    n = up.counts.double()
    inverse = torch.zeros(up.classes, dtype=n.dtype, device=n.device)
    inverse.index_add_(0, up.label, 1 / n)
    holders = _holders(up)
    if estimate.peer_share is None:
        factor = (inverse[up.label] - 1 / n) / (holders - 1).clamp_min(1) ** 2
    else:
        factor = estimate.peer_share.double() ** 2 @ (1 / n)
    there = (centroids.abs().sum(1) > 0)[up.label]  # a class without nodes has no centroid

    def squared(rows: Tensor) -> Tensor:
        return (rows - centroids[up.label]).double().square().sum(1)

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


def _centroids(result: Result, reading: str) -> Tensor:
    return result.metrics.centroids if reading == TEST else result.metrics.centroids_all


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
    if low <= seen.gamma <= high:
        return f"{inside}. The present γ = {seen.gamma:g} lies within."
    more = "less" if seen.gamma > high else "more"
    name = "∞" if math.isinf(seen.gamma) else f"{seen.gamma:g}"
    return f"{inside}. The present γ = {name} pulls {more} towards the peers than that."


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
