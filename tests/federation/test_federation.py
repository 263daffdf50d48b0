"""The Flower app: the same result as the engine, faults named, nothing else leaves a client."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spear_core import SpearError, classify, run
from spear_core.cli import main as command
from spear_core.federation.files import client_graph, read_client, write_client
from spear_core.federation.report import read_report
from spear_core.server import estimate
from tests.federation.flower import FAST, SETTINGS, contexts, federated, grid_of, need_flower


@pytest.fixture(scope="module")
def result():
    return run(SETTINGS)


@pytest.fixture
def files(result, tmp_path):
    need_flower()
    from spear_core.federation.demo import export_clients

    return export_clients(result, tmp_path / "clients")


@pytest.mark.slow
def test_it_equals_the_engine(files, result):
    from spear_core.federation.demo import compare
    from spear_core.federation.model import model_arrays

    _, report, made = federated(files)
    far, differing, _ = compare(result, model_arrays(made))
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
    assert "7 features and the run asks for 64" in why["101"]
    assert "not finite" in why["103"]
    assert "deadline" in why["104"]
    assert set(report.answered) == {str(100 + k) for k in (2, 5, 6, 7, 8, 9)}
    assert bool(torch.isfinite(made.prototypes).all())


def test_too_few_answers_is_a_failure_with_a_sentence(files):
    with pytest.raises(SpearError, match="No node sent a usable prototype"):
        federated(files, twist=lambda node, reply: None)
    with pytest.raises(SpearError, match="usable answers came within"):
        federated(files, twist=lambda node, reply: reply if node < 103 else None, quorum=5)


def test_a_dead_node_is_named_though_the_superlink_answers_for_it(files):
    from flwr.app import Error, Message

    def twist(node, reply):
        if node != 105 or "upload" not in reply.content:
            return reply
        lost = Message(Error(code=5, reason="Error: Node Unavailable"), reply_to=asked[node])
        lost.metadata.__dict__["_src_node_id"] = 1  # the SuperLink's own
        return lost

    asked = {}
    _, report, _ = federated(files, twist=twist, quorum=5, asked=asked)
    lost = {"node": "105", "reason": "it died or lost its connection during the run"}
    assert report.dropped == [lost]
    assert len(report.answered) == 9


def test_what_no_client_may_send_is_dropped_and_nothing_breaks(files, result):
    from flwr.app import Array, ArrayRecord

    def twist(node, reply):
        upload = reply.content.get("upload")
        if upload is None:
            return reply
        if node == 100:
            upload["labels"] = Array(
                np.array([2**31 - 1] * len(upload["labels"].numpy()), np.int32)
            )
        elif node == 101:
            reply.content["upload"] = ArrayRecord({"x": Array(np.zeros(3))})
        elif node == 102:
            del reply.content["upload"]
        elif node == 103:
            upload["counts"] = Array(np.array(["many"]))
        return reply

    _, report, made = federated(files, twist=twist, quorum=5)
    assert {one["node"] for one in report.dropped} == {"100", "101", "102", "103"}
    assert made.prototypes.shape == result.estimate.prototypes.shape
    assert len(report.answered) == 6


def test_an_unexpected_error_tells_the_server_its_kind_only(files):
    from spear_core.federation.client_app import discreet

    @discreet
    def step(message, context):
        raise KeyError("the name of a patient")

    with pytest.raises(SpearError) as told:
        step(None, None)
    assert str(told.value) == "An unexpected KeyError; the log of this node tells more."


def test_late_nodes_are_reported_and_a_quorum_is_enough(files, result):
    _, report, made = federated(
        files, twist=lambda node, reply: reply if node > 101 else None, quorum=8
    )
    late = [{"node": str(n), "reason": "it did not answer by the deadline"} for n in (100, 101)]
    assert report.dropped == late
    alone = estimate(result.uploads.keep(result.uploads.client > 1), SETTINGS)
    assert torch.allclose(made.prototypes, alone.prototypes, atol=1e-6)


def test_a_failed_run_leaves_its_report_and_no_old_prototypes(files, tmp_path):
    from flwr.app import Context, RecordDict

    from spear_core.federation import server_app
    from spear_core.federation.client_app import app
    from spear_core.federation.flower import check_ended, run_config
    from spear_core.federation.report import add_to, read_folder, write_traffic

    out = tmp_path / "out"
    config = run_config(SETTINGS, out, 10, **FAST)
    server_app.main(grid_of(app, contexts(files)), Context(1, 1, {}, RecordDict(), config))
    assert read_folder(out)[1] is not None
    nobody = grid_of(app, contexts(files), lambda node, reply: None)
    with pytest.raises(SpearError, match="No node sent a usable prototype"):
        server_app.main(nobody, Context(1, 1, {}, RecordDict(), config))
    write_traffic(out, {"inbound-bytes": 7, "outbound-bytes": 8})
    report, prototypes = read_folder(out)
    assert prototypes is None
    assert (report.wire_up, report.wire_down) == (7, 8)
    assert (report.near_ties, report.ties) == (None, "")
    add_to(out, near_ties=3)
    report = read_folder(out)[0]
    assert (report.wire_up, report.near_ties) == (7, 3)
    assert report.lines().count(report.ties) == 1
    assert report.ties.startswith("at 3 test nodes of the whole graph the two best scores are with")
    assert "No node sent" in report.failure
    with pytest.raises(SpearError, match="ended as finished:failed"):
        check_ended({"status": "finished:failed"}, out)


@pytest.mark.parametrize(
    "text",
    [
        *("[]", "{}", "x", "[" * 100_000, '{"settings": ' * 100_000),
        *('{"settings": {}, "asked": [1]}', '{"settings": {}, "seconds": []}'),
        *('{"settings": {}, "near_ties": -1}', '{"settings": {}, "near_ties": "many"}'),
        *('{"settings": {}, "seconds": {"join": NaN}}', '{"settings": [1]}'),
        '{"settings": {}, "rows": 1' + "0" * 400 + "}",
        # what the page takes for a mapping, a list or a plain value
        *('{"settings": []}', '{"settings": ["ab"]}', '{"settings": {}, "notes": {}}'),
        '{"settings": {}, "asked": "ab"}',
        '{"settings": {"beta": ' + "[" * 900 + "]" * 900 + "}}",
    ],
)
def test_what_is_no_report_is_one_sentence(text):
    with pytest.raises(SpearError, match="not the report"):
        read_report(text)


def test_a_start_that_fails_leaves_nothing_running(tmp_path, monkeypatch):
    need_flower()
    from spear_core.federation import deployment

    monkeypatch.setattr(deployment, "program", lambda name: "/bin/sleep")  # it dies of its options
    started = deployment.Deployment(tmp_path)
    with pytest.raises(SpearError, match="The SuperLink did not start"), started:
        pass
    assert not started.processes


def test_a_node_answers_once_a_run(files):
    from spear_core.federation.client_app import app
    from spear_core.federation.flower import run_config
    from spear_core.federation.report import Report
    from spear_core.federation.server_app import federate

    grid = grid_of(app, contexts(files))
    config = run_config(SETTINGS, files[0].parent, 10, **FAST)
    federate(grid, SETTINGS, config, Report({}))
    again = Report({})
    with pytest.raises(SpearError):
        federate(grid, SETTINGS, config, again)
    assert "answers once" in again.dropped[0]["reason"]


@pytest.mark.slow
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
    for which in ("9", "²", "9" * 5000, "-1", ""):
        words = ["--dataset", "karate", f"--client={which}", "--out", "x"]
        assert command(["export-client", *words]) == 2
        assert "must be 0 to 2" in capsys.readouterr().err


@pytest.mark.slow
def test_federate_without_a_superlink_is_one_sentence(tmp_path, monkeypatch, capsys):
    need_flower()
    monkeypatch.setenv("FLWR_HOME", str(tmp_path))
    assert command(["federate", "nowhere"]) == 2
    assert "Say how many classes and features" in capsys.readouterr().err
    shape = ["--classes", "2", "--features", "2"]
    assert command(["federate", "nowhere", "--out", str(tmp_path / "out"), *shape]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "'nowhere' not found" in said


def test_the_nodes_at_which_either_class_may_win_are_counted(result):
    """Two classes with one prototype tie wherever they are the best."""
    need_flower()
    from spear_core.federation.demo import compare
    from spear_core.federation.model import model_arrays

    estimate = result.estimate
    rows = estimate.prototypes.clone()
    rows[7] = rows[3]
    said = classify(result.graph, replace(estimate, prototypes=rows), SETTINGS)
    best = said.scores.argmax(1)
    tied = int(((best == 3) | (best == 7)).sum())
    twin = replace(result, estimate=replace(estimate, prototypes=rows), prediction=said)
    assert compare(result, model_arrays(estimate))[2] == 0
    assert 0 < tied == compare(twin, model_arrays(twin.estimate))[2]
