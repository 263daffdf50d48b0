"""Stored runs: rows that survive their file, what is shown of them, the command that makes them."""

from dataclasses import replace

import pytest
import torch
from sklearn.metrics import silhouette_score

from spear_core import Partition, Settings, load
from spear_core.baselines import results
from spear_core.baselines.loop import train, train_on
from spear_core.baselines.methods import METHODS
from spear_core.baselines.training import Training, defaults
from spear_core.baselines.views import beta_trend, silhouette_of, summaries
from spear_core.cli import parser
from spear_core.errors import SpearError
from spear_core.settings import FIELDS
from tests.baselines.federations import FEW, MIB, P, short
from tests.conftest import random_graph


def test_a_row_survives_the_file(tmp_path):
    partition = Partition(random_graph(0), torch.arange(40) % 3, 3)
    path = tmp_path / "rows.csv"
    rows = []
    for method in METHODS:
        run = train_on(partition, Settings("karate", 7, clients=3), short(method), keep=False)
        rows.append(results.row_of(run))
        results.append(rows[-1], path)
    back = results.stored(path)
    assert len(back) == len(METHODS)
    for row, again in zip(rows, back, strict=True):
        assert again.key == row.key
        assert again.accuracy == pytest.approx(row.accuracy, abs=1e-6)
        assert again.curve == pytest.approx(row.curve, abs=1e-4)
        assert (again.histogram, again.constant) == (row.histogram, row.constant)
        assert (again.bytes_up, again.bytes_down) == (row.bytes_up, row.bytes_down)


OLD = """\
dataset,seed,split,labels_per_class,partition,clients,beta,method,rounds,epochs,learning_rate,\
weight_decay,dropout,hidden,weighting,proximal,masks,sharpness,mask_penalty,moments,rounds_done,\
accuracy,best_round,best_accuracy,constant,histogram,bytes_up,bytes_down,bytes_evaluation,\
seconds_client,seconds_server,cpu_seconds_client,cpu_seconds_server,threads,versions,curve
karate,1,0,0,dirichlet,3,0.05,fedprox,2,3,0.01,0.0,0.5,256,train,0.2,,,,,2,0.5,1,0.5,,9 9,8,8,0,\
1.0,1.0,1.0,1.0,1,"torch 2, and more",0.4000 0.5000
karate,1,0,0,dirichlet,3,0.05,fedpub,2,3,0.01,0.0,0.5,256,train,,False,5.0,0.0,,2,0.5,1,0.5,,9 9,\
8,8,0,1.0,1.0,1.0,1.0,1,"torch 2, and more",0.4000 0.5000
"""


def test_a_file_with_one_column_a_knob_is_read_and_goes_on(tmp_path):
    """Rows that were written before knobs had one column; `model_pull` is missing: its default."""
    path = tmp_path / "rows.csv"
    path.write_text(OLD)
    prox, pub = results.stored(path)
    assert prox.training == Training("fedprox", rounds=2, proximal=0.2)
    assert pub.training == Training("fedpub", rounds=2, masks=False, sharpness=5.0)
    assert pub.training.model_pull == 0.001
    assert (prox.accuracy, prox.curve, prox.versions) == (0.5, (0.4, 0.5), "torch 2, and more")
    results.append(pub, path)
    results.append(prox, path)
    assert path.read_text().startswith(OLD)
    assert path.read_text().count("dataset,seed") == 2  # the columns of today are named once
    assert results.stored(path) == [prox, pub, pub, prox]


@pytest.mark.parametrize("name", [n for n, f in FIELDS.items() if f.metadata["stages"]])
def test_a_run_on_other_data_has_another_key(name):
    """Whatever setting the data of a run are made from, a stored run is not another's."""
    others = {"dataset": "Cora", "partition": "iid", "feature_rule": "half"}
    others |= {"noise_when": "before", "noise_test": True}
    settings, how = Settings(dataset="synthetic"), defaults("fedavg")
    was = getattr(settings, name)
    if name not in others:  # a number
        others[name] = 0.5 if isinstance(was, float) else was + 1
    some = replace(settings, **{name: others[name]})
    assert results.key_of(some, how) != results.key_of(settings, how)


def test_every_synthetic_graph_has_a_key_of_its_own(tmp_path):
    """The shape is part of the key and of the file; other datasets have none."""
    path = tmp_path / "rows.csv"
    path.write_text(OLD.replace("karate", "synthetic"))
    old = replace(results.stored(path)[0], training=defaults("fedprox", rounds=2))
    assert old.settings == Settings("synthetic", 1, clients=3)  # rows had no shape: the usual one
    shapes = {"nodes": 99, "degree": 3, "classes": 2, "features": 9, "homophily": 0, "strength": 1}
    others = [
        replace(old, settings=replace(old.settings, **{name: value}))
        for name, value in shapes.items()
    ]
    for row in others:
        results.append(row, path)
    assert results.stored(path)[2:] == others
    assert len({row.key for row in (old, *others)}) == 7
    rows = [old, *(replace(row, accuracy=0.25) for row in others)]
    assert [s.accuracy for s in summaries(rows)] == [0.5]
    assert [s.accuracy for s in summaries(rows, Settings(nodes=99))] == [0.25]
    karate = [replace(row, settings=replace(row.settings, dataset="karate")) for row in others]
    assert len({row.key for row in karate}) == 1


def test_rows_of_a_newer_version_are_kept_and_passed_over(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(OLD)
    row = replace(results.stored(path)[0], training=defaults("fedprox", rounds=2))
    path.unlink()
    results.append(row, path)
    plain = path.read_text()
    newer = plain.replace('""proximal"": 0.001', '""proximal"": 0.001, ""warm_up"": [3]')
    assert newer != plain
    path.write_text(newer + plain.replace("fedprox", "fedfuture"))
    (found,) = results.stored(path)  # a method that is not known here has no row
    assert found.unknown == '{"warm_up": [3]}'
    assert found.training == row.training
    assert found.key != row.key
    assert summaries([found]) == []
    assert len(summaries([row])) == 1
    results.append(found, tmp_path / "other.csv")
    assert results.stored(tmp_path / "other.csv") == [found]


def test_a_torn_line_is_passed_over(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(OLD)
    prox, pub = results.stored(path)
    whole = path.read_text()
    for end in (5, 12, 30, 60, 120):  # in the curve, between, inside quotes, in the knobs
        path.write_text(whole[:-end])
        assert results.stored(path) == [prox]
        results.append(pub, path)
        assert results.stored(path) == [prox, pub]
    path.write_bytes(b"\xff\x00,\n" + whole.encode())
    assert results.stored(path) == [prox, pub]


def test_shipped_rows_are_whole():
    rows = results.stored(results.SHIPPED)
    assert rows
    assert len({row.key for row in rows}) == len(rows)
    for row in rows:
        assert row.rounds_done == row.training.rounds == len(row.curve)
        assert row.curve[-1] == pytest.approx(row.accuracy, abs=1e-4)
        assert (sum(n > 0 for n in row.histogram) == 1) == bool(row.constant)
        if row.training.method == "fedavg" and row.settings.dataset in P:
            p = P[row.settings.dataset]
            assert row.bytes_down == 4 * p * row.settings.clients * row.rounds_done
            if (row.rounds_done, row.settings.clients) == (100, 10):  # counted, round by round
                sent = (row.bytes_up + row.bytes_down) / 2**20
                assert round(sent, 1) == MIB[row.settings.dataset]


def test_summaries_group_seeds_and_leave_other_trainings_out(tmp_path):
    path = tmp_path / "rows.csv"
    partition = Partition(random_graph(0), torch.arange(40) % 3, 3)
    for seed, beta, changes in (
        (1, 0.05, {}),
        (2, 0.05, {}),
        (1, 1.0, {}),
        (3, 0.05, {"epochs": 1}),
    ):
        settings = Settings("karate", seed, clients=3, beta=beta)
        how = defaults("fedavg", rounds=2, **changes)
        results.append(results.row_of(train_on(partition, settings, how, keep=False)), path)
    rows = results.stored(path)
    first, second = summaries(rows)
    assert (first.seeds, second.seeds) == ((1, 2), (1,))
    assert first.accuracy == pytest.approx((rows[0].accuracy + rows[1].accuracy) / 2)
    assert first.largest == pytest.approx(sum(max(r.histogram) for r in rows[:2]) / 2 / 40)
    assert len(first.curve) == 2
    assert [s.beta for s in beta_trend(rows, "karate", "FedAvg", clients=3)] == [0.05, 1.0]


def test_representation_and_its_silhouette():
    graph = load(Settings(dataset="karate", clients=3))
    perfect = torch.eye(2)[graph.y]
    assert silhouette_of(perfect, graph) == pytest.approx(1)
    run = train(Settings(dataset="karate", clients=1), defaults("fedavg", rounds=5), keep=False)
    assert run.hidden.shape == (34, 256)
    rows, label = run.hidden[graph.test_nodes], graph.y[graph.test_nodes]
    theirs = silhouette_score(rows.numpy(), label.numpy(), metric="cosine")
    assert silhouette_of(run.hidden, graph) == pytest.approx(theirs, abs=1e-5)


def call(*argv: str) -> None:
    args = parser().parse_args(["baseline", *argv])
    args.command(args)


def test_the_command_stores_and_does_not_repeat(cache, tmp_path, capsys, monkeypatch):
    path = tmp_path / "own.csv"
    say = ("fedavg", "--dataset", "karate", "--seeds", "1,2", "--rounds", "2", "--store", str(path))
    call(*say)
    out = capsys.readouterr().out
    assert "FedAvg" in out
    assert "(2 seeds)" in out
    assert [row.settings.seed for row in results.stored(path)] == [1, 2]
    monkeypatch.setattr("spear_core.cli.baseline.train", None)  # must not be needed any more
    call(*say)
    assert capsys.readouterr().out == out
    assert len(results.stored(path)) == 2


def test_the_command_runs_all_methods(cache, capsys):
    few = {name: value for name, value in FEW.items() if name != "rounds"}
    short = [f"--{name.replace('_', '-')}={value}" for name, value in few.items()]
    call("all", "--dataset=karate", "--rounds=1", "--epochs=1", "--hidden=4", *short)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == len(METHODS)
    for line, method in zip(out, METHODS.values(), strict=True):
        assert line.startswith(f"{method.title} ")
    assert len(results.stored(results.own())) == len(METHODS)


def test_the_command_says_what_is_wrong(cache):
    with pytest.raises(SpearError, match="either"):
        call("fedavg", "--seed", "1", "--seeds", "1,2")
    with pytest.raises(SpearError, match="rounds must be at least 1"):
        call("fedavg", "--rounds", "0")
    with pytest.raises(SystemExit):
        call("fedsgd")
