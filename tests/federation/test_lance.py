"""LANCE between machines: gates, energies and sketches as in the engine, and a node's own limit."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from spear_core import Settings, SpearError, run
from spear_core.federation.names import CLIENT_SETTINGS, RUN_SETTINGS
from spear_core.federation.report import NEAR, read_folder
from spear_core.lance import LANCE, estimator_of
from tests.federation.flower import FAST, SETTINGS, contexts, federated, grid_of, need_flower

GATED = replace(SETTINGS, **LANCE)


@pytest.fixture(autouse=True)
def _flower():
    need_flower()


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    from spear_core.federation.demo import export_clients

    return export_clients(run(SETTINGS), tmp_path_factory.mktemp("clients"))


@pytest.fixture
def files(exported, tmp_path):
    """The same files in a folder of this test's own, where answers are counted."""
    for path in exported:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return [tmp_path / path.name for path in exported]


def same(result, made):
    """Whether a federation's estimate scores and decides as the engine's."""
    from spear_core.federation.demo import compare
    from spear_core.federation.model import model_arrays

    far, differing, _ = compare(result, model_arrays(made))
    return far < NEAR and differing == 0


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", ["fixed", "gated"])
@pytest.mark.parametrize("capped", [True, False])
@pytest.mark.parametrize("rank", [0.0, 8.0, math.inf])
def test_it_equals_the_engine(files, smoothing, capped, rank):
    s = replace(GATED, smoothing=smoothing, sketch_cap=capped, sketch=rank)
    result = run(s)
    _, report, made = federated(files, s)
    assert same(result, made)
    assert report.counted_bytes == result.metrics.bytes_up_total
    assert report.sketch_rows == len(result.uploads.residuals.rows)
    assert (report.sketch_rows == 0) == (rank == 0)
    assert report.right + report.wrong == 1000
    assert not report.dropped
    assert not report.notes


def test_gates_alone_equal_the_engine(files):
    s = replace(SETTINGS, smoothing="gated")
    result = run(s)
    grid, _, made = federated(files, s)
    assert same(result, made)
    assert not torch.allclose(made.prototypes, run(SETTINGS).estimate.prototypes, atol=1e-3)
    assert set(grid.left[0][1]["upload"]) == {"labels", "counts", "prototypes"}


def test_what_clients_are_told_and_what_leaves_them(files):
    asked = {}
    grid, _, _ = federated(files, replace(GATED, gate=0.1), asked=asked, evaluate=False)
    told = asked[100].content["settings"]
    assert estimator_of(Settings(**told)) == "LANCE"
    assert (told["gate"], told["sketch_cap"], told["seed"]) == (0.1, True, 42)
    assert set(told) == set(CLIENT_SETTINGS) < {*RUN_SETTINGS, "classes", "features"}
    for _, content in grid.left:
        assert set(content) == {"upload"}
        assert set(content["upload"]) == {"labels", "counts", "prototypes", "energy", "sketch"}
        assert len(content["upload"]["sketch"].numpy()) <= 8


@pytest.mark.slow
@pytest.mark.parametrize("defence", ["agreement", "median", "cap-median"])
def test_defences_of_the_ridge_head_are_those_of_the_engine(files, defence):
    s = replace(GATED, defence=defence)
    assert same(run(s), federated(files, s)[2])


def test_where_agreement_cannot_tell_the_cosine_decides_at_the_clients_too(files, monkeypatch):
    from spear_core.defences import agreement

    monkeypatch.setattr(agreement, "SHARED", 2.0)
    monkeypatch.setattr(agreement, "LIMIT", -1.0)
    s = replace(GATED, defence="agreement")
    _, report, made = federated(files, s)
    assert made.ridge is None
    assert "let go of energies and sketches" in report.notes[0]
    assert report.right + report.wrong == 1000
    assert same(run(s), made)


def test_with_a_finite_epsilon_no_sketch_is_sent_and_energies_are_noisy(files):
    s = replace(GATED, epsilon=5.0)
    grid, report, one = federated(files, s)
    _, _, two = federated(files, s)
    for _, content in grid.left:
        assert len(content["upload"]["sketch"].numpy()) == 0
        assert len(content["upload"]["labels"].numpy()) == 10
    assert one.ridge.penalty != two.ridge.penalty
    assert any("nobody asks the gate" in note for note in report.notes)
    assert any("refuse to send a sketch" in note for note in report.notes)
    assert report.right is None
    hardly = replace(s, epsilon=1e12)  # the engine's noise is another one, but as small
    _, _, loose = federated(files, hardly)
    assert torch.allclose(loose.ridge.w, run(hardly).estimate.ridge.w, atol=1e-3)


def test_a_node_sends_no_larger_a_sketch_than_it_allows_and_the_report_says_so(files):
    nodes = contexts(files)
    for n, most in ((100, 2), (101, 0), (102, 100.0), (103, -1), (104, "few"), (106, 2.9)):
        nodes[n].node_config["max-sketch"] = most
    grid, report, made = federated(files, GATED, nodes=nodes, quorum=8, evaluate=False)
    rows = {n: len(content["upload"]["sketch"].numpy()) for n, content in grid.left}
    assert (rows[100], rows[101], rows[106]) == (2, 0, 2)
    assert max(rows.values()) == 8
    said = "Node {} allows a sketch of rank {} and sent no larger one."
    assert report.notes == [said.format(n, most) for n, most in ((100, 2), (101, 0), (106, 2))]
    why = {one["node"]: one["reason"] for one in report.dropped}
    assert set(why) == {"103", "104"}
    for reason in why.values():
        assert "max-sketch in the config of this node must be a number 0 or above" in reason
    assert made.ridge.rows == report.rows + report.sketch_rows
    whole = replace(GATED, sketch=math.inf, sketch_cap=False)
    grid, report, _ = federated(files[2:3], whole, nodes=contexts(files[2:3], **{"max-sketch": 3}))
    assert len(grid.left[0][1]["upload"]["sketch"].numpy()) == 3
    assert "allows a sketch of rank 3" in report.notes[0]
    _, report, _ = federated(files, SETTINGS, nodes=contexts(files, **{"max-sketch": 0}))
    assert report.notes == []  # nobody was asked for one


def test_the_file_of_a_run_holds_all_that_classifies(files, tmp_path):
    from flwr.app import Context, RecordDict

    from spear_core.federation import server_app
    from spear_core.federation.client_app import app
    from spear_core.federation.demo import compare
    from spear_core.federation.flower import run_config

    out, result = tmp_path / "out", run(GATED)
    config = run_config(GATED, out, 10, **FAST)
    server_app.main(grid_of(app, contexts(files)), Context(1, 1, {}, RecordDict(), config))
    report, arrays = read_folder(out)
    assert compare(result, arrays)[1] == 0
    assert np.allclose(arrays["prototypes"], result.estimate.prototypes, atol=1e-6)
    assert "energies and sketches" in report.lines()[1]
    assert f"{report.sketch_rows} rows of sketches" in report.lines()[0]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"w": (64, 10)}, "is no model"),
        ({"w": (64, 9), "mean": (64,), "prior": (10,), "seen": (10,)}, "other sizes than the run"),
        ({"prototypes": (9, 64)}, "other sizes than the run"),
    ],
)
def test_a_client_tests_no_estimate_of_another_shape(files, arrays, said):
    from flwr.app import Message, RecordDict

    from spear_core.federation.client_app import app
    from spear_core.federation.records import array_record, settings_record

    given = array_record({name: np.zeros(shape) for name, shape in arrays.items()})
    content = RecordDict({"settings": settings_record(GATED), "model": given})
    message = Message(content, dst_node_id=100, message_type="evaluate")
    (reply,) = grid_of(app, contexts(files)).send_and_receive([message])
    assert said in reply.error.reason


def test_a_client_without_a_training_node_takes_part(files):
    from spear_core.federation.files import read_client, write_client

    graph = read_client(files[0])
    write_client(files[0], graph.replace(train=torch.zeros_like(graph.train)))
    grid, report, made = federated(files, GATED)
    assert len(report.answered) == 10
    assert all(len(part.numpy()) == 0 for part in grid.left[0][1]["upload"].values())
    assert made.ridge is not None
    with pytest.raises(SpearError, match="No node sent a usable prototype"):
        federated(files[:1], GATED)
