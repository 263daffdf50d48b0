"""The identities that every trained method must keep, bit for bit."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch_geometric.nn import GCNConv

from spear_core import Partition, Settings
from spear_core.baselines.loop import train_on
from spear_core.baselines.model import GCN, start
from spear_core.baselines.training import Training
from tests.baselines.federations import alone, same, three, trained
from tests.conftest import random_graph

OFF = {  # what switches a method's own part off
    "fedavg": {},
    "fedprox": {"proximal": 0.0},
    "fedopt": {"server_optimizer": "none"},
    "moon": {"contrast": 0.0},
    "fedpub": {"masks": False, "sharpness": 0.0, "model_pull": 0.0, "weighting": "uniform"},
    "fedgta": {"similar_above": -1.0, "weighting": "train"},
    "fedtad": {"distil_rounds": 0},
}

ON = {
    "fedprox": {"proximal": 0.5},
    "fedopt": {},
    "moon": {},
    "fedproto": {},
    "fedpub": {},
    "fedgta": {},
    "fedtad": {},
}


@pytest.mark.parametrize("method", OFF)
def test_own_part_off_is_fedavg_bit_for_bit(method):
    off = OFF[method]
    same_weights = {"weighting": off["weighting"]} if "weighting" in off else {}
    plain = trained(three(), "fedavg", **same_weights)
    other = trained(three(), method, **off)
    assert same(plain, other)
    assert [p.accuracy for p in plain.curve] == [p.accuracy for p in other.curve]


@pytest.mark.parametrize("method", ON)
def test_own_part_on_differs(method):
    assert not same(trained(three(), "fedavg"), trained(three(), method, **ON[method]))


def test_fedproto_is_fedavg_in_its_only_round():
    one = {"rounds": 1}
    assert same(trained(three(), "fedavg", **one), trained(three(), "fedproto", **one))


@pytest.mark.parametrize("method", [*OFF, "fedproto"])
def test_one_client_is_central_training(method):
    off = {"fedproto": {"prototype_pull": 0.0}} | OFF
    plain = trained(alone(), "fedavg", dropout=0.0)
    assert same(plain, trained(alone(), method, dropout=0.0, **off[method]))
    assert torch.allclose(plain.scores, central(alone(), plain.training), atol=1e-5)


def test_fedgta_of_one_client_is_central_training_as_it_stands():
    assert same(trained(alone(), "fedavg"), trained(alone(), "fedgta"))


def central(partition: Partition, training: Training) -> torch.Tensor:
    """PyG's layers on the whole graph, Adam begun anew every E steps; logits of every node."""
    graph = partition.graph
    net = GCN(graph.num_features, training.hidden, graph.classes, 0.0)
    state = start(net, Settings().seed, torch.device("cpu"))
    first = GCNConv(graph.num_features, training.hidden)
    second = GCNConv(training.hidden, graph.classes)
    first.lin.weight.data = state["first.weight"].t().clone()
    second.lin.weight.data = state["second.weight"].t().clone()
    x = graph.features.to_dense() if graph.features.layout != torch.strided else graph.features
    parameters = [*first.parameters(), *second.parameters()]
    for _ in range(training.rounds):
        adam = torch.optim.Adam(
            parameters, lr=training.learning_rate, weight_decay=training.weight_decay
        )
        for _ in range(training.epochs):
            logits = second(first(x, graph.edge_index).relu(), graph.edge_index)
            adam.zero_grad()
            cross_entropy(logits[graph.train], graph.y[graph.train]).backward()
            adam.step()
    with torch.no_grad():
        return second(first(x, graph.edge_index).relu(), graph.edge_index)


def test_fedprox_of_one_step_is_fedavg():
    one = {"epochs": 1}
    assert same(trained(three(), "fedavg", **one), trained(three(), "fedprox", proximal=1.0, **one))


def test_same_settings_same_result_and_another_seed_another():
    one, other = trained(three(), "fedavg"), trained(three(), "fedavg")
    assert same(one, other)
    seeded = train_on(three(), Settings(seed=1), one.training, keep=False)
    assert not same(one, seeded)


def test_a_constant_predictor_is_named():
    graph = random_graph(0)
    lone = graph.replace(train=graph.train & (graph.y == 2))
    run = trained(Partition(lone, torch.arange(40) % 3, 3), "fedavg", rounds=30)
    assert run.constant == 2
    assert run.histogram == [0, 0, 40, 0]
    assert replace(run, scores=torch.eye(4)[graph.y]).constant is None


def test_without_test_or_validation_nodes_there_is_no_accuracy():
    graph = random_graph(0)
    blind = graph.replace(test=torch.zeros(40, dtype=torch.bool))
    run = trained(Partition(blind, torch.arange(40) % 3, 3), "fedavg")
    assert run.accuracy is None
    assert run.best.round == 3
    assert run.constant is None
