"""The least penalty: whatever clients claim, however weak the ridge, there is a regression."""

import pytest
import torch

from spear_core import Settings, run
from spear_core.client import LARGEST_COUNT, Residuals, Uploads
from spear_core.lance import ridge
from spear_core.lance.ridge import Cells, solve

CLIENTS, CLASSES, FEATURES = 6, 4, 30


def claimed(seed):
    """What a client with the largest counts and twenty equal, long rows makes of an estimate."""
    draw = torch.Generator().manual_seed(seed)
    label, client = torch.arange(CLASSES).repeat(CLIENTS), torch.arange(CLIENTS)
    client = client.repeat_interleave(CLASSES)
    rows = torch.rand(len(label), FEATURES, generator=draw)
    rows = torch.nn.functional.normalize(rows, dim=1)
    n = torch.randint(1, 50, (len(label),), generator=draw)
    n[:3] = LARGEST_COUNT
    sketch = 1000 * torch.rand(1, FEATURES, generator=draw).repeat(20, 1)
    energy = torch.zeros(CLIENTS, dtype=torch.float64)
    energy.index_add_(0, client, n.double() * rows.double().square().sum(1))
    rest = Residuals(energy, sketch, torch.zeros(20, dtype=torch.int64))
    rest = Residuals(energy + rest.lengths(), sketch, rest.owner)
    sent = Uploads(client, label, n, rows, CLIENTS, CLASSES, residuals=rest)
    return Cells(rows, n, label, client), sent


@pytest.mark.parametrize("kappa", [1e-300, 1e-9])
@pytest.mark.parametrize("seed", range(10))
def test_no_claim_leaves_the_server_without_an_answer(seed, kappa):
    cells, sent = claimed(seed)
    head = solve(cells, sent, sent, kappa)
    assert bool(torch.isfinite(head.w).all())
    assert head.penalty > 0


def test_the_weakest_ridge_that_a_link_may_ask_for_is_solved(monkeypatch):
    monkeypatch.setattr(ridge, "trust", lambda slope: 1.0)  # karate's rows share no feature
    weak = Settings(dataset="karate", clients=3, head="ridge", sketch="inf", ridge=1e-300)
    for inflate in (1.0, 1e6, 1e8):
        made = run(Settings(**weak.to_dict() | {"inflate": inflate, "attacker_count": 3}))
        assert bool(torch.isfinite(made.estimate.ridge.w).all())
