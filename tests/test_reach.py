"""The reach of rounding, by which near ties are found, measured again on real and made graphs.

A reach is how far rounding may move the difference of two scores. It is to be over three times the
most that is measured here, and not so much more that it has nothing to do with rounding.
"""

from dataclasses import replace

import pytest

from spear_core import Settings, classify, estimate, grid, load, split, upload
from spear_core.classify import PROTOTYPES, SCORES, layout
from spear_core.exact import SMALLEST, exact_scores, unit
from spear_core.grids import by_features
from spear_core.propagate import propagate
from tests.conftest import need

MOST, LEAST = 1 / 3, 1 / 300  # of a reach
WIDE = Settings(dataset="synthetic", nodes=20_000, features=128, classes=10, degree=14)
NOISY = replace(WIDE, features=16, classes=5, degree=60, homophily=0.2)  # sums nearly cancel out
GRAPHS = {"digits": Settings(), "wide": WIDE, "noisy": NOISY} | {
    name: Settings(dataset=name) for name in ("Cora", "CiteSeer", "Computers", "Coauthor-CS")
}
SLOW = ("wide", "CiteSeer", "Computers", "Coauthor-CS")
POINTS = ((0.03, 0.0, 5), (0.99, 0.0, 20))  # α, γ, T: where most was measured


def moved(rounded, exact):
    """How far rounding moved the difference of any two scores of a node, (M)."""
    error = rounded - exact
    return error.amax(1) - error.amin(1)


def each(*names):
    marked = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in names]
    return pytest.mark.parametrize("name", marked)


@each(*GRAPHS)
def test_of_a_single_run(name):
    """Of its scores as a part of the best, and of its prototypes' products with z as one of ‖z‖."""
    settings, shares = GRAPHS[name], []
    if settings.dataset not in ("digits", "synthetic"):
        need(name)
    graph = load(settings)
    partition, kind, nodes = split(graph, settings), layout(graph), graph.test_nodes
    for alpha, gamma, steps in POINTS:
        point = replace(settings, alpha=alpha, gamma=gamma, steps=steps)
        made = estimate(upload(partition, point), point)
        seen = made.seen.nonzero().squeeze(1)
        right = exact_scores(graph, made.exact(seen), alpha, steps)[nodes]
        scores = classify(graph, made, point).scores[:, seen].double()
        reach = SCORES[kind] * scores.amax(1).clamp_min(SMALLEST)
        shares.append([float((moved(scores, right) / reach).max())])
        if name == "Coauthor-CS":  # its smoothed features are 500 MB
            continue
        x = graph.features.to_dense() if kind == "sparse" else graph.features
        length = propagate(graph.operator, x, alpha, steps)[nodes].norm(dim=1).double()
        reach = PROTOTYPES[kind] * length.clamp_min(SMALLEST)
        given = exact_scores(graph, unit(made.prototypes[seen]), alpha, steps)[nodes]
        shares[-1].append(float((moved(given, right) / reach).max()))
    for reach in zip(*shares, strict=True):
        assert LEAST < max(reach) < MOST, shares


@each("digits", "noisy", "wide")
def test_of_a_grid(monkeypatch, name):
    """The scores that a grid makes itself, beside those of the estimates it makes them from."""
    settings, graph, shares = GRAPHS[name], load(GRAPHS[name]), []
    scored, made, winners, estimated = [], [], by_features.winners, by_features.estimate
    monkeypatch.setattr(
        by_features, "winners", lambda *given: scored.append(given) or winners(*given)
    )
    monkeypatch.setattr(
        by_features, "estimate", lambda *given: made.append(estimated(*given)) or made[-1]
    )
    monkeypatch.setattr(by_features, "BLOCK", 10**9)  # all nodes at once
    for alpha, gamma, steps in POINTS:
        grid(settings, [alpha], [gamma, 0.5, 2.0], [steps])
        ((scores, least, seen),) = scored
        scores, reach = scores[0, :, 0].t().double(), scores.amax(1)[0, 0] - least[0, 0]
        right = exact_scores(graph, made[0].exact(seen), alpha, steps)[graph.test_nodes]
        shares.append(float((moved(scores, right) / reach).max()))
        scored.clear()
        made.clear()
    assert LEAST < max(shares) < MOST, shares
