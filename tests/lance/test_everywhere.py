"""Every head with attacks, defences and noise; sweeps over LANCE's settings are single runs."""

from dataclasses import replace

import pytest
import torch

from spear_core import Settings, run
from spear_core.settings import choices
from spear_core.sweeps import sweep
from tests.conftest import random_graph

HEADS = {
    "gated cosine": {"smoothing": "gated", "gate": 0.0},
    "rank 0": {"head": "ridge"},
    "rank 2": {"smoothing": "gated", "gate": 0.0, "head": "ridge", "sketch": 2},
    "exact": {"head": "ridge", "sketch": float("inf"), "sketch_cap": False},
}
TROUBLE = (
    *({"attacker_count": 1, "flip": one} for one in choices("flip") if one != "none"),
    *({"attacker_count": 1, "forge": one} for one in choices("forge") if one != "none"),
    {"feature_noise": 0.5},
    {"edge_noise": 0.3},
    {"epsilon": 5.0},
)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("defence", choices("defence"))
def test_every_head_stands_whatever_happens(head, defence):
    graph = random_graph(7)
    for trouble in TROUBLE:
        s = Settings(clients=4, defence=defence, **HEADS[head], **trouble)
        found = run(s, graph)
        assert not torch.isnan(found.prediction.scores).any(), trouble
        assert found.metrics.accuracy is not None
        again = run(s, random_graph(7))
        assert torch.equal(found.prediction.labels, again.prediction.labels), trouble


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("head", ["cosine", "ridge"]),
        ("smoothing", ["fixed", "gated"]),
        ("sketch", [0, 2, float("inf")]),
        ("gate", [-1.0, 0.0, 1.0]),
        ("gate_alpha", [0.3, 0.8]),
        ("gate_steps", [1, 5]),
        ("test_alpha", [-1.0, 0.5]),
        ("test_steps", [-1, 3]),
        ("ridge", [0.1, 2.0]),
        ("sketch_cap", [True, False]),
    ],
)
def test_sweeps_over_the_new_settings_are_single_runs(name, values, tmp_path, monkeypatch):
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path))
    usual = {"smoothing": "gated", "gate": 0.0, "head": "ridge", "sketch": 2}
    s = Settings(dataset="karate", clients=3, **{k: v for k, v in usual.items() if k != name})
    table = sweep(s, **{name: values}, alpha=[0.1, 0.5])
    assert len(table) == 2 * len(values)
    for row in table.to_dict("records"):
        one = run(replace(s, alpha=row["alpha"], **{name: row[name]}))
        assert row["accuracy"] == one.metrics.accuracy
