"""The one-shot rivals: what they send, what they must give, stopping in the server's phase."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spear_core import Partition, Settings
from spear_core.baselines import checkpoint
from spear_core.baselines.fedcvae import _of_words
from spear_core.baselines.fedsd2c import core_set
from spear_core.baselines.generator import made_graph
from spear_core.baselines.ghost import criterion
from spear_core.baselines.local import Block, clients_of, scipy_features
from spear_core.baselines.loop import curve_so_far, train, train_on
from spear_core.baselines.methods import METHODS
from spear_core.baselines.model import GCN, start
from spear_core.baselines.oasis import affinity, apart, class_costs, moving
from spear_core.baselines.synthesizer import transport
from spear_core.baselines.training import defaults
from spear_core.randomness import generator
from tests.baselines.federations import alone, federation, same_run, short, three, trained
from tests.conftest import random_graph

ONE_SHOT = [name for name, method in METHODS.items() if method.one_shot]
CPU = torch.device("cpu")


def rows(n: int, width: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(n, width, generator=torch.Generator().manual_seed(seed))


def maker_size(f: int, c: int) -> int:
    return c * c + (64 + c) * 64 + 64 + 64 * 128 + 128 + 128 * 256 + 256 + 257 * f


# what is sent ----------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ONE_SHOT)
def test_bytes(method):
    """Four bytes a number, once up and nothing down; a client with nothing to teach sends none."""
    graph = random_graph(0)
    lone = graph.replace(train=graph.train & (torch.arange(40) % 3 != 1))
    partition = Partition(lone, torch.arange(40) % 3, 3)
    f, c, h, codes = graph.num_features, graph.classes, 8, 4
    p = f * h + h + h * c + c
    for k, counts in enumerate(partition.train_counts.tolist()):
        held, sent = sum(n > 0 for n in counts), trained(partition, method).traffic
        numbers = {
            "dense": p + 1,
            "fedcvae": (10 + c) * 256 + 256 + 257 * f + c + 1,
            "fedsd2c": sum(min(n, 10) for n in counts) * (f + c + 1),
            "ghost": maker_size(f, c) + 1 + held,
            "oasis": maker_size(f, c) + 1 + held + p + codes * h,
        }[method]
        assert sent.up[k] == 4 * (numbers if sum(counts) or method == "dense" else 0)
        assert (sent.down[k], sent.evaluation[k]) == (0, 0)


def test_what_the_paper_prints_of_ghosts_bytes():
    sizes = {"Cora": (1433, 7, 15.80), "CiteSeer": (3703, 6, 38.06), "PubMed": (500, 3, 6.65)}
    for f, c, mib in sizes.values():
        assert 10 * 4 * maker_size(f, c) / 2**20 == pytest.approx(mib, abs=0.005)


# the loop --------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ONE_SHOT)
def test_a_run_stopped_anywhere_goes_on_bit_for_bit(method, cache):
    """First after the second client, then in the server's phase, then to the end."""
    partition = three()
    through = train_on(partition, Settings(), short(method), keep=False)
    told = []

    def until(stage, number):
        def progress(point):
            told.append((point.stage, point.round))
            return told[-1] != (stage, number)

        return progress

    first = train_on(partition, Settings(), short(method), until("client", 2))
    assert first.stopped
    assert first.accuracy is None
    looked = through.steps[0].round
    part = train_on(partition, Settings(), short(method), until("server step", looked))
    assert part.stopped
    assert part.accuracy == through.steps[0].accuracy
    resumed = train_on(partition, Settings(), short(method), until("", 0))
    assert same_run(through, resumed)
    assert through.steps == resumed.steps
    assert told == [
        *(("client", k) for k in (1, 2, 3)),
        *(("server step", p.round) for p in through.steps),
        ("round", 1),
    ]
    again = train_on(partition, Settings(), short(method), until("", 0))  # read, not trained
    assert same_run(through, again)
    assert told[-1] == ("round", 1)


def test_looks_at_a_server_are_few_and_end_with_its_end(cache):
    settings = Settings(dataset="karate", clients=3)
    how = defaults("fedsd2c", hidden=8, epochs=2, sd2c_moves=1, sd2c_steps=63)
    seen = []
    train(settings, how, lambda p: seen.append(p) if p.stage == "server step" else None)
    assert len(seen) == 20
    assert (seen[-1].round, seen[-1].rounds) == (63, 63)
    assert curve_so_far(settings, how) == tuple(seen)
    assert seen[-1].accuracy == train(settings, how).accuracy


def test_training_leaves_no_trace_of_the_server_in_the_cache_when_it_is_not_kept(cache):
    train_on(three(), Settings(), short("ghost"), keep=False)
    assert not checkpoint.path_of(three(), 42, short("ghost")).exists()


# identities ------------------------------------------------------------------------------------
def test_dense_of_one_client_copies_it():
    """On the pool the student ends where its only teacher is."""
    parts = federation(alone(), "dense", epochs=60, hidden=16, dense_epochs=40, dense_steps=5)
    method = METHODS["dense"].kind(parts)
    upload = method.local(0, method.download(0), generator(0, "test"))
    method.aggregate([upload], generator(0, "test"))
    x = torch.cat(method.memory["rows"][-5:])
    graph = made_graph(x, 5)
    with torch.no_grad():
        taught = GCN(6, 16, 4, 0.0).load(upload["model"])(graph)[1]
        said = method.parts["student"](graph)[1]
    assert float((taught.argmax(1) == said.argmax(1)).float().mean()) > 0.9
    assert not torch.equal(upload["model"]["first.weight"], method.global_model()["first.weight"])


def test_dense_weighs_its_teachers_alike_or_by_their_nodes():
    x, a = rows(5, 6), torch.eye(5)
    for weighting, shares in (("uniform", [1, 1]), ("nodes", [10, 30])):
        owner = (torch.arange(40) >= 10).long()
        parts = federation(Partition(random_graph(0), owner, 2), "dense", weighting=weighting)
        method = METHODS["dense"].kind(parts)
        uploads = [method.local(k, {}, generator(k, "test")) for k in range(2)]
        method.begin(uploads, generator(0, "test"))
        with torch.no_grad():
            each = [GCN(6, 8, 4, 0.0).load(u["model"])(Block(x, a, a))[1] for u in uploads]
        mean = (shares[0] * each[0] + shares[1] * each[1]) / sum(shares)
        torch.testing.assert_close(method.together(x, a), mean)


def test_ghost_holds_what_edges_hang_on_and_nothing_else():
    net = GCN(6, 8, 4, 0.0)
    start(net, 1, CPU)
    graph = made_graph(rows(12, 6), 3)
    hold = criterion(net, graph)
    assert float(hold["first.weight"].sum()) > 0
    assert float(hold["second.bias"].sum()) == 0  # no edge's strength reads it
    none = criterion(net, made_graph(rows(12, 6), 0))
    assert all(float(h.sum()) == 0 for h in none.values())


def test_ghosts_two_sums_are_the_penalty_over_all_graphs_before():
    method = METHODS["ghost"].kind(federation(three(), "ghost"))
    uploads = [method.local(k, {}, generator(k, "test")) for k in range(3)]
    method.begin(uploads, generator(0, "test"))
    net, before = method.parts["student"], []
    for number in (1, 2):
        rng = generator(number, "test")
        maker = method.makers[method.order[(number - 1) // 2]]
        graph, _ = maker.drawn(2000, 4, generator(number, "test"))
        hold = criterion(net, graph)
        method.step(number, rng)
        before.append((hold, net.state()))
    start(net, 9, CPU)
    whole = sum(
        float((h[name] * (p.detach() - then[name]).square()).sum())
        for h, then in before
        for name, p in net.named_parameters()
    )
    away = float(method.forgetting(net).detach())
    net.load(before[0][1])  # where the constant is known: the first graph adds nothing
    rest = sum(
        float((before[1][0][n] * (before[0][1][n] - before[1][1][n]).square()).sum())
        for n in before[0][1]
    )
    constant = rest - float(method.forgetting(net).detach())
    assert away + constant == pytest.approx(whole, rel=1e-3)


def test_ghost_never_reads_a_label_that_is_not_for_training():
    graph = random_graph(0)
    other = graph.replace(y=torch.where(graph.train, graph.y, (graph.y + 1) % 4))
    owner = torch.arange(40) % 3
    for method in ("ghost", "oasis"):
        one, two = (trained(Partition(g, owner, 3), method) for g in (graph, other))
        assert all(torch.equal(one.model[name], p) for name, p in two.model.items())


def test_the_plan_matches_a_graph_with_itself():
    x = rows(6, 3)
    links = (rows(6, 6, 1) > 0.5).float()
    links = torch.maximum(links, links.t()).fill_diagonal_(0).numpy()
    turn = np.random.default_rng(0).permutation(6)
    distance = torch.cdist(x, x[turn]).square().numpy()
    plan = transport(distance, links, links[turn][:, turn])
    assert plan.argmax(1).tolist() == np.argsort(turn).tolist()
    assert plan.sum() == pytest.approx(1)


def test_wdsrd_of_a_network_with_itself_is_0_and_by_hand_of_two_points():
    net = GCN(6, 8, 4, 0.0)
    start(net, 1, CPU)
    h = net.hidden(made_graph(rows(12, 6), 3))
    b = affinity(h, h.detach()[:5])
    assert float(apart(b, b).detach()) == pytest.approx(0, abs=1e-6)
    apart(b, b).backward()  # whatever the covariance's rank
    assert torch.isfinite(net.first.weight.grad).all()
    wide, narrow = torch.tensor([[0.0, 0], [4, 0]]), torch.tensor([[1.0, 0], [3, 0]])
    assert float(apart(wide, narrow)) == pytest.approx((2 - 1) ** 2)  # standard deviations
    assert float(apart(wide, wide + 3)) == pytest.approx(18)


def test_wesad_costs_nothing_between_equal_classes_and_grows_with_the_way():
    weight = torch.eye(3)[:, [0, 0, 1]]  # classes 0 and 1 are one direction
    costs = class_costs(weight)
    assert costs[0].tolist() == pytest.approx([0, 0, 1 - np.exp(-1)])
    sure = 30 * torch.eye(3)
    near, far = (float(moving(sure[[0]], sure[[c]], costs)) for c in (1, 2))
    assert near < 0.05 < far


def test_the_core_set_is_what_the_model_is_surest_of():
    label = torch.tensor([0, 0, 0, 1, 1])
    surprise = torch.tensor([0.3, 0.1, 0.9, 0.5, 0.2])
    core, partner = core_set(label, surprise, 2, skip=False)
    assert core.tolist() == [1, 0, 4, 3]
    assert partner.tolist() == [2, 2, -1, -1]
    core, partner = core_set(label, surprise, 2, skip=True)
    assert (core.tolist(), partner.tolist()) == ([1, 0], [2, 2])
    assert core_set(label, surprise, 5, skip=True)[0].tolist() == []


def test_words_are_told_from_numbers():
    words = random_graph(0).replace(x=(rows(40, 6) > 0.5).float())
    assert _of_words(scipy_features(words))
    assert not _of_words(scipy_features(words.replace(x=rows(40, 6))))


def test_fedcvae_makes_no_class_that_nobody_holds_and_the_others_as_often():
    graph = random_graph(0)
    part = Partition(graph.replace(train=graph.train & (graph.y != 2)), torch.arange(40) % 3, 3)
    method = METHODS["fedcvae"].kind(federation(part, "fedcvae", cvae_nodes=300))
    method.aggregate([method.local(k, {}, generator(k, "t")) for k in range(3)], generator(0, "t"))
    share = torch.bincount(method.memory["label"], minlength=4) / 300
    assert share[2] == 0
    assert share[[0, 1, 3]].tolist() == pytest.approx([1 / 3] * 3, abs=0.1)


def test_fedproto_answers_by_its_clients_together():
    parts = federation(three(), "fedproto-heads")
    method = METHODS["fedproto-heads"].kind(parts)
    for k in range(3):
        method.local(k, method.download(k), generator(k, "test"))
    block = clients_of(alone())[0].whole
    with torch.no_grad():
        each = [GCN(6, 8, 4, 0.0).load(method.own[k])(block)[1].softmax(1) for k in range(3)]
    weight = [len(client.train) for client in parts.clients]
    mean = sum(w * p for w, p in zip(weight, each, strict=True)) / sum(weight)
    torch.testing.assert_close(method.predict(block), mean)
    lone = trained(alone(), "fedproto-heads", dropout=0.0)
    assert torch.equal(lone.label, trained(alone(), "fedproto", dropout=0.0).label)


# learning --------------------------------------------------------------------------------------
LEARNS = Settings(dataset="synthetic", clients=1, beta=10.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ONE_SHOT)
def test_each_learns_when_it_can(method):
    """One client has everything: far better than the largest class."""
    run = train(LEARNS, replace(defaults(method), hidden=64), keep=False)
    largest = max(torch.bincount(run.graph.y[run.graph.test_nodes]).tolist())
    assert run.accuracy > 1.5 * largest / len(run.graph.test_nodes)
    assert run.constant is None
