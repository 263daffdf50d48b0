"""The verdict: decided without a test label, paired on the same nodes, one plain recommendation."""

import json

import pytest
import torch

from spear_core import Settings, SpearError, load, make_graph
from spear_core.cli import main
from spear_core.verdict import GRID, USUAL, Verdict, _chosen, _paired, _share, setting_of, verdict
from spear_core.verdict.blind import blinded, dealt
from spear_core.verdict.leave_out import folds
from spear_core.verdict.table import line_of, markdown

SMALL = Settings(
    dataset="synthetic", nodes=300, classes=3, features=16, clients=4, beta=0.5, strength=1.0
)


def permuted(graph, seed=0):
    """The graph with the labels outside its training nodes dealt anew."""
    others = (~graph.train).nonzero().squeeze(1)
    y = graph.y.clone()
    order = torch.randperm(len(others), generator=torch.Generator().manual_seed(seed))
    y[others] = y[others[order]]
    assert not torch.equal(y, graph.y)
    return graph.replace(y=y)


@pytest.mark.parametrize("partition", ["dirichlet", "iid", "louvain"])
def test_it_is_the_same_when_test_labels_are_permuted(partition):
    settings = Settings(**SMALL.to_dict() | {"partition": partition})
    graph = load(settings)
    one = verdict(settings, graph).to_dict()
    other = verdict(settings, permuted(graph)).to_dict()
    assert one == other
    assert json.loads(json.dumps(one, allow_nan=False)) == one


def test_it_changes_with_a_training_label():
    graph = load(SMALL)
    y = graph.y.clone()
    y[graph.train_nodes[:20]] = (y[graph.train_nodes[:20]] + 1) % 3
    changed = graph.replace(y=y)
    assert verdict(SMALL, graph).to_dict() != verdict(SMALL, changed).to_dict()


def test_every_training_node_is_left_out_once():
    graph = blinded(load(SMALL))
    some = folds(dealt(graph, SMALL))
    nodes = torch.cat([fold.nodes for fold in some])
    assert torch.equal(nodes.sort().values, graph.train_nodes)
    for fold in some:
        held = fold.partition.graph
        assert not (held.train & held.test).any()
        assert torch.equal(held.test.nonzero().squeeze(1), fold.nodes)
        assert torch.equal(held.train | held.test, graph.train)
        assert set(held.y[held.train].tolist()) == {0, 1, 2}


def test_one_alone_in_its_class_is_never_left_out():
    y = torch.tensor([0, 0, 0, 1, 1, 2])
    train = torch.ones(6, dtype=torch.bool)
    edges = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    graph = make_graph(torch.eye(6), torch.cat([edges, edges.flip(0)], 1), y, train)
    some = folds(dealt(graph, Settings(clients=1)))
    assert sorted(torch.cat([fold.nodes for fold in some]).tolist()) == [0, 1, 2, 3, 4]
    lone = graph.replace(train=torch.tensor([True, False, False, True, False, True]))
    with pytest.raises(SpearError, match="none can be left out"):
        verdict(Settings(clients=1), lone)


def test_differences_are_paired():
    one = torch.tensor([True] * 80 + [False] * 20)
    other = torch.tensor([True] * 70 + [False] * 30)
    gap = _paired(one, other)
    assert gap.value == pytest.approx(0.1)
    assert gap.error < 0.05  # on the same nodes far less than of two samples
    assert gap.clear
    assert not _paired(one, one).clear
    assert _share(one).error == pytest.approx(0.04, abs=0.002)


def test_the_usual_point_stays_unless_another_is_clearly_better():
    right = {key: torch.tensor([True] * 60 + [False] * 40) for key in GRID}
    assert _chosen(right) == USUAL
    right["SPEAR", "none"] = torch.tensor([True] * 61 + [False] * 39)
    assert _chosen(right) == USUAL
    right["SPEAR", "none"] = torch.tensor([True] * 90 + [False] * 10)
    assert _chosen(right) == ("SPEAR", "none")


def test_what_is_said_follows_from_the_numbers():
    found = verdict(SMALL)
    words = " ".join(found.lines)
    assert found.lines[0].startswith(f"Take {found.best[0]} with ")
    assert "not known before FedAvg is run" in words
    known = {fact.name: fact for fact in found.facts}
    assert known["training_nodes"].value == found.left_out == 60
    assert ("Smoothing helps" in words) == (found.smoothing.clear and found.smoothing.value > 0)
    assert ("Shrinkage does not matter" in words) == (not found.shrinkage.clear)
    assert setting_of(found.best, SMALL) == found.recommended


def test_smoothing_is_advised_where_neighbours_are_alike_and_not_where_they_differ():
    alike = Settings(**SMALL.to_dict() | {"homophily": 0.95, "strength": 0.3, "nodes": 600})
    unlike = Settings(**SMALL.to_dict() | {"homophily": 0.05, "strength": 2.0, "nodes": 600})
    assert verdict(alike).smoothing.value > 0.05
    against: Verdict = verdict(unlike)
    assert against.grid["SPEAR", "none"].value > against.grid["SPEAR", "strong"].value


def test_one_large_column_is_warned_of():
    graph = load(SMALL)
    x = graph.x.clone()
    x[:, 0] = 1e6
    assert any("Mind the scale" in line for line in verdict(SMALL, graph.replace(x=x)).lines)
    assert not any("Mind the scale" in line for line in verdict(SMALL, graph).lines)


def test_fedavg_is_trained_on_the_same_nodes(monkeypatch):
    import spear_core.verdict as module

    monkeypatch.setattr(module, "ROUNDS", 2)
    found = verdict(Settings(dataset="karate", clients=3), fedavg=True)
    assert found.fedavg_accuracy is not None
    gap = found.expected.value - found.fedavg_accuracy.value
    assert found.fedavg.value == pytest.approx(gap)
    assert "FedAvg" in found.lines[1]


def test_the_command_says_it_and_gives_json(capsys):
    assert main(["check", "karate"]) == 0
    assert "· Take " in capsys.readouterr().out
    assert main(["check", "karate", "--json", "--beta", "5"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["settings"]["beta"] == 5
    assert set(said["grid"]) == {" ".join(key) for key in GRID}
    assert main(["check", "nowhere"]) == 2


def test_the_table_counts_what_is_near():
    line = line_of("karate", 42)
    text = markdown([line])
    assert line.best >= line.reached
    assert "| karate | " in text
    assert f"{int(line.near)} of 1." in text
