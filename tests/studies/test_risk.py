"""Proposition 1 and its model: by hand, on draws from the model, and on real graphs."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Partition, Settings, make_graph, run, run_on
from spear_core.explain.risk import held, inflated
from spear_core.measures.prototype_error import EVERY, TEST, class_errors, prototype_errors
from spear_core.paper.errors import error_table
from spear_core.studies.risk import best_weight, inflation, risk, simulate
from spear_core.studies.risk_check import check
from spear_core.studies.slope import fit_slope
from tests.conftest import need

RIGHT, UP = [1.0, 0.0], [0.0, 1.0]


def result(x, y, owner, train, **changes):
    """A run without smoothing on nodes given by hand; nodes outside training are tested."""
    train = torch.tensor(train, dtype=torch.bool)
    graph = make_graph(
        torch.tensor(x), torch.zeros(2, 0, dtype=torch.int64), torch.tensor(y), train, test=~train
    )
    clients = max(owner) + 1
    settings = Settings(clients=clients, alpha=0, steps=0, **changes)
    return run_on(Partition(graph, torch.tensor(owner), clients), settings)


@pytest.fixture
def two():
    """Client 0 holds a right and an up node, client 1 a right one; the test node is up."""
    return result([RIGHT, UP, RIGHT, UP], [0, 0, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0])


def test_two_clients_by_hand(two):
    seen = check(two, TEST)  # means (½, ½) and (1, 0), centroid (0, 1)
    assert seen.n.tolist() == [2, 1]
    assert seen.error.tolist() == pytest.approx([0.5, 2.0])
    assert seen.peer_error.tolist() == pytest.approx([2.0, 0.5])
    assert seen.sigma2 == pytest.approx((2 * 0.5 + 1 * 2.0) / 2)
    assert seen.tau2 == pytest.approx(1.25)
    assert seen.gamma_hat == pytest.approx(1.25 / 1.5)
    assert seen.exact.tolist() == pytest.approx([1.5, 0.75])  # σ₀² over the other client's n
    assert check(two, EVERY).error.tolist() == pytest.approx([0.0, 0.5])  # centroid (½, ½)


def test_exact_peer_variance_of_three_holders():
    train = [1] * 7 + [0]
    three = result([RIGHT] * 7 + [UP], [0] * 8, [0, 1, 1, 2, 2, 2, 2, 0], train)
    expected = [(1 / 2 + 1 / 4) / 4, (1 + 1 / 4) / 4, (1 + 1 / 2) / 4]
    assert check(three).peer_factor.tolist() == pytest.approx(expected)
    half = result([RIGHT] * 7 + [UP], [0] * 8, [0, 1, 1, 2, 2, 2, 2, 0], train, peers="semantic")
    assert check(half).peer_factor.tolist() == pytest.approx([1 / 2, 1, 1])  # one peer each


@given(
    st.sampled_from([0.1, 1.0, 10.0]),
    st.sampled_from([0.01, 0.1, 0.5, 5.0]),
    st.sampled_from([1, 3, 10, 100]),
)
def test_simulated_risk_is_least_near_the_best_weight(sigma2, tau2, n):
    seen = simulate(sigma2, tau2, n)
    assert seen.measured_best == pytest.approx(seen.best, abs=0.03)
    assert (np.abs(seen.measured - seen.theory) < 5 * seen.error).all()
    assert seen.best_risk == pytest.approx(seen.local * tau2 / (seen.local + tau2))
    assert seen.best_risk < seen.local
    assert seen.best_risk <= risk(np.linspace(0, 1, 201), sigma2, tau2, n).min() + 1e-12
    assert seen.best == pytest.approx(1 / (1 + tau2 / sigma2 * n))


def test_perfect_peers_take_over():
    seen = simulate(1.0, 0.0, 5)
    assert (seen.best, seen.measured_best, seen.best_risk) == (1.0, 1.0, 0.0)
    assert best_weight(1, 0.5, 3) == pytest.approx(0.4)


@given(st.integers(0, 1000))
def test_slope_of_data_from_the_model_is_minus_one(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 200, size=60).astype(float)
    error = rng.chisquare(64, size=60) / 64 * 0.8 / n
    line = fit_slope(n, error)
    assert line.slope == pytest.approx(-1, abs=0.1)
    assert line.low < line.slope < line.high


def test_slope_of_an_exact_power():
    n = np.array([1.0, 2, 4, 8])
    line = fit_slope(n, 3 * n**-0.5)
    assert (line.slope, line.low, line.high) == pytest.approx((-0.5, -0.5, -0.5))
    assert math.exp(line.intercept) == pytest.approx(3)
    assert fit_slope(np.array([2.0, 2, 5]), np.array([1.0, 2, 1])) is None


def test_inflation_by_hand():
    plain = {"shrinkage": False, "count_weights": False}
    nodes = [RIGHT] * 4 + [UP], [0] * 5, [0, 1, 1, 1, 0], [1, 1, 1, 1, 0]
    mean = result(*nodes, **plain)
    assert inflation(mean.uploads, mean.settings).tolist() == pytest.approx([4 / 3])  # 4 (1 + ⅓)/2²
    pooled = replace(mean.settings, count_weights=True)
    assert inflation(mean.uploads, pooled).tolist() == pytest.approx([1.0])


@given(st.floats(0, 100), st.integers(0, 50))
def test_shrinkage_never_lowers_the_variance_of_the_global_prototype(gamma, seed):
    run_ = run(Settings(dataset="karate", clients=4, gamma=gamma, seed=seed))
    assert (inflation(run_.uploads, run_.settings) >= 1 - 1e-6).all()


@pytest.mark.parametrize("dataset", ["digits", "karate"])
def test_class_errors_average_to_the_measure(dataset):
    one = run(Settings(dataset=dataset, clients=3, beta=0.5))
    for centroids in (one.metrics.centroids, one.metrics.centroids_all):
        errors = class_errors(one.estimate, centroids)
        for stage, value in prototype_errors(one.estimate, centroids).items():
            assert np.mean(errors[stage]) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    "changes",
    [
        {"clients": 1},
        {"clients": 200, "beta": 1.0},
        {"gamma": "inf"},
        {"gamma": 0.0},
        {"peers": "semantic"},
        {"labels_per_class": 1},
        {"dataset": "karate", "clients": 3},
    ],
)
def test_nothing_is_ever_nan(changes):
    one = run(Settings(**changes))
    for reading in (TEST, EVERY):
        seen = check(one, reading)
        text = json.dumps([seen.table(), held(seen), error_table(one), inflated(one)])
        assert "nan" not in text.replace("nance", "").lower()
        assert "Infinity" not in text


def test_printed_errors_of_cora():
    need("Cora")
    table = error_table(run(Settings(dataset="Cora")))
    assert table[""][:3] == ["here, test nodes", "printed, main text", "difference"]
    assert (table["local"][0], table["global"][0]) == ("0.3217", "0.1997")
    assert (table["local"][2], table["global"][2]) == ("0.0000", "0.0000")
    assert table["global"][3:] == ["0.1582", "0.1580", "+0.0002"]


def test_model_on_cora():
    need("Cora")
    seen = check(run(Settings(dataset="Cora")))
    assert seen.slope.low < -1 < seen.slope.high
    assert 0.15 < seen.gamma_hat < 0.25
    exact, constant = seen.typical_miss
    assert exact < 1.2 < 1.8 < constant
    assert "pulls less" in held(seen)["gamma"]
