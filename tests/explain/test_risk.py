"""Proposition 1 in sentences, from numbers given by hand."""

import numpy as np
import pytest

from spear_core import Settings, run
from spear_core.explain.risk import held, inflated, simulated
from spear_core.measures.prototype_error import EVERY, TEST
from spear_core.studies.risk import inflation, simulate
from spear_core.studies.risk_check import Check

COUNTS = np.array([1.0, 2, 4, 8, 16, 32])


def seen(n, error, label=None, peer_error=None, gamma=0.5, reading=TEST):
    """A check of prototypes with these counts and errors; without peer errors nobody has peers."""
    n, error = np.array(n, dtype=float), np.array(error, dtype=float)
    return Check(
        client=np.arange(len(n)),
        label=np.zeros(len(n), dtype=int) if label is None else np.array(label),
        n=n,
        error=error,
        pulled=np.full(len(n), peer_error is not None),
        peer_error=np.zeros(len(n)) if peer_error is None else np.array(peer_error, dtype=float),
        peer_factor=1 / n,
        gamma=gamma,
        reading=reading,
    )


def test_two_counts_give_no_slope():
    words = held(seen([2, 1], [0.5, 2], peer_error=[2, 0.5]))
    assert "No slope can be fitted" in words["slope"]
    assert "there are 2" in words["slope"]
    assert "only one class has peers" in words["gamma"]


def test_nothing_to_fit_is_said():
    words = held(seen([1], [2]))
    assert "there is 1." in words["slope"]
    assert "there are no peers" in words["gamma"]
    assert "No class has two holders" in words["peers"]
    exact = held(seen([1, 1], [0, 0], peer_error=[0, 0]))
    assert "no variance to fit" in exact["gamma"]
    assert "there are none" in exact["slope"]


@pytest.mark.parametrize(
    ("error", "reading", "said"),
    [
        (1 / COUNTS, TEST, "It holds −1"),
        (COUNTS**-0.5, TEST, "falls more slowly than 1/n"),
        (COUNTS**-2, TEST, "falls faster than 1/n."),
        (COUNTS**-2, EVERY, "The client's own nodes are part of this centroid"),
        ([1, 5, 1, 5, 1, 5], TEST, "too few or too scattered points"),
    ],
)
def test_the_slope_is_called_by_its_interval(error, reading, said):
    slope = held(seen(COUNTS, error * np.array([1.01, 0.99] * 3), reading=reading))["slope"]
    assert said in slope
    assert "-" not in slope  # a minus, never a hyphen
    assert ("own nodes" in slope) == (reading == EVERY)


@pytest.mark.parametrize(
    ("gamma", "said"),
    [(1.5, "γ = 1.5 lies within"), (5.0, "pulls less"), (0.1, "pulls more")],
)
def test_the_present_gamma_beside_what_the_errors_ask_for(gamma, said):
    """σ₀² is 1 in both classes, τ² 1 in one and 2 in the other."""
    words = held(seen([1, 1, 1, 1], [1] * 4, [0, 0, 1, 1], [1, 1, 2, 2], gamma))
    assert "γ̂ = τ²/σ₀² = 1.5, between 1 and 2 when one class" in words["gamma"]
    assert said in words["gamma"]


def test_peer_means_beside_the_exact_variance_and_one_for_all():
    """σ₀² is 2, so the exact variances are 2 and 0.5; both peer means have them exactly."""
    words = held(seen([1, 4], [2, 0.5], peer_error=[2, 0.5]))["peers"]
    assert "runs from 0.5 to 2, a factor of 4, where the paper takes one τ² = 1.2 for all" in words
    assert "by a factor of 1.0 on a typical prototype, the constant by 2.0." in words


def test_perfect_peers_save_everything():
    said = simulated(simulate(1.0, 0.0, 5))
    assert "least at λ = 1.000" in said
    assert "At λ* it is 0, 100 % less than the 0.2 of" in said


def test_averaging_over_clients_is_told_with_this_runs_figures():
    one = run(Settings(dataset="karate", clients=3))
    now = inflation(one.uploads, one.settings)
    said = inflated(one)
    assert f"On karate the global prototypes have {float(now.mean()):.3f} times" in said
    assert f"(worst class {float(now.max()):.3f})" in said
