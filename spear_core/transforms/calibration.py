"""How much noise (ε, δ) asks for: the analytic Gaussian mechanism and the Laplace mechanism.

A query whose answer moves by at most Δ when one node changes is released with noise. Gaussian noise
of standard deviation σ is described by μ = Δ/σ alone: μ is how far apart, in standard deviations,
the two answers lie that an onlooker has to tell apart.
"""

import math
from functools import lru_cache

from scipy.special import erfcx, ndtr, ndtri

LARGEST = 1e12  # a larger ε is taken for this one: rounding would spoil μ/2 - ε/μ, and σ is nil
STEPS = 64  # of either search; 20 and 41 were the most that any ε from 1e-6 on and any δ took


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The smallest δ for which Gaussian noise with μ = Δ/σ is (ε, δ)-private.

    δ = Φ(a) - e^ε Φ(b) with a = μ/2 - ε/μ and b = -μ/2 - ε/μ (Balle and Wang 2018, theorem 8).
    Since e^ε φ(b) = φ(a), the second term is φ(a) R(-b) with Mills' ratio R = (1 - Φ)/φ, which
    neither overflows for large ε nor loses its digits for small δ.

    >>> round(gaussian_delta(0.0, 1.0), 4)  # ε = 0: the total variation distance 2Φ(1/2) - 1
    0.3829
    """
    a, b = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi) if abs(a) < 1e3 else 0.0
    if a > 0:
        return float(ndtr(a) - density * _mills(-b))
    return max(0.0, density * (_mills(-a) - _mills(-b)))


@lru_cache(maxsize=1024)
def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest μ = Δ/σ that is (ε, δ)-private, from below: σ = Δ/μ is the least noise.

    >>> round(1 / gaussian_mu(1.0, 1e-5), 3)  # the classic bound √(2 ln(1.25/δ))/ε asks for 4.845
    3.731
    """
    epsilon = min(epsilon, LARGEST)
    # δ is at most Φ(a): where that is δ, μ is safe, and nearly the answer when ε is large
    q = -float(ndtri(delta))
    root = math.sqrt(q * q + 2 * epsilon)
    low = 2 * epsilon / (q + root) if q > 0 else root - q
    high = 2 * low
    for _ in range(STEPS):
        if gaussian_delta(epsilon, high) > delta:
            break
        low, high = high, 2 * high
    for _ in range(STEPS):
        if high - low <= 1e-12 * high:
            break
        middle = (low + high) / 2
        if gaussian_delta(epsilon, middle) <= delta:
            low = middle
        else:
            high = middle
    return low


def _mills(t: float) -> float:
    """(1 - Φ(t)) / φ(t) for t ≥ 0."""
    return math.sqrt(math.pi / 2) * float(erfcx(t / math.sqrt(2)))
