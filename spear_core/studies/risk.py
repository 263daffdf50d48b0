"""Proposition 1 simulated, and what it leaves out.

The model: a client's prototype is the true centroid plus noise of variance σ₀²/n, its peer mean is
the centroid plus independent noise of variance τ². Then (1 - λ) own + λ peers has the risk
(1 - λ)² σ₀²/n + λ² τ², least at λ* = (σ₀²/n) / (σ₀²/n + τ²) = 1 / (1 + γn) with γ = τ²/σ₀².
Whether a real run is like that is asked in risk_check.py.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from spear_core.client import Uploads
from spear_core.randomness import generator
from spear_core.server import mixture
from spear_core.settings import Settings

FEATURES, DRAWS = 32, 200  # of the simulation


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
