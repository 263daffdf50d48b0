"""The trained methods: the identities each of them must keep, by hand and bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, one_hot
from torch_geometric.nn import GCNConv

from spear_core import Partition, Settings, make_graph
from spear_core.baselines.fedavg import Federation
from spear_core.baselines.fedgta import confidence, moments
from spear_core.baselines.fedtad import reliability, returns
from spear_core.baselines.fit import fit
from spear_core.baselines.generator import ConditionalGenerator, balanced_labels, knn_operator
from spear_core.baselines.local import clients_of, whole_graph
from spear_core.baselines.loop import CLASSES, train_on
from spear_core.baselines.model import GCN, average, start
from spear_core.baselines.traffic import payload_bytes
from spear_core.baselines.training import METHODS, Training, defaults
from spear_core.errors import SettingError
from spear_core.randomness import generator
from tests.conftest import random_graph

SHORT = {"rounds": 3, "epochs": 2, "hidden": 8}
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


def three(seed: int = 0, directed: bool = False) -> Partition:
    """A random graph of 40 nodes among three clients."""
    graph = random_graph(seed, directed)
    return Partition(graph, torch.arange(40) % 3, 3)


def alone(seed: int = 0) -> Partition:
    return Partition(random_graph(seed), torch.zeros(40, dtype=torch.int64), 1)


def federation(partition: Partition, method: str = "fedavg", **changes) -> Federation:
    graph = partition.graph
    return Federation(
        clients_of(partition),
        graph.num_features,
        graph.classes,
        defaults(method, **(SHORT | changes)),
        seed=42,
        device=torch.device("cpu"),
    )


def trained(partition: Partition, method: str, keep: bool = False, progress=None, **changes):
    return train_on(partition, Settings(), defaults(method, **(SHORT | changes)), progress, keep)


def same(one, other) -> bool:
    return all(torch.equal(one.model[name], other.model[name]) for name in one.model)


# the network


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
    torch.testing.assert_close(h, theirs_h)
    torch.testing.assert_close(logits, theirs)
    logits.square().sum().backward()
    theirs.square().sum().backward()
    torch.testing.assert_close(net.first.weight.grad, first.lin.weight.grad.t())
    torch.testing.assert_close(net.first.bias.grad, first.bias.grad)


def test_a_step_reads_no_more_than_it_must_and_gives_the_same_logits():
    for client in clients_of(three()):
        net = GCN(6, 8, 4, dropout=0.0)
        start(net, 1, torch.device("cpu"))
        h, logits = net(client.whole)
        h_near, logits_near = net(client.reach)
        torch.testing.assert_close(logits_near, logits[client.train])
        torch.testing.assert_close(h_near[client.rows], h[client.train])


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


# identities


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


def test_fedproto_without_its_pull_leaves_every_client_to_itself():
    parts = federation(three(), "fedproto", prototype_pull=0.0)
    method, plain = CLASSES["fedproto"](parts), CLASSES["fedavg"](parts)
    own = dict.fromkeys(range(3), plain.model)
    for number in range(3):
        uploads = []
        for k, client in enumerate(parts.clients):
            uploads.append(method.local(k, method.download(k), generator(k, f"{number}")))
            own[k] = fit(plain.net, client, own[k], parts.training, generator(k, f"{number}"))
        method.aggregate(uploads, generator(0, "test"))
    for k in range(3):
        assert all(torch.equal(method.own[k][name], p) for name, p in own[k].items())
    counts = [len(client.train) for client in parts.clients]
    mean = average(list(own.values()), counts)
    assert all(torch.equal(method.global_model()[name], p) for name, p in mean.items())


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


def test_a_strong_pull_keeps_fedprox_near():
    begin = federation(three())
    first = CLASSES["fedavg"](begin).model
    moved = {}
    for method, changes in (("fedavg", {}), ("fedprox", {"proximal": 100.0})):
        end = trained(three(), method, rounds=1, epochs=20, **changes).model
        moved[method] = sum(float((end[n] - first[n]).norm()) for n in end)
    assert moved["fedprox"] < moved["fedavg"] / 2


@pytest.mark.parametrize("kind", ["adam", "yogi", "adagrad"])
def test_fedopt_by_hand(kind):
    parts = federation(three(), "fedopt", server_optimizer=kind, server_beta1=0.0, server_beta2=0.0)
    method = CLASSES["fedopt"](parts)
    old = {name: p.clone() for name, p in method.model.items()}
    rng = generator(0, "test")
    uploads = [method.local(k, method.download(k), generator(k, "test")) for k in range(3)]
    mean = method.mean(uploads)
    method.aggregate(uploads, rng)
    for name, p in method.model.items():
        delta = mean[name] - old[name]
        step = 0.01 * delta / (delta.abs() + parts.training.server_floor)
        torch.testing.assert_close(p, old[name] + step)


def test_fedopt_remembers():
    parts = federation(three(), "fedopt")
    method = CLASSES["fedopt"](parts)
    theta = method.model["second.bias"].clone()
    m = v = torch.zeros_like(theta)
    for shift in (1.0, -0.5):
        goal = {n: p + shift for n, p in method.model.items()}
        method.aggregate([{"model": goal, "weight": 1}], generator(0, "test"))
        m, v = 0.9 * m + 0.1 * shift, 0.99 * v + 0.01 * shift**2
        theta = theta + parts.training.server_rate * m / (v.sqrt() + parts.training.server_floor)
    torch.testing.assert_close(method.model["second.bias"], theta)


def test_moon_is_ln_2_when_both_models_are_one():
    parts = federation(three(), "moon", contrast=3.0)
    method = CLASSES["moon"](parts)
    message = method.download(0)
    assert method.term(0, message) is None  # nothing to be compared with yet
    method.previous[0] = message["model"]
    term = method.term(0, message)
    value = term(method.net.load(message["model"]), torch.empty(0))
    assert value.item() == pytest.approx(3 * np.log(2), rel=1e-5)


def test_fedproto_of_one_client_returns_its_class_means():
    parts = federation(alone(), "fedproto")
    method = CLASSES["fedproto"](parts)
    upload = method.local(0, method.download(0), generator(0, "test"))
    method.aggregate([upload], generator(0, "test"))
    client = parts.clients[0]
    with torch.no_grad():
        h = method.net.load(method.own[0]).hidden(client.whole)[client.train]
    for c in range(4):
        torch.testing.assert_close(method.prototypes[c], h[client.label == c].mean(0))


def test_fedproto_weighs_by_counts_and_leaves_an_unseen_class_out():
    method = CLASSES["fedproto"](federation(three(), "fedproto", hidden=2))
    uploads = [
        {
            "labels": torch.tensor([0, 1]),
            "counts": torch.tensor([1, 2]),
            "prototypes": torch.tensor([[1.0, 0], [3, 3]]),
        },
        {},
        {
            "labels": torch.tensor([0]),
            "counts": torch.tensor([3]),
            "prototypes": torch.tensor([[5.0, 4]]),
        },
    ]
    method.aggregate(uploads, generator(0, "test"))
    assert method.prototypes[:2].tolist() == [[4, 3], [3, 3]]
    assert bool(method.prototypes[2:].isnan().all())


def test_fedproto_can_answer_by_the_nearest_prototype():
    run = trained(three(), "fedproto", readout="prototype")
    assert torch.isfinite(run.scores).all()
    assert not torch.equal(run.scores, trained(three(), "fedproto").scores)


def test_fedpub_without_preference_gives_everybody_the_mean():
    parts = federation(three(), "fedpub", sharpness=0.0)
    method = CLASSES["fedpub"](parts)
    uploads = [method.local(k, method.download(k), generator(k, "test")) for k in range(3)]
    method.aggregate(uploads, generator(0, "test"))
    for name in ("first.weight", "second.bias"):
        mean = torch.stack([u["model"][name] for u in uploads]).mean(0)
        for k in range(3):
            torch.testing.assert_close(method.personal[k][name], mean)


def test_fedpub_with_full_preference_gives_everybody_its_own():
    parts = federation(three(), "fedpub", sharpness=1e9)
    method = CLASSES["fedpub"](parts)
    uploads = [method.local(k, method.download(k), generator(k, "test")) for k in range(3)]
    method.aggregate(uploads, generator(0, "test"))
    for k in range(3):
        assert torch.equal(method.personal[k]["first.weight"], uploads[k]["model"]["first.weight"])


def test_fedpub_evaluates_mean_weights_times_mean_masks_pruned():
    parts = federation(three(), "fedpub", mask_penalty=0.1)
    method = CLASSES["fedpub"](parts)
    method.model["second.mask"] = torch.full_like(method.model["second.mask"], 2.0)
    method.model["second.mask"][0] = 0.05
    method.model["second.bias"] += 3
    model = method.global_model()
    assert set(model) == {"first.weight", "first.bias", "second.weight", "second.bias"}
    assert torch.equal(model["second.weight"][1:], 2 * method.model["second.weight"][1:])
    assert float(model["second.weight"][0].abs().max()) == 0
    assert torch.equal(model["second.bias"], method.model["second.bias"])


def test_fedgta_that_accepts_everybody_gives_one_model():
    method = CLASSES["fedgta"](federation(three(), "fedgta", similar_above=-1.0))
    uploads = [method.local(k, method.download(k), generator(k, "test")) for k in range(3)]
    method.aggregate(uploads, generator(0, "test"))
    for k in range(3):
        assert torch.equal(method.personal[k]["first.weight"], method.model["first.weight"])


def test_fedgta_that_accepts_nobody_leaves_everybody_alone():
    method = CLASSES["fedgta"](federation(three(), "fedgta", similar_above=1.0))
    uploads = [method.local(k, method.download(k), generator(k, "test")) for k in range(3)]
    method.aggregate(uploads, generator(0, "test"))
    for k in range(3):
        torch.testing.assert_close(
            method.personal[k]["first.weight"], uploads[k]["model"]["first.weight"]
        )


def test_moments_and_confidence_by_hand(five):
    y = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert moments(y, 2).tolist() == [0.5, 0.5, 0.5, 0.5, 0, 0, 0.25, 0.25]
    assert moments(torch.zeros(0, 2), 3).tolist() == [0] * 12
    client = clients_of(Partition(five, torch.zeros(5, dtype=torch.int64), 1))[0]
    sure = one_hot(five.y, 2).float()
    assert confidence(client, sure) == pytest.approx((2 + 3 + 3 + 3 + 2) * 2 / np.e)


def test_walks_return_by_hand(five):
    client = clients_of(Partition(five, torch.zeros(5, dtype=torch.int64), 1))[0]
    back = returns(client.links, np.array([0, 2]))
    assert back[0, :2] == pytest.approx([1 / 2, 1 / 4 + 1 / 2 * 1 / 3])
    assert back[1, :2] == pytest.approx([1 / 3, 3 / 9])


def test_reliability_is_a_share_of_the_held_classes():
    graph = random_graph(1)
    held = graph.train & (graph.y != 2)
    client = clients_of(Partition(graph.replace(train=held), torch.zeros(40).long(), 1))[0]
    r = reliability(client, 4)
    assert float(r.sum()) == pytest.approx(1)
    assert float(r[2]) == 0
    assert float(r.min()) >= 0


def test_made_up_graphs():
    rng = torch.Generator().manual_seed(0)
    x = torch.rand(12, 5, generator=rng)
    a = knn_operator(x, 3)
    assert torch.equal(a, a.t())
    assert int((a > 0).sum(1).min()) >= 4  # three neighbours and itself
    assert balanced_labels(5, 3, torch.device("cpu")).tolist() == [0, 1, 2, 0, 1]
    maker = ConditionalGenerator(4, 3, 5).start(1, torch.device("cpu"))
    again = ConditionalGenerator(4, 3, 5).start(1, torch.device("cpu"))
    z, y = torch.rand(6, 4, generator=rng), balanced_labels(6, 3, torch.device("cpu"))
    assert torch.equal(maker(z, y), again(z, y))
    f, c, noise = 1433, 7, 64
    size = sum(p.numel() for p in ConditionalGenerator(noise, c, f).parameters())
    assert size == c * c + (noise + c) * 64 + 64 + 64 * 128 + 128 + 128 * 256 + 256 + 257 * f
    assert size * 4 * 10 / 2**20 == pytest.approx(15.80, abs=0.005)


# settings


def test_training_checks_itself():
    assert Training("MOON").method == "moon"
    for wrong in (
        {"method": "fedsgd"},
        {"rounds": 0},
        {"dropout": 1.0},
        {"learning_rate": float("nan")},
        {"weighting": "confidence"},
        {"server_optimizer": "sgd"},
    ):
        with pytest.raises(SettingError):
            Training(**wrong)
    assert "proximal" in defaults("fedprox").used()
    assert "proximal" not in defaults("fedavg").used()


def test_weighting():
    graph = random_graph(0)
    owner = (torch.arange(40) >= 10).long()  # 10 and 30 nodes
    for weighting, expected in (
        ("nodes", [10, 30]),
        ("train", [int(graph.train[:10].sum()), int(graph.train[10:].sum())]),
        ("uniform", [1, 1]),
    ):
        method = CLASSES["fedavg"](federation(Partition(graph, owner, 2), weighting=weighting))
        assert [method.weight(k) for k in range(2)] == expected


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


def test_directed_graphs_and_dense_features_train_too():
    x = torch.rand(30, 4, generator=torch.Generator().manual_seed(1))
    graph = make_graph(x, [[0, 1, 2], [5, 6, 7]], torch.arange(30) % 3, torch.arange(30) < 15)
    for method in METHODS:
        run = trained(Partition(graph, torch.arange(30) % 2, 2), method, rounds=1)
        assert torch.isfinite(run.scores).all()
