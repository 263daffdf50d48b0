"""Agreement: flipped labels are contradicted; where none can tell who lies, LANCE yields."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spear_core import Settings, estimate, run
from spear_core.client import Residuals
from spear_core.defences.agreement import agreement, dissent, judged, scored_by_others
from spear_core.lance import lance
from spear_core.lance.ridge import Cells, system
from tests.conftest import need
from tests.defences.made import sent


def world(liars=(), clients=10, classes=3, width=6, loud=1, every=True, seed=0):
    """Every client holds every class (or one of two), the liars under the next one's name."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(clients):
        for c in range(classes):
            if not every and c != k % classes:
                continue
            p = np.eye(classes, width)[c] * 0.8 + 0.05 * rng.standard_normal(width)
            lie = k in liars
            count = int(rng.integers(2, 9)) * (loud if lie else 1)
            rows.append((k, (c + lie) % classes, count, p.tolist()))
    up = sent(rows)
    n, p = up.counts.double(), up.prototypes.double()
    energy = torch.zeros(up.clients).double()
    energy.index_add_(0, up.client, n * (p.square().sum(1) + 0.1))
    owner = torch.arange(up.clients)
    rest = 0.2 * torch.as_tensor(rng.standard_normal((up.clients, width)), dtype=torch.float32)
    return up.replace(residuals=Residuals(energy, rest, owner))


@pytest.mark.parametrize("width", [6, 200])  # either form of the system is the smaller once
def test_scores_by_the_others_are_those_of_a_regression_without_the_client(width):
    up = world((1,), width=width)
    found = scored_by_others(up, up)
    s = system(Cells(up.prototypes, up.counts, up.label, up.client), up, up, 0.5)
    assert (len(s.a) <= width) == (width == 200)
    for k in range(up.clients):
        a, d = s.a[s.owner != k], s.d[s.owner != k]
        w = torch.linalg.solve(a.t() @ a + s.penalty * torch.eye(width).double(), a.t() @ d)
        mine = up.client == k
        said = (up.prototypes[mine].double() - s.mean) @ w + s.prior
        assert torch.allclose(found[mine], said, atol=1e-9)


def test_honest_clients_are_left_as_they_are():
    up = world()
    assert agreement(up) is up
    assert dissent(up, judged(up, up)[0]) == 0


@pytest.mark.parametrize("liars", [(2,), (0, 3), (1, 5, 6)])
@pytest.mark.parametrize("loud", [1, 100])
def test_whoever_flips_labels_is_left_out_however_loud(liars, loud):
    up = world(liars, loud=loud)
    kept = agreement(up)
    assert set(range(10)) - set(kept.client.tolist()) == set(liars)
    assert kept.residuals is not None


def test_the_sign_of_a_contradiction():
    up = world((4,))
    contradicted, shared = judged(up, up)
    assert contradicted[4] > 0
    assert (contradicted[torch.arange(10) != 4] < 0).all()
    assert shared == 1


def test_where_too_little_is_shared_the_cosine_decides():
    """Two clients a class: none can tell who of them lies, but something is wrong."""
    up = world((0,), clients=6, every=False)
    contradicted, shared = judged(up, up)
    assert contradicted.max() > 0
    assert shared < 0.9
    kept = agreement(up)
    assert kept.residuals is None
    assert len(kept.client) == len(up.client)
    assert estimate(up, replace(lance(Settings()), defence="agreement")).ridge is None
    assert estimate(up, lance(Settings())).ridge is not None


def test_a_class_that_nobody_else_holds_is_not_judged():
    up = world(clients=3, every=False)
    contradicted, shared = judged(up, up)
    assert contradicted.abs().max() == 0
    assert shared == 0
    assert agreement(up) is up


def test_it_judges_plain_messages_too():
    up = world((2, 7)).replace(residuals=None)
    assert set(range(10)) - set(agreement(up).client.tolist()) == {2, 7}


def test_on_cora_it_wins_back_what_flippers_took():
    need("Cora")
    s = lance(Settings(dataset="Cora", beta=1.0))
    lied = replace(s, attacker_count=3)
    clean = [run(replace(s, defence=d)).metrics.accuracy for d in ("none", "agreement")]
    assert clean[0] == clean[1]
    seeds = (42, 0, 1)
    bare, defended = (
        np.mean([run(replace(lied, seed=i, defence=d)).metrics.accuracy for i in seeds])
        for d in ("none", "agreement")
    )
    assert defended > bare + 0.05
