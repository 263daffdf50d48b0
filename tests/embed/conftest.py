"""What the tests of maps share."""

import pytest

from spear_core.embed import maps


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch, tmp_path_factory):
    """Every test starts without maps in memory; those on disk are its own."""
    maps._previews.clear()
    maps.fitted_maps.clear()
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path_factory.mktemp("maps")))


def explicit(graph, alpha, steps):
    """Z by the formula, dense."""
    x = graph.features.to_dense() if graph.features.is_sparse_csr else graph.features
    z = x
    for _ in range(steps):
        z = (1 - alpha) * x + alpha * (graph.operator.to_dense() @ z)
    return z


def pretend(first, say, pause):
    """Stands for the slow fit where it does not matter."""
    return maps._finished(first, first.xy.numpy() + 1, first.lengths.numpy(), first.hollow_below)
