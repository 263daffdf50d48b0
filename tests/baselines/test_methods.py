"""What each trained method computes, by hand."""

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from spear_core import Partition
from spear_core.baselines.fedgta import confidence, moments
from spear_core.baselines.fedtad import _Spread, reliability, returns
from spear_core.baselines.fit import fit
from spear_core.baselines.generator import ConditionalGenerator, balanced_labels, knn_operator
from spear_core.baselines.local import clients_of
from spear_core.baselines.methods import METHODS
from spear_core.baselines.model import average
from spear_core.randomness import generator
from tests.baselines.federations import alone, federation, three, trained
from tests.conftest import random_graph


def test_a_strong_pull_keeps_fedprox_near():
    begin = federation(three())
    first = METHODS["fedavg"].kind(begin).model
    moved = {}
    for method, changes in (("fedavg", {}), ("fedprox", {"proximal": 100.0})):
        end = trained(three(), method, rounds=1, epochs=20, **changes).model
        moved[method] = sum(float((end[n] - first[n]).norm()) for n in end)
    assert moved["fedprox"] < moved["fedavg"] / 2


@pytest.mark.parametrize("kind", ["adam", "yogi", "adagrad"])
def test_fedopt_by_hand(kind):
    parts = federation(three(), "fedopt", server_optimizer=kind, server_beta1=0.0, server_beta2=0.0)
    method = METHODS["fedopt"].kind(parts)
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
    method = METHODS["fedopt"].kind(parts)
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
    method = METHODS["moon"].kind(parts)
    message = method.download(0)
    assert method.term(0, message) is None  # nothing to be compared with yet
    method.previous[0] = message["model"]
    term = method.term(0, message)
    value = term(method.net.load(message["model"]), torch.empty(0))
    assert value.item() == pytest.approx(3 * np.log(2), rel=1e-5)


def test_fedproto_without_its_pull_leaves_every_client_to_itself():
    parts = federation(three(), "fedproto", prototype_pull=0.0)
    method, plain = METHODS["fedproto"].kind(parts), METHODS["fedavg"].kind(parts)
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


def test_fedproto_of_one_client_returns_its_class_means():
    parts = federation(alone(), "fedproto")
    method = METHODS["fedproto"].kind(parts)
    upload = method.local(0, method.download(0), generator(0, "test"))
    method.aggregate([upload], generator(0, "test"))
    client = parts.clients[0]
    with torch.no_grad():
        h = method.net.load(method.own[0]).hidden(client.whole)[client.train]
    for c in range(4):
        torch.testing.assert_close(method.prototypes[c], h[client.label == c].mean(0))


def test_fedproto_weighs_by_counts_and_leaves_an_unseen_class_out():
    method = METHODS["fedproto"].kind(federation(three(), "fedproto", hidden=2))
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
    method = METHODS["fedpub"].kind(parts)
    uploads = [method.local(k, method.download(k), generator(k, "test")) for k in range(3)]
    method.aggregate(uploads, generator(0, "test"))
    for name in ("first.weight", "second.bias"):
        mean = torch.stack([u["model"][name] for u in uploads]).mean(0)
        for k in range(3):
            torch.testing.assert_close(method.personal[k][name], mean)


def test_fedpub_with_full_preference_gives_everybody_its_own():
    parts = federation(three(), "fedpub", sharpness=1e9)
    method = METHODS["fedpub"].kind(parts)
    uploads = [method.local(k, method.download(k), generator(k, "test")) for k in range(3)]
    method.aggregate(uploads, generator(0, "test"))
    for k in range(3):
        assert torch.equal(method.personal[k]["first.weight"], uploads[k]["model"]["first.weight"])


def test_fedpub_evaluates_mean_weights_times_mean_masks_pruned():
    parts = federation(three(), "fedpub", mask_penalty=0.1)
    method = METHODS["fedpub"].kind(parts)
    method.model["second.mask"] = torch.full_like(method.model["second.mask"], 2.0)
    method.model["second.mask"][0] = 0.05
    method.model["second.bias"] += 3
    model = method.global_model()
    assert set(model) == {"first.weight", "first.bias", "second.weight", "second.bias"}
    assert torch.equal(model["second.weight"][1:], 2 * method.model["second.weight"][1:])
    assert float(model["second.weight"][0].abs().max()) == 0
    assert torch.equal(model["second.bias"], method.model["second.bias"])


def test_fedgta_that_accepts_everybody_gives_one_model():
    method = METHODS["fedgta"].kind(federation(three(), "fedgta", similar_above=-1.0))
    uploads = [method.local(k, method.download(k), generator(k, "test")) for k in range(3)]
    method.aggregate(uploads, generator(0, "test"))
    for k in range(3):
        assert torch.equal(method.personal[k]["first.weight"], method.model["first.weight"])


def test_fedgta_that_accepts_nobody_leaves_everybody_alone():
    method = METHODS["fedgta"].kind(federation(three(), "fedgta", similar_above=1.0))
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


def test_the_spread_of_made_up_rows_and_its_gradient():
    x = torch.rand(7, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    weight = torch.cdist(x, x).square()
    given = (weight * torch.cdist(x, x, p=1)).sum()
    assert float(_Spread.apply(x, weight)) == pytest.approx(float(given))
    assert torch.autograd.gradcheck(lambda rows: _Spread.apply(rows, weight), x.requires_grad_())


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
