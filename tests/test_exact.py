"""Where two classes tie, or nearly, a run and a grid both give the winner of exact arithmetic."""

import math
from dataclasses import replace

import pytest
import torch

from spear_core import Settings, grid, make_graph, run
from spear_core.classify import MANY
from spear_core.exact import first_of_best
from spear_core.grids import by_features

ALPHAS, GAMMAS, STEPS = (0.0, 0.05, 0.3, 0.9), (0.0, 0.5, math.inf), (0, 1, 3, 5)
HALF, SIDE = 4, 60  # features and nodes of a class


def mirrored(dense: bool, tilt: float, middle: int, seed: int = 1):
    """Two classes that are each other's mirror image, and nodes in the middle between them.

    Swapping the halves of the features swaps the classes, so that a middle node's two scores are
    equal, but their terms are added in another order. `tilt` is added to its second half.
    """
    rng = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, HALF, (SIDE,), generator=rng)
    order = torch.randperm(SIDE, generator=rng)  # mirror nodes stand in another order
    x = torch.zeros(2 * SIDE + middle, 2 * HALF)
    x[torch.arange(SIDE), kind] = 1
    x[SIDE + order, HALF + kind] = 1
    between = torch.randint(0, HALF, (middle,), generator=rng)
    rows = 2 * SIDE + torch.arange(middle)
    x[rows, between] = 1
    x[rows, HALF + between] = 1 + tilt
    if dense:
        x += 1
    a, b = torch.randint(0, SIDE, (2, 3 * SIDE), generator=rng)
    left = torch.stack([a, b])
    right = SIDE + torch.stack([order[a], order[b]])
    end = torch.randint(0, SIDE, (middle,), generator=rng)
    links = torch.stack([rows.repeat(2), torch.cat([end, SIDE + order[end]])])
    edges = torch.cat([left, right, links], dim=1)
    test = torch.zeros(len(x), dtype=torch.bool)
    test[rows] = True
    y = torch.cat([torch.zeros(SIDE), torch.ones(SIDE), torch.zeros(middle)]).long()
    return make_graph(x, torch.cat([edges, edges.flip(0)], dim=1), y, ~test, test=test)


@pytest.mark.parametrize("middle", [7, MANY + 20])
@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize(("tilt", "wins"), [(0, 0), (2**-20, 1), (-(2**-20), 0)])
def test_planted_ties(dense, middle, tilt, wins):
    """The first class where both are equal, else the one a millionth nearer, at every point."""
    graph = mirrored(dense, tilt, middle)
    settings = Settings(clients=1)
    whole = grid(settings, ALPHAS, GAMMAS, STEPS, graph)
    assert bool((whole.labels == wins).all())
    for alpha in ALPHAS:
        for steps in STEPS:
            one = run(replace(settings, alpha=alpha, steps=steps), graph)
            assert bool((one.prediction.labels == wins).all()), (alpha, steps)


def test_ties_in_every_block_of_nodes(monkeypatch):
    """What is settled goes to its own node, whichever block of nodes it was scored in."""
    monkeypatch.setattr(by_features, "BLOCK", 3 * 2 * len(GAMMAS))  # three nodes at a time
    graph = mirrored(True, 2**-20, 7)
    assert bool((grid(Settings(clients=1), ALPHAS, GAMMAS, STEPS, graph).labels == 1).all())


def test_many_clients_break_the_mirror_alike():
    """With the classes spread unevenly nobody knows the winner beforehand; both say the same."""
    for seed in range(3):
        graph = mirrored(seed % 2 == 0, 0, 20, seed)
        settings = Settings(clients=3, beta=5.0)
        whole = grid(settings, ALPHAS, GAMMAS, STEPS, graph)
        for i, alpha in enumerate(ALPHAS):
            for j, gamma in enumerate(GAMMAS):
                for k, steps in enumerate(STEPS):
                    point = replace(settings, alpha=alpha, gamma=gamma, steps=steps)
                    assert torch.equal(run(point, graph).prediction.labels, whole.labels[i, j, k])


def test_the_first_of_equals_wins():
    scores = [[0.5, 0.5 + 1e-15, 0.1], [-math.inf, 0.2, 0.3], [0.3, 0.3 + 1e-9, -math.inf]]
    assert first_of_best(torch.tensor(scores, dtype=torch.float64)).tolist() == [0, 2, 1]
