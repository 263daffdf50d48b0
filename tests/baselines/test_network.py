"""What all trained methods share: the network, a client's rows, the mean, the bytes."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from spear_core import Partition, make_graph
from spear_core.baselines.fit import fit
from spear_core.baselines.local import _operator, clients_of, whole_graph
from spear_core.baselines.methods import METHODS
from spear_core.baselines.model import GCN, average, start
from spear_core.baselines.traffic import payload_bytes
from spear_core.randomness import generator
from tests.baselines.federations import federation, three, trained
from tests.conftest import random_graph


@pytest.mark.parametrize("directed", [False, True])
def test_the_layers_are_pygs(directed):
    graph = random_graph(3, directed)
    net = GCN(graph.num_features, 8, graph.classes, dropout=0.5)
    state = start(net, 1, torch.device("cpu"))
    h, logits = net(whole_graph(graph))
    first, second = GCNConv(graph.num_features, 8), GCNConv(8, graph.classes)
    first.lin.weight.data, second.lin.weight.data = (
        state["first.weight"].t(),
        state["second.weight"].t(),
    )
    x = graph.features.to_dense() if graph.features.layout != torch.strided else graph.features
    theirs_h = first(x, graph.edge_index).relu()
    theirs = second(theirs_h, graph.edge_index)
    torch.testing.assert_close(h, theirs_h, rtol=0, atol=1e-6)
    torch.testing.assert_close(logits, theirs, rtol=0, atol=1e-6)
    logits.square().sum().backward()
    theirs.square().sum().backward()
    torch.testing.assert_close(net.first.weight.grad, first.lin.weight.grad.t())
    torch.testing.assert_close(net.first.bias.grad, first.bias.grad)


def test_the_operator_is_pygs():
    """Edges 0 → 1 → 2 → 2 and back to 1: one loop a node, whether there is one already or not."""
    edges = np.array([[0, 1, 2, 2], [1, 2, 2, 1]])
    index, weight = gcn_norm(torch.as_tensor(edges), num_nodes=4)
    theirs = torch.zeros(4, 4).index_put_((index[1], index[0]), weight)
    ours = torch.as_tensor(_operator(edges, 4).toarray())
    assert torch.equal(ours, theirs)
    assert ours[1].tolist() == pytest.approx([3**-0.5, 1 / 3, 6**-0.5, 0])
    assert float(ours[3, 3]) == 1


def test_a_step_reads_no_more_than_it_must_and_gives_the_same_logits():
    for client in clients_of(three()):
        net = GCN(6, 8, 4, dropout=0.0)
        start(net, 1, torch.device("cpu"))
        h, logits = net(client.whole)
        h_near, logits_near = net(client.reach)
        torch.testing.assert_close(logits_near, logits[client.train])
        torch.testing.assert_close(h_near[client.rows], h[client.train])


@pytest.mark.parametrize("method", ["fedavg", "fedprox", "fedpub"])
def test_weights_of_features_that_nobody_has_may_be_left_out(method):
    """With and without them a client ends at the same weights, bit for bit."""
    x = random_graph(3).x * (torch.arange(6) % 2)  # every second feature is 0 everywhere
    graph = random_graph(3).replace(x=x)
    parts = federation(Partition(graph, torch.arange(40) % 3, 3), method)
    for client in parts.clients:
        rival, ends = METHODS[method].kind(parts), []
        state = rival.model
        assert client.narrow(state)["first.weight"].shape == (3, 8)
        for narrow in (True, False):
            ends.append(
                fit(rival.net, client, state, parts.training, generator(0, "test"), None, narrow)
            )
        assert all(torch.equal(ends[0][name], p) for name, p in ends[1].items())
        assert not torch.equal(ends[0]["first.weight"], state["first.weight"])


def test_dropout_keeps_the_mean_and_needs_a_generator():
    client = clients_of(three())[0]
    net = GCN(6, 4096, 4, dropout=0.5)
    start(net, 1, torch.device("cpu"))
    with torch.no_grad():
        plain, again = net(client.whole)[1], net(client.whole)[1]
    assert torch.equal(plain, again)
    with torch.no_grad():
        draws = torch.stack([net(client.whole, generator(s, "dropout"))[1] for s in range(200)])
    assert not torch.equal(draws[0], plain)
    assert float((draws.mean(0) - plain).abs().max()) < 0.05


def test_training_leaves_the_global_generators_alone():
    torch.manual_seed(5)
    np.random.seed(5)
    expected = torch.rand(3), np.random.rand(3)
    torch.manual_seed(5)
    np.random.seed(5)
    for method in METHODS:
        trained(three(), method, rounds=1)
    assert torch.equal(torch.rand(3), expected[0])
    assert np.array_equal(np.random.rand(3), expected[1])


def test_average_by_hand():
    states = [{"w": torch.tensor([1.0])}, {"w": torch.tensor([4.0])}, {"w": torch.tensor([9.0])}]
    assert float(average(states, [2, 1, 0])["w"]) == 2
    assert average(states, [0, 0, 0]) is None


def test_bytes_by_hand():
    message = {"model": {"w": torch.zeros(3, 2), "b": torch.zeros(2)}, "n": 7, "parts": [1.5]}
    assert payload_bytes(message) == 4 * (6 + 2 + 1 + 1)
    assert payload_bytes({}) == 0
    with pytest.raises(TypeError):
        payload_bytes({"name": "secret"})


def test_weighting():
    graph = random_graph(0)
    owner = (torch.arange(40) >= 10).long()  # 10 and 30 nodes
    for weighting, expected in (
        ("nodes", [10, 30]),
        ("train", [int(graph.train[:10].sum()), int(graph.train[10:].sum())]),
        ("uniform", [1, 1]),
    ):
        method = METHODS["fedavg"].kind(federation(Partition(graph, owner, 2), weighting=weighting))
        assert [method.weight(k) for k in range(2)] == expected


def test_directed_graphs_and_dense_features_train_too():
    x = torch.rand(30, 4, generator=torch.Generator().manual_seed(1))
    graph = make_graph(x, [[0, 1, 2], [5, 6, 7]], torch.arange(30) % 3, torch.arange(30) < 15)
    for method in METHODS:
        run = trained(Partition(graph, torch.arange(30) % 2, 2), method, rounds=1)
        assert torch.isfinite(run.scores).all()
