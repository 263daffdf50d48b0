"""Consensus on many nodes and uploads: the votes by their formula, in bounded room."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from spear_core import Settings, Uploads, propagate, run
from spear_core.defences import consensus
from spear_core.defences.caps import median_cap

LYING = Settings(beta=1.0, attacker_count=3)


class Largest(TorchDispatchMode):
    """Remembers how many numbers the largest tensor had that was made."""

    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for one in out if isinstance(out, (list, tuple)) else [out]:
            if isinstance(one, torch.Tensor) and one.layout == torch.strided:
                self.numbers = max(self.numbers, one.numel())
        return out


def by_pairs(uploads, weight, graph):
    """The votes as a sum over all pairs of uploads."""
    unit = torch.nn.functional.normalize(uploads.prototypes, dim=1)
    scores = propagate.propagate(
        graph.operator, graph.project(unit), consensus.ALPHA, consensus.STEPS
    )
    scores = torch.nn.functional.normalize(scores.double() - scores.double().mean(0), dim=0)
    by_class = torch.stack([scores[:, rows].mean(1) for rows in uploads.by_class()])
    scores = torch.nn.functional.normalize(scores - by_class.mean(0)[:, None], dim=0)
    others = len(by_class) - 1
    found = torch.zeros(uploads.clients, uploads.clients, dtype=torch.float64)
    total = torch.zeros(uploads.clients, dtype=torch.float64)
    total.index_add_(0, uploads.client, weight.double())
    for i, (k, c) in enumerate(zip(uploads.client, uploads.label, strict=True)):
        for j, (o, d) in enumerate(zip(uploads.client, uploads.label, strict=True)):
            voice = (weight[i] * weight[j] / total[k] / total[o]).sqrt()
            sign = 1 if c == d else -1 / others
            found[k, o] += sign * voice * (scores[:, i] @ scores[:, j])
    return found.fill_diagonal_(0)


def looks(result):
    """What the uploads of a run look like on its graph."""
    return consensus.looks(result.uploads, result.graph)


@pytest.mark.parametrize(
    "settings", [LYING, Settings(dataset="karate", clients=3)], ids=["digits", "karate"]
)
def test_votes_are_the_sum_over_all_pairs(settings):
    result = run(settings)
    weight = median_cap(result.uploads)
    found = consensus.votes(result.uploads, weight, looks(result))
    expected = by_pairs(result.uploads, weight, result.graph)
    assert torch.allclose(found, expected, atol=1e-6)


def test_a_quarter_of_the_nodes_finds_the_same_liars(monkeypatch):
    result = run(LYING)
    up, weight = result.uploads, median_cap(result.uploads)
    whole = consensus.votes(up, weight, looks(result))
    monkeypatch.setattr(consensus, "ROOM", len(up.client) * result.graph.num_nodes // 4)
    some = consensus.votes(up, weight, looks(result))
    assert not torch.equal(some, whole)
    assert (some - whole).abs().max() < 0.1
    kept = consensus.borne_out(up, weight, result.graph)
    assert set(up.client[~kept].tolist()) == set(result.attackers)


def test_no_tensor_has_a_number_for_every_node_and_upload(monkeypatch):
    graph = run(Settings()).graph  # 1,797 nodes of 64 numbers
    clients, classes, many = 60, 10, 600
    client = torch.arange(many) // classes
    up = Uploads(
        client,
        torch.arange(many) % classes,
        torch.ones(many, dtype=torch.int64),
        torch.rand(many, 64, generator=torch.Generator().manual_seed(0)),
        clients,
        classes,
    )
    graph.operator  # noqa: B018  made once and kept
    monkeypatch.setattr(consensus, "ROOM", 120_000)
    monkeypatch.setattr(propagate, "CACHE_BYTES", 4 * 120_000)
    with Largest() as made:
        consensus.borne_out(up, torch.ones(many), graph)
        scores = consensus.looks(up, graph)
        consensus.fits(up, torch.ones(many), scores, torch.ones(clients, dtype=torch.bool))
    assert made.numbers <= 120_000 < many * many < graph.num_nodes * many
