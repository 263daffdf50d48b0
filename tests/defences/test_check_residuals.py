"""What the server believes of one client's energy and sketch, and how those of several are one."""

import numpy as np
import pytest
import torch

from spear_core import Settings, upload
from spear_core.defences.check import check_one, join
from spear_core.partition import Partition
from tests.conftest import random_graph

CLIENTS, CLASSES, FEATURES = 4, 4, 6
GRAPH = random_graph(11, nodes=80)
S = Settings(clients=CLIENTS, head="ridge", sketch=2.0)
SENT = upload(Partition(GRAPH, torch.arange(80) % CLIENTS, CLIENTS), S)


def arrived(k=1, **changed):
    """What is kept of client k's upload with some of its parts changed."""
    rows, rest = SENT.client == k, SENT.residuals
    parts = {
        "labels": SENT.label[rows],
        "counts": SENT.counts[rows],
        "prototypes": SENT.prototypes[rows],
        "energy": rest.energy[k : k + 1],
        "sketch": rest.rows[rest.owner == k],
        "rank": 2.0,
    }
    shape = {"clients": CLIENTS, "classes": CLASSES, "features": FEATURES}
    return check_one(k, **{**parts, **shape, **changed})


def test_all_clients_together_are_the_upload():
    parts = [arrived(k) for k in reversed(range(CLIENTS))]
    assert all(rejected == () for _, rejected in parts)
    together = join([kept for kept, _ in parts])
    for name in ("energy", "rows", "owner"):
        assert torch.equal(getattr(together.residuals, name), getattr(SENT.residuals, name))
    assert torch.equal(together.prototypes, SENT.prototypes)
    assert join([arrived(k, energy=None)[0] for k in range(CLIENTS)]).residuals is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rank": 1.0}, "its sketch has 2 rows and the run asks for at most 1"),
        ({"sketch": np.zeros((2, 5))}, "have the shape"),
        ({"sketch": "rows"}, "its sketch rows are not numbers"),
        ({"sketch": None}, "its sketch rows are not numbers"),
        ({"sketch": np.full((2, FEATURES), np.nan)}, "not finite"),
        ({"sketch": np.full((2, FEATURES), 5.0)}, "its energy cannot be true"),
        ({"energy": np.zeros(2)}, "its energies have the shape"),
        ({"energy": np.array([-3.0])}, "its energy cannot be true"),
        ({"energy": np.array([1e9])}, "its energy cannot be true"),
        ({"energy": np.array([np.nan])}, "not finite"),
        ({"sketch": np.zeros((10**3, FEATURES)), "rank": np.inf}, "leave room for"),
    ],
)
def test_what_cannot_be_true_costs_all_that_the_client_sent(changed, said):
    kept, rejected = arrived(**changed)
    assert len(kept.client) == 0
    assert said in rejected[0].reason
    assert rejected[0].client == 1
    assert rejected[0].label is None


def test_who_sends_no_row_sends_no_energy_and_no_count_means_none():
    none = {"labels": [], "counts": [], "prototypes": np.zeros((0, FEATURES))}
    none = {name: np.asarray(part, dtype=float) for name, part in none.items()}
    none["sketch"] = np.zeros((0, FEATURES))
    kept, rejected = arrived(**none, energy=np.zeros(0))
    assert rejected == ()
    assert kept.residuals.energy.tolist() == [0.0] * CLIENTS
    _, rejected = arrived(**none, energy=[1.0])
    assert "its energies have the shape (1,), not (0,)" in rejected[0].reason
    zero = {"labels": [0.0], "counts": [0.0], "prototypes": np.zeros((1, FEATURES))}
    for energy in (0.0, -1.0, np.nan, 1e300):
        kept, _ = arrived(**zero, energy=[energy], sketch=np.zeros((0, FEATURES)))
        assert kept.residuals.energy.tolist() == [0.0] * CLIENTS
