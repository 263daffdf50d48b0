"""Runs of the trained methods: odd federations, bytes, stopping, killing."""

import os
import signal
import subprocess
import sys

import pytest
import torch

from spear_core import Partition, Settings, split
from spear_core.baselines import checkpoint
from spear_core.baselines.loop import train, train_on
from spear_core.baselines.methods import METHODS
from spear_core.baselines.training import SHARED, defaults, literature
from tests.baselines.federations import MIB, P, same_run, short
from tests.browser import ROOT
from tests.conftest import need, random_graph

ROUNDS = [name for name, method in METHODS.items() if not method.one_shot]


@pytest.mark.parametrize("method", METHODS)
def test_empty_untrained_and_unheld_are_tolerated(method):
    """Client 0 is ordinary, 1 empty, 2 without a training node, 3 one node; nobody trains class 3.

    Client 2 must not disturb the others: without its weight the mean is that of 0 and 3.
    """
    graph = random_graph(0)
    owner = torch.where(torch.arange(40) < 20, 0, 2)
    owner[39] = 3
    train_mask = graph.train & (owner != 2) & (graph.y != 3)
    train_mask[39] = True
    y = graph.y.clone()
    y[39] = 1
    odd = graph.replace(train=train_mask, y=y)
    run = train_on(Partition(odd, owner, 4), Settings(), short(method), keep=False)
    assert torch.isfinite(run.scores).all()
    assert all(torch.isfinite(p).all() for p in run.model.values())
    assert run.accuracy is not None
    assert len(run.traffic.up) == 4
    assert sum(run.histogram) == 40


@pytest.mark.parametrize("method", METHODS)
def test_a_hundred_clients(method):
    graph = random_graph(1, nodes=150)
    partition = split(graph, Settings(clients=100, beta=0.05))
    assert partition.empty
    run = train_on(partition, Settings(clients=100), short(method), keep=False)
    assert torch.isfinite(run.scores).all()
    assert len(run.traffic.down) == 100


@pytest.mark.parametrize("method", METHODS)
def test_a_client_that_cannot_train_changes_nothing_for_the_others(method):
    """Two lone nodes without a training label move to a client of their own, beside an empty one.

    FedGTA's moments and MOON's term are over all nodes of a client, so both are off here; made-up
    graphs are smaller than a client, else they grow with it.
    """
    graph = random_graph(2)  # its last two nodes have no edge
    graph = graph.replace(train=graph.train & (torch.arange(40) < 38))
    owner = torch.arange(40) % 2
    apart = torch.where(torch.arange(40) < 38, owner, 3)
    own = {"fedgta": {"weighting": "train", "similar_above": -1.0}, "moon": {"contrast": 0.0}}
    own |= {"ghost": {"ghost_nodes": 10}, "oasis": {"oasis_nodes": 10}}
    how = short(method, **own.get(method, {}))
    one = train_on(Partition(graph, owner, 2), Settings(), how, keep=False)
    other = train_on(Partition(graph, apart, 4), Settings(), how, keep=False)
    assert all(torch.equal(one.model[name], other.model[name]) for name in one.model)


@pytest.mark.parametrize("method", ROUNDS)
def test_bytes_of_every_method(method):
    """Four bytes a number, counted by the loop, against the sizes of what the method sends."""
    graph = random_graph(0)
    partition = Partition(graph, torch.arange(40) % 3, 3)
    f, c, h, m, k, rounds = graph.num_features, graph.classes, 8, 10, 3, 3
    p = f * h + h + h * c + c
    held = int((partition.train_counts > 0).sum())
    up, down, once = k * rounds * (p + 1), k * rounds * p, 0
    if method == "fedgta":
        up += k * rounds * 2 * m * c
    if method == "fedpub":
        up = k * rounds * (2 * (f * h + h * c) + h + c + h + 1)
    if method == "fedtad":
        up += k * c
    if method.startswith(
        "fedproto"
    ):  # prototype, label and count of every class held; all of them back
        up, down, once = rounds * held * (h + 2), k * (rounds - 1) * c * h, k * (p + 1)
    run = train_on(partition, Settings(), short(method, moments=m), keep=False)
    assert sum(run.traffic.up) == 4 * up
    assert sum(run.traffic.down) == 4 * down
    assert sum(run.traffic.evaluation) == 4 * once


@pytest.mark.parametrize(("name", "mib"), MIB.items())
def test_fedavg_sends_what_the_paper_prints(name, mib):
    need(name)
    run = train(Settings(dataset=name), defaults("fedavg", rounds=2, epochs=1), keep=False)
    sent = sum(run.traffic.up) + sum(run.traffic.down)
    assert sent == 2 * 10 * (2 * 4 * P[name] + 4)  # models both ways and one weight up
    assert round(sent / 2 * 100 / 2**20, 1) == mib


def test_progress_tells_every_round_and_can_stop(cache):
    partition = Partition(random_graph(0), torch.arange(40) % 3, 3)
    seen = []

    def until_two(point):
        seen.append(point)
        return point.round < 2

    part = train_on(partition, Settings(), short("fedavg"), until_two)
    assert part.stopped
    assert [p.round for p in part.curve] == [1, 2]
    assert part.curve == tuple(seen)
    assert part.accuracy == seen[-1].accuracy
    assert part.scores.shape == (40, 4)


@pytest.mark.parametrize("method", ROUNDS)
def test_a_stopped_run_goes_on_bit_for_bit(method, cache):
    partition = Partition(random_graph(0), torch.arange(40) % 3, 3)
    through = train_on(partition, Settings(), short(method), keep=False)
    train_on(partition, Settings(), short(method), lambda point: point.round < 2)
    rest = []
    resumed = train_on(partition, Settings(), short(method), lambda p: rest.append(p.round))
    assert rest == [3]
    assert same_run(through, resumed)
    assert torch.equal(through.hidden, resumed.hidden)
    again = train_on(partition, Settings(), short(method), lambda p: rest.append(p.round))
    assert rest == [3]  # a finished run is read, not trained
    assert same_run(through, again)


KILLED = """
import os, signal
from spear_core import Settings
from spear_core.baselines.loop import train
from spear_core.baselines.training import defaults
def die(point):
    if point.round == 2:
        os.kill(os.getpid(), signal.SIGKILL)
train(Settings(dataset="karate", clients=3), defaults("{method}", rounds=4, hidden=8), die)
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fedavg", "fedtad"])
def test_a_killed_run_loses_at_most_one_round(method, cache):
    ended = subprocess.run(
        [sys.executable, "-c", KILLED.format(method=method)],
        env={**os.environ, "SPEAR_CACHE": str(cache)},
        cwd=ROOT,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    settings, training = (
        Settings(dataset="karate", clients=3),
        defaults(method, rounds=4, hidden=8),
    )
    rounds = []
    resumed = train(settings, training, lambda p: rounds.append(p.round))
    assert rounds == [3, 4]
    assert same_run(train(settings, training, keep=False), resumed)


def test_a_damaged_checkpoint_is_made_anew(cache):
    partition = Partition(random_graph(0), torch.arange(40) % 3, 3)
    whole = train_on(partition, Settings(), short("fedavg"))
    path = checkpoint.path_of(partition, Settings().seed, short("fedavg"))
    path.write_bytes(path.read_bytes()[:100])
    assert same_run(whole, train_on(partition, Settings(), short("fedavg")))


def other(tensor: torch.Tensor) -> torch.Tensor:
    """The same with its first value changed: a mask's turned round, a number's 0 or 1."""
    changed = tensor.clone()
    changed.view(-1)[0] = changed.view(-1)[0] == 0
    return changed


def test_a_run_is_kept_by_all_it_depends_on(cache):
    """Every part of the graph, of the partition and of the training, one at a time."""
    graph, owner = random_graph(0), torch.arange(40) % 3
    how = short("fedprox")

    def path(graph=graph, owner=owner, clients=3, seed=42, how=how):
        return checkpoint.path_of(Partition(graph, owner, clients), seed, how)

    parts = ("x", "edge_index", "y", "train", "val", "test")
    found = [path(graph.replace(**{name: other(getattr(graph, name))})) for name in parts]
    found += [path(graph.replace(classes=graph.classes + 1))]
    found += [path(owner=other(owner)), path(clients=4), path(seed=43)]
    shared = {
        "rounds": 9, "epochs": 9, "learning_rate": 0.5, "weight_decay": 0.5, "dropout": 0.9,
        "hidden": 9, "weighting": "uniform",
    }  # fmt: skip
    assert {"method", *shared} == {f.name for f in SHARED}
    changed = {**shared, "proximal": 9.0}
    found += [path(how=short("fedprox", **{name: v})) for name, v in changed.items()]
    found += [path(how=short("fedavg")), path()]
    assert len(set(found)) == len(found)
    assert path(how=short("fedprox", contrast=9.0)) == path()  # a knob of another method


def test_a_run_on_wider_features_is_another(cache):
    """A sparse matrix holds the same numbers with an empty column more."""
    graph = random_graph(0)
    sparse = graph.replace(x=graph.x.to_sparse_csr())
    crow, col, values = sparse.x.crow_indices(), sparse.x.col_indices(), sparse.x.values()
    size = (graph.num_nodes, graph.num_features + 1)
    wider = graph.replace(x=torch.sparse_csr_tensor(crow, col, values, size))
    one, two = (Partition(g, torch.arange(40) % 3, 3) for g in (sparse, wider))
    assert checkpoint.path_of(one, 42, short("fedavg")) != checkpoint.path_of(
        two, 42, short("fedavg")
    )


def test_run_never_imports_the_baselines():
    code = (
        "import sys, spear_core; from spear_core import Settings, run; run(Settings('karate'));"
        "assert not [m for m in sys.modules if m.startswith('spear_core.baselines')];"
        "import spear_core.cli.baseline; assert 'torch_geometric' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.slow
def test_one_client_on_cora_reaches_a_central_gcn():
    need("Cora")
    run = train(Settings(dataset="Cora", clients=1), defaults("fedavg", rounds=20), keep=False)
    assert 0.79 < run.best.accuracy < 0.84


@pytest.mark.slow
def test_weight_decay_is_what_makes_fedavg_collapse():
    """Ten clients, extreme skew: the literature's decay ruins the very same method."""
    need("Cora")
    decayed = train(Settings(dataset="Cora"), literature("fedavg", rounds=20), keep=False)
    sound = train(Settings(dataset="Cora"), defaults("fedavg", rounds=20), keep=False)
    assert decayed.accuracy < 0.4 < sound.accuracy
