"""Where rows tell nothing of a row that is left out, the ridge head steps back."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spear_core import Partition, Settings, load, run, run_on, split, upload
from spear_core.lance import lance
from spear_core.lance.explicit import run_lance
from spear_core.lance.ridge import BELIEVED, Cells, solve, trust
from spear_core.server import LET_GO, UNTOLD
from tests.conftest import random_graph

EXACT = Settings(head="ridge", sketch=float("inf"), sketch_cap=False, clients=4)
KARATE = Settings(dataset="karate", clients=3, beta=10.0)


def solved(partition, s):
    up = upload(partition, s)
    return solve(Cells(up.prototypes, up.counts, up.label, up.client), up, up, s.ridge)


@settings(max_examples=25)
@given(seed=st.integers(0, 100), rank=st.sampled_from([0, 2, float("inf")]))
def test_the_slope_is_that_of_the_plain_way(seed, rank):
    graph = random_graph(seed)
    drawn = torch.Generator().manual_seed(seed)
    partition = Partition(graph, torch.randint(0, 4, (graph.num_nodes,), generator=drawn), 4)
    s = replace(EXACT, sketch=rank)
    plain = run_lance(partition, s)
    assert solved(partition, s).slope == pytest.approx(plain.slope, abs=1e-3)


@pytest.mark.parametrize("uneven", [False, True])
def test_it_is_what_leaving_out_every_row_gives(uneven):
    """One client whose rows have alike leverages, each left out in turn, against the formula."""
    drawn = torch.Generator().manual_seed(3)
    y = torch.arange(300) % 3 if not uneven else (torch.arange(300) % 6).clamp(max=2)
    x = torch.randn(300, 20, generator=drawn) + torch.eye(3, 20)[y] * 1.5
    graph = load(Settings(dataset="synthetic", nodes=300, features=20, classes=3))
    graph = graph.replace(x=x, y=y, train=torch.ones(300).bool())
    partition = Partition(graph, torch.zeros(300, dtype=torch.int64), 1)
    head = solved(partition, replace(EXACT, clients=1, alpha=0.0))
    z = graph.features.double()
    d = torch.nn.functional.one_hot(y).double()
    d -= d.mean(0)
    left, penalty = torch.empty_like(d), head.penalty * torch.eye(20).double()
    for i in range(300):
        rest = torch.arange(300) != i
        a = z[rest] - z[rest].mean(0)
        w = torch.linalg.solve(a.t() @ a + penalty, a.t() @ d[rest])
        left[i] = (z[i] - z[rest].mean(0)) @ w + d[rest].mean(0)
    assert head.slope == pytest.approx(float((d * left).sum() / (left * left).sum()), rel=0.03)


def test_rows_that_share_no_feature_leave_the_answer_to_the_cosine():
    for seed in (42, 0, 1):
        s = replace(KARATE, seed=seed)
        ours, cosine = run(lance(s)), run(replace(s, smoothing="gated"))
        assert ours.estimate.ridge is None
        assert torch.equal(ours.prediction.labels, cosine.prediction.labels)
        assert UNTOLD in ours.notes
        assert not {UNTOLD, LET_GO} & set(cosine.notes)


def test_clear_classes_are_believed():
    result = run(lance(Settings(dataset="digits")))
    assert result.estimate.ridge.slope == pytest.approx(1, abs=0.2)
    assert UNTOLD not in result.notes


def test_chance_makes_w_small():
    """Labels drawn anew: what fits them in one half of the rows tells little of the other."""
    s = lance(Settings(dataset="digits"))
    graph = load(s)
    chance = torch.randint(0, 10, graph.y.shape, generator=torch.Generator().manual_seed(0))
    graph = graph.replace(y=torch.where(graph.train, chance, graph.y))
    partition = split(graph, s)
    assert solved(partition, s).slope < BELIEVED
    assert (trust(0.0), trust(BELIEVED / 2), trust(2.0)) == (0, 0.5, 1)
    assert run_on(partition, s).metrics.accuracy is not None
