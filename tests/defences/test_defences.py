"""What every defence of the table must do, and what it must never do."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Settings, estimate, run
from spear_core.defences import DEFENCES, defend, robust_mean
from tests.conftest import random_graph
from tests.defences.made import draw, one_class, sent


def test_without_a_defence_the_uploads_are_the_same_object():
    up = draw(0)
    assert defend(up, Settings(), None, (1, 2)) is up
    assert up.keep(torch.ones(len(up.client), dtype=torch.bool)) is up
    assert robust_mean(up, Settings()) is None
    result = run(Settings(dataset="karate", clients=3))
    assert result.uploads is result.sent


@pytest.mark.parametrize("defence", DEFENCES)
@given(seed=st.integers(0, 30), honest=st.booleans())
def test_no_defence_loses_a_class_or_makes_a_nan(defence, seed, honest):
    up = draw(seed, honest=honest)
    found = estimate(up, Settings(defence=defence), None, ())
    held = torch.zeros(up.classes, dtype=torch.bool)
    held[up.label] = True
    assert torch.equal(found.seen, held)
    assert torch.isfinite(found.prototypes).all()
    length = found.prototypes.norm(dim=1)
    assert torch.allclose(length, held.float(), atol=1e-5)


@pytest.mark.parametrize("defence", DEFENCES)
@given(seed=st.integers(0, 30))
def test_the_order_and_the_numbers_of_the_clients_do_not_matter(defence, seed):
    up = draw(seed)
    rng = np.random.default_rng(seed)
    renamed = torch.as_tensor(rng.permutation(up.clients))
    order = torch.as_tensor(rng.permutation(len(up.client)))
    other = up.replace(
        client=renamed[up.client][order],
        label=up.label[order],
        counts=up.counts[order],
        prototypes=up.prototypes[order],
    )
    settings = Settings(defence=defence)
    a = estimate(up, settings, None, (0,)).prototypes
    b = estimate(other, settings, None, (int(renamed[0]),)).prototypes
    assert torch.allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("defence", [d for d in DEFENCES if d != "oracle"])
def test_lone_holders_and_copies_are_left_as_they_are(defence):
    settings = Settings(defence=defence)
    lone = sent([(0, 0, 5, [0.6, 0.8]), (1, 1, 700, [1.0, 0])])
    assert torch.allclose(estimate(lone, settings).prototypes, torch.tensor([[0.6, 0.8], [1.0, 0]]))
    copies = one_class([3, 3, 900, 3], [[0.6, 0.8]] * 4)
    assert torch.allclose(estimate(copies, settings).prototypes, torch.tensor([[0.6, 0.8]]))
    single = sent([(0, 0, 2, [1.0, 0]), (0, 1, 9, [0, 1.0])])
    assert torch.equal(estimate(single, settings).prototypes, torch.eye(2))


@pytest.mark.parametrize("defence", DEFENCES)
def test_nothing_sent_and_nothing_counted(defence):
    settings = Settings(defence=defence)
    empty = draw(0).keep(torch.zeros(len(draw(0).client), dtype=torch.bool))
    found = estimate(empty, settings, random_graph(0), (1,))
    assert not found.seen.any()
    assert torch.isfinite(found.prototypes).all()
    uncounted = draw(1).replace(counts=torch.zeros_like(draw(1).counts))
    assert torch.isfinite(estimate(uncounted, settings).prototypes).all()


@pytest.mark.parametrize("defence", DEFENCES)
@pytest.mark.parametrize("liars", [0, 3])
def test_every_defence_runs_the_whole_line(defence, liars):
    settings = Settings(dataset="karate", clients=5, attacker_count=liars, defence=defence)
    result = run(settings)
    assert torch.isfinite(result.estimate.prototypes).all()
    assert 0 <= result.metrics.accuracy <= 1
