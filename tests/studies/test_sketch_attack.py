"""What a sketch gives away: small cases on paper and brute force."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spear_core import Settings, make_graph, run, run_on
from spear_core.explicit import dense_features, smooth
from spear_core.lance import lance
from spear_core.partition import Partition
from spear_core.studies.exposure import exposure, groups, roc_area
from spear_core.studies.sketch_attack import revealed
from tests.conftest import random_graph

ALL = Settings(alpha=0, head="ridge", sketch=float("inf"), sketch_cap=False)


def two_and_one() -> Partition:
    """A client with two nodes of one class and one of another, and two that nobody labelled."""
    x = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0, 0.8], [0, 0.6, 0.8]])
    y, train = torch.tensor([0, 0, 1, 0, 1]), torch.tensor([1, 1, 1, 0, 0]).bool()
    graph = make_graph(x, torch.zeros(2, 0, dtype=torch.int64), y, train, name="paper")
    return Partition(graph, torch.zeros(5, dtype=torch.int64), 1)


def test_a_cell_of_two_nodes_is_both_of_them_and_the_cap_prevents_it():
    """n = 3 and two cells: one row, R = ±(x₀ − x₁) / √2, so p ± R / √2 are x₀ and x₁."""
    found = revealed(run_on(two_and_one(), ALL))
    assert (found.rows, found.whole, found.exact) == (3, 3, 3)
    assert (found.found, found.named) == (3, 3)
    capped = revealed(run_on(two_and_one(), replace(ALL, sketch_cap=True)))
    assert (capped.whole, capped.exact) == (0, 1)  # the cell of one node is that node
    assert capped == revealed(run_on(two_and_one(), replace(ALL, sketch=0)))


def test_without_a_sketch_it_is_the_membership_of_the_means():
    for s in (Settings(), lance(Settings()), Settings(epsilon=100, head="ridge", sketch=8)):
        result = run(s)
        found = revealed(result)
        assert found.means == pytest.approx(exposure(result).membership, abs=1e-6)
        if result.sent.residuals is None or not len(result.sent.residuals.rows):
            assert (found.sketch, found.both) == (0.5, found.means)


def test_noise_refuses_the_sketch_so_nothing_more_is_given_away():
    private = Settings(epsilon=10, head="ridge")
    assert revealed(run(private)) == revealed(run(replace(private, sketch=8)))


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_equal_to_brute_force(alpha):
    """Distances to p + span R by least squares, of dense rows smoothed client by client."""
    graph = random_graph(3, False)
    owner = torch.arange(graph.num_nodes) % 2
    result = run_on(Partition(graph, owner, 2), replace(ALL, alpha=alpha, sketch=3.0))
    x, sent = dense_features(graph), result.sent
    within = owner[graph.edge_index[0]] == owner[graph.edge_index[1]]
    areas, weights = [], []
    for rows in (x, smooth(x, graph.edge_index[:, within], alpha, result.settings.steps)):
        areas.append([])
        for (k, c), p in zip(sent.pairs, sent.prototypes.double(), strict=True):
            sketch = sent.residuals.rows[sent.residuals.owner == k].double().numpy()
            nodes = groups(result)[k, c]
            off = (rows[nodes].double() - p).numpy()
            left = off - off @ np.linalg.pinv(sketch) @ sketch
            share = 1 - (left**2).sum(1) / (off**2).sum(1)
            member = graph.train[nodes].numpy()
            scores = [-(off**2).sum(1), share, -(left**2).sum(1)]
            areas[-1].append([roc_area(s.round(7)[member], s.round(7)[~member]) for s in scores])
            weights.append(int(member.sum()))
    table = np.concatenate([np.array(one) for one in areas], axis=1)
    known = ~np.isnan(table).any(axis=1)
    expected = np.average(table[known], axis=0, weights=np.array(weights[: len(table)])[known])
    found = revealed(result)
    got = [found.means, found.sketch, found.both]
    got += [found.means_edges, found.sketch_edges, found.both_edges]
    assert got == pytest.approx(expected.tolist(), abs=0.02)
