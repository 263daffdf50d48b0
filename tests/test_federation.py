"""The Flower app: the same result as the engine, faults named, nothing else leaves a client."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spear_core import Settings, SpearError, run
from spear_core.__main__ import main as command
from spear_core.federation.files import client_graph, read_client, write_client
from tests.flower import grid_of, need_flower

SETTINGS = Settings(dataset="digits")
FAST = {"join-deadline": 1.0, "answer-deadline": 5.0, "evaluate": True}


@pytest.fixture(scope="module")
def result():
    return run(SETTINGS)


@pytest.fixture
def files(result, tmp_path):
    need_flower()
    from spear_core.federation.demo import export_clients

    return export_clients(result, tmp_path / "clients")


def contexts(paths):
    from flwr.app import Context, RecordDict

    return {
        100 + k: Context(1, 100 + k, {"data-path": str(path)}, RecordDict(), {})
        for k, path in enumerate(paths)
    }


def federated(paths, settings=SETTINGS, twist=lambda node, reply: reply, **more):
    """One run in this process: the grid, the report and the estimate."""
    from spear_core.federation.client_app import app
    from spear_core.federation.demo import run_config
    from spear_core.federation.report import Report
    from spear_core.federation.server_app import federate

    grid, report = grid_of(app, contexts(paths), twist), Report({})
    config = run_config(settings, paths[0].parent, len(paths), **{**FAST, **more})
    return grid, report, federate(grid, settings, config, report)


def test_it_equals_the_engine(files, result):
    from spear_core.federation.demo import compare

    _, report, made = federated(files)
    far, differing = compare(result, made.prototypes)
    assert far < 1e-6
    assert differing == 0
    assert len(report.answered) == 10
    assert not report.dropped
    assert report.counted_bytes == result.metrics.bytes_up_total
    assert report.right + report.wrong == int(result.graph.test.sum())


def test_nothing_but_prototypes_counts_and_metrics_leaves_a_client(files, result):
    from flwr.app import ArrayRecord, MetricRecord

    grid, _, _ = federated(files)
    up = result.uploads
    for node, content in grid.left:
        rows = (up.client == node - 100).nonzero().squeeze(1)
        if "upload" in content:
            assert set(content) == {"upload"}
            record = content["upload"]
            assert isinstance(record, ArrayRecord)
            assert set(record) == {"labels", "counts", "prototypes"}
            assert record["labels"].numpy().tolist() == up.label[rows].tolist()
            assert record["counts"].numpy().tolist() == up.counts[rows].tolist()
            sent = torch.from_numpy(record["prototypes"].numpy().copy())
            assert torch.allclose(sent, up.prototypes[rows], atol=1e-6)
        else:
            assert set(content) == {"metrics"}
            assert isinstance(content["metrics"], MetricRecord)
            assert set(content["metrics"]) == {"right", "wrong"}
            assert all(isinstance(v, int) for v in content["metrics"].values())
    assert len(grid.left) == 20


def test_every_fault_is_named_and_the_rest_counts(files, result, tmp_path):
    from flwr.app import Array

    wide = client_graph(result.held, 1)
    write_client(tmp_path / "wide.npz", wide.replace(x=torch.rand(wide.num_nodes, 7)))

    def twist(node, reply):
        if node == 103 and "upload" in reply.content:
            record = reply.content["upload"]
            record["prototypes"] = Array(np.full(record["prototypes"].shape, np.nan, np.float32))
        return None if node == 104 else reply

    paths = [tmp_path / "gone.npz", tmp_path / "wide.npz", *files[2:]]
    _, report, made = federated(paths, twist=twist, quorum=5)
    why = {}
    for one in report.dropped:
        why.setdefault(one["node"], one["reason"])
    assert "There is no client file" in why["100"]
    assert "shape" in why["101"]
    assert "not finite" in why["103"]
    assert "deadline" in why["104"]
    assert set(report.answered) == {str(100 + k) for k in (2, 5, 6, 7, 8, 9)}
    assert bool(torch.isfinite(made.prototypes).all())


def test_too_few_answers_is_a_failure_with_a_sentence(files):
    with pytest.raises(SpearError, match="No node sent a usable prototype"):
        federated(files, twist=lambda node, reply: None)
    with pytest.raises(SpearError, match="usable answers came within"):
        federated(files, twist=lambda node, reply: reply if node < 103 else None, quorum=5)


def test_a_node_answers_once_a_run(files):
    from spear_core.federation.client_app import app
    from spear_core.federation.demo import run_config
    from spear_core.federation.report import Report
    from spear_core.federation.server_app import federate

    grid = grid_of(app, contexts(files))
    config = run_config(SETTINGS, files[0].parent, 10, **FAST)
    federate(grid, SETTINGS, config, Report({}))
    again = Report({})
    with pytest.raises(SpearError):
        federate(grid, SETTINGS, config, again)
    assert "answers once" in again.dropped[0]["reason"]


def test_defences_and_privacy_are_those_of_the_explorer(files, result):
    defended = replace(SETTINGS, defence="median")
    _, _, made = federated(files, defended)
    assert torch.allclose(made.prototypes, run(defended).estimate.prototypes, atol=1e-6)
    private = replace(SETTINGS, epsilon=5.0)
    _, _, one = federated(files, private)
    _, _, two = federated(files, private)
    assert not torch.allclose(one.prototypes, two.prototypes)  # the noise is each node's secret
    _, _, loose = federated(files, replace(SETTINGS, epsilon=1e9))
    assert torch.allclose(loose.prototypes, result.estimate.prototypes, atol=1e-3)


def test_a_client_file_comes_back_as_it_was(result, tmp_path):
    for k in (0, 5):
        graph = client_graph(result.held, k)
        write_client(tmp_path / "c.npz", graph)
        again = read_client(tmp_path / "c.npz")
        assert again.classes == graph.classes == 10
        assert torch.equal(again.edge_index, graph.edge_index)
        assert torch.equal(again.features.to_dense(), graph.features.to_dense())
        assert torch.equal(again.train, graph.train)


def test_three_plain_tables_are_a_client_too(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n1,0\n1,2\n2,1\n")
    (tmp_path / "features.csv").write_text("a,b\n1,0\n0,1\n1,1\n")
    (tmp_path / "labels.csv").write_text("label,train\n0,1\n1,0\n,\n")
    graph = read_client(tmp_path)
    assert graph.train.tolist() == [True, False, False]
    assert graph.test.tolist() == [False, True, False]  # no label, not tested
    assert graph.num_edges == 4
    (tmp_path / "labels.csv").unlink()
    with pytest.raises(SpearError, match=r"has no labels\.csv"):
        read_client(tmp_path)


def test_a_damaged_file_is_one_sentence(tmp_path):
    (tmp_path / "c.npz").write_bytes(b"PK\x03\x04nonsense")
    with pytest.raises(SpearError, match="export it again"):
        read_client(tmp_path / "c.npz")


def test_export_client(tmp_path, capsys):
    out = tmp_path / "three.npz"
    assert (
        command(["export-client", "--dataset", "karate", "--client", "1", "--out", str(out)]) == 0
    )
    assert "for training" in capsys.readouterr().out
    assert read_client(out).classes == 2
    assert command(["export-client", "--dataset", "karate", "--client", "9", "--out", "x"]) == 2
    assert "must be 0 to 2" in capsys.readouterr().err
