"""A client alone sends what it sends beside the others: its sketch depends on nobody else."""

import math

import pytest
import torch
from torch.nn.functional import normalize

from spear_core import Partition, Settings, upload
from spear_core.federation.files import client_graph
from spear_core.graph import Graph

SIZES = (1, 12, 39, 40, 41, 150, 7)  # of the clients: 40 rows are few at rank 8, the last has none


def many_sizes() -> Partition:
    """Clients with few training rows beside others with many, in dense random features."""
    drawn = torch.Generator().manual_seed(3)
    owner = torch.repeat_interleave(torch.arange(len(SIZES)), torch.tensor(SIZES))
    n = len(owner)
    edges = torch.randint(0, n, (2, 6 * n), generator=drawn)
    edges = torch.unique(torch.cat([edges, edges.flip(0)], dim=1), dim=1)
    train = owner < len(SIZES) - 1
    y = torch.randint(0, 3, (n,), generator=drawn)
    x = normalize(torch.rand(n, 60, generator=drawn), dim=1)
    none = torch.zeros(n, dtype=torch.bool)
    return Partition(Graph(x, edges, y, train, none, ~train, classes=3), owner, len(SIZES))


@pytest.mark.parametrize("rank", [0.0, 8.0, math.inf])
@pytest.mark.parametrize("capped", [True, False])
def test_its_sketch_and_its_energy_are_the_same(rank, capped):
    whole = many_sizes()
    s = Settings(clients=len(SIZES), head="ridge", sketch=rank, sketch_cap=capped)
    beside = upload(whole, s).residuals
    for k in range(len(SIZES)):
        own = client_graph(whole, k)
        alone = upload(Partition(own, torch.zeros(own.num_nodes, dtype=torch.int64), 1), s)
        mine = beside.rows[beside.owner == k].double()
        rows = alone.residuals.rows.double()
        assert rows.shape == mine.shape
        assert torch.allclose(rows.t() @ rows, mine.t() @ mine, atol=1e-5)
        assert torch.allclose(alone.residuals.energy[0], beside.energy[k], atol=1e-5)
