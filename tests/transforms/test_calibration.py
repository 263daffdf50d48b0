"""How much noise keeps a promise of (ε, δ): against integrals and the classic bound."""

import math
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from spear_core import Settings
from spear_core.transforms import calibration
from spear_core.transforms.calibration import gaussian_delta, gaussian_mu
from spear_core.transforms.privacy import COUNT_SHARE, noise

EPSILON = st.floats(1e-3, 1e3)
DELTA = st.floats(1e-12, 0.5)


@pytest.mark.parametrize(("epsilon", "mu"), [(1, 0.27), (0.1, 1), (5, 2), (20, 8), (0.01, 0.002)])
def test_delta_is_the_integral_it_stands_for(epsilon, mu):
    """δ = ∫ max(0, p - e^ε q) for the two Gaussians that one changed node tells apart."""
    start = epsilon / mu + mu / 2  # from here on p is above e^ε q
    above, _ = quad(
        lambda x: norm.pdf(x, mu) - math.exp(epsilon) * norm.pdf(x),
        *(start, start + 40),
        epsabs=1e-18,
    )
    assert gaussian_delta(epsilon, mu) == pytest.approx(above, rel=1e-6)


@given(EPSILON, DELTA)
def test_mu_is_the_largest_that_keeps_the_promise(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert delta * (1 - 1e-6) <= gaussian_delta(epsilon, mu) <= delta
    assert gaussian_delta(epsilon, 1.001 * mu) > delta


@given(st.floats(1e-3, 1.0), st.floats(1e-12, 0.1))
def test_less_noise_than_the_classic_bound(epsilon, delta):
    assert 1 / gaussian_mu(epsilon, delta) < math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@pytest.mark.parametrize("epsilon", [1e-6, 1e9, 1e300, 1e308, sys.float_info.max])
@pytest.mark.parametrize("delta", [1e-100, 1e-5, 0.999])
def test_extremes_end_at_once_and_keep_the_promise(epsilon, delta, monkeypatch):
    """A link asked for ε = 1e308 once, and the search went on for ever."""
    asked = []

    def counted(epsilon, mu):
        asked.append(mu)
        assert len(asked) < 200, "the search does not end"
        return gaussian_delta(epsilon, mu)

    monkeypatch.setattr(calibration, "gaussian_delta", counted)
    mu = gaussian_mu.__wrapped__(epsilon, delta)
    assert 0 < mu < math.inf
    assert gaussian_delta(min(epsilon, calibration.LARGEST), mu) <= delta


@given(EPSILON, DELTA, st.floats(0.1, 50), st.integers(1, 4000))
def test_sums_and_counts_share_one_budget(epsilon, delta, moved, features):
    s = Settings(epsilon=epsilon, delta=delta)
    width = noise(moved, features, s)
    spent = (moved / width.sums) ** 2 + 2 / width.counts**2
    assert spent == pytest.approx(gaussian_mu(epsilon, delta) ** 2)
    width = noise(moved, features, replace(s, mechanism="laplace"))
    spent = moved * math.sqrt(features) / width.sums + 2 / width.counts
    assert spent == pytest.approx(epsilon)
    assert 2 / width.counts == pytest.approx(COUNT_SHARE * epsilon)
