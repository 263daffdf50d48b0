"""What a node allows: C of the run, no exact counts under privacy, its own limits."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from spear_core import Settings, SpearError, run
from spear_core.federation.files import client_graph, read_client
from spear_core.federation.limits import allow
from tests.federation.flower import FAST, SETTINGS, contexts, federated, grid_of, need_flower

PRIVATE = replace(SETTINGS, epsilon=1.0)


@pytest.fixture(autouse=True)
def _flower():
    need_flower()


@pytest.fixture
def files(tmp_path):
    from spear_core.federation.demo import export_clients

    return export_clients(run(SETTINGS), tmp_path / "clients")


def tables(folder: Path, labels: str) -> Path:
    """A client as plain tables: six nodes on a line with these labels."""
    folder.mkdir(exist_ok=True)
    (folder / "edges.csv").write_text("source,target\n0,1\n1,0\n1,2\n2,1\n3,4\n4,3\n")
    (folder / "features.csv").write_text("a,b\n1,0\n0,1\n1,1\n1,2\n2,1\n1,3\n")
    (folder / "labels.csv").write_text("label\n" + "\n".join(labels) + "\n")
    return folder


@pytest.mark.parametrize("labels", ["000012", "000010", "000000"])
def test_which_classes_are_sent_tells_nothing(tmp_path, labels):
    """The second client differs from the first in one label. It once took its largest label plus
    one for C, so that class 2 was sent by the first in half of all draws and never by the second.
    """
    from spear_core.federation.client_app import fitted, local_uploads

    s = Settings(epsilon=0.1, classes=4, features=2)
    graph = fitted(read_client(tables(tmp_path / "client", labels)), s)
    for secret in range(20):
        sent = local_uploads(graph, s, secret)
        assert sent.label.tolist() == [0, 1, 2, 3]
        assert sent.classes == 4


def test_a_client_that_does_not_fit_the_run_says_so(tmp_path):
    from spear_core.federation.client_app import fitted

    graph = read_client(tables(tmp_path / "client", "000013"))
    with pytest.raises(SpearError, match="not below 3, the number of classes of the run"):
        fitted(graph, Settings(classes=3, features=2))
    with pytest.raises(SpearError, match="have 2 features and the run asks for 5"):
        fitted(graph, Settings(classes=4, features=5))
    assert fitted(graph, Settings(classes=9, features=2)).classes == 9


def test_nobody_finds_out_labels_by_trying_one_c_after_the_other(files):
    """Digits has ten classes. A refusal says whether a label is below C, so it is counted."""
    from spear_core.federation.client_app import app
    from spear_core.federation.flower import run_config
    from spear_core.federation.report import Report
    from spear_core.federation.server_app import federate

    path = next(path for path in files if int(read_client(path).y.max()) > 3)
    for classes, said in ((2, "not below 2"), (3, "not below 3"), (4, "has given its 2 answers")):
        wrong, report = replace(PRIVATE, classes=classes), Report({})
        nodes = contexts([path], **{"max-epsilon": 1.0, "max-answers": 2})
        with pytest.raises(SpearError, match="No node sent"):
            federate(grid_of(app, nodes), wrong, run_config(wrong, path, 1, **FAST), report)
        assert said in report.dropped[0]["reason"]


def test_an_error_quotes_no_cell(tmp_path):
    folder = tables(tmp_path / "client", "000012")
    (folder / "labels.csv").write_text("label\nMrs Smith\n")
    with pytest.raises(SpearError, match="cannot be read; give numbers") as told:
        read_client(folder)
    assert "Smith" not in str(told.value)


def test_a_private_run_asks_for_no_exact_count(files):
    """Right and wrong of a client's own nodes are not in ε: neither asked for nor given."""
    from flwr.app import Array, ArrayRecord, Message, RecordDict

    from spear_core.federation.client_app import app
    from spear_core.federation.records import settings_record

    nodes = contexts(files)
    grid, report, made = federated(files, PRIVATE, nodes=nodes)
    assert report.right is report.wrong is report.accuracy is None
    assert len(report.notes) == 1
    assert "not asked to test: with a finite ε" in report.notes[0]
    assert len(grid.left) == 10  # uploads only
    assert all(len(content["upload"]["labels"].numpy()) == 10 for _, content in grid.left)
    # a server that asks all the same, as if there were no privacy, gets nothing
    content = RecordDict(
        {
            "settings": settings_record(SETTINGS),
            "model": ArrayRecord({"prototypes": Array(made.prototypes.numpy())}),
        }
    )
    message = Message(content, dst_node_id=100, message_type="evaluate")
    (reply,) = grid_of(app, nodes).send_and_receive([message])
    assert "keeps its nodes private" in reply.error.reason


def test_without_privacy_a_node_tests_once_a_run(files):
    nodes = contexts(files)
    _, report, _ = federated(files, nodes=nodes)
    assert report.right + report.wrong == 1000
    for context in nodes.values():
        del context.state["spear-sent"]
    _, report, _ = federated(files, nodes=nodes)
    assert report.right is None
    assert len(report.notes) == 10
    assert "tests once" in report.notes[0]


def test_a_node_asked_for_less_privacy_refuses_and_the_report_says_so(files):
    nodes = contexts(files)
    nodes[100].node_config["max-epsilon"] = 0.5
    nodes[101].node_config.update({"max-epsilon": 2.0, "max-delta": 1e-9})
    nodes[102].node_config.update({"max-epsilon": 2})
    nodes[103].node_config["max-epsilon"] = "strong"
    _, report, _ = federated(files, PRIVATE, nodes=nodes, quorum=5)
    why = {one["node"]: one["reason"] for one in report.dropped}
    assert "ε of at most 0.5; ask for that much privacy" in why["100"]
    assert "δ of at most 1e-09" in why["101"]
    assert "max-epsilon in the config of this node must be a number" in why["103"]
    assert set(why) == {"100", "101", "103"}
    with pytest.raises(SpearError, match="No node sent"):  # ε = ∞ is the least private of all
        federated(files[:1], SETTINGS, nodes=contexts(files[:1], **{"max-epsilon": 100.0}))


def test_a_node_gives_its_number_of_answers_and_a_restart_does_not_reset_it(files):
    """Every call has new contexts, as a node that was started again."""
    more = {"max-answers": 2, "max-epsilon": 1.0}
    for _ in range(2):
        federated(files, PRIVATE, nodes=contexts(files, **more))
    with pytest.raises(SpearError, match="No node sent"):
        federated(files, PRIVATE, nodes=contexts(files, **more))
    ledger = files[0].with_name("client-0.npz.answers")
    assert len(ledger.read_text().splitlines()) == 2
    assert "run 1: an upload, ε 1" in ledger.read_text()
    _, report, _ = federated(files, nodes=contexts(files, **{"max-answers": 3}))
    assert "given its 3 answers" in report.notes[0]  # the upload was the third, a test one too many


def test_a_limit_of_epsilon_alone_means_one_answer(tmp_path):
    s, path = Settings(epsilon=1.0), tmp_path / "client"
    allow({"max-epsilon": 1.0}, path, s, "an upload")
    with pytest.raises(SpearError, match="has given its 1 answers"):
        allow({"max-epsilon": 1.0}, path, s, "an upload")
    allow({}, path, s, "an upload")  # a node without limits writes nothing
    assert len((tmp_path / "client.answers").read_text().splitlines()) == 1
    for wrong in (math.nan, -1, 0, True, "2"):
        with pytest.raises(SpearError, match="must be a number above 0"):
            allow({"max-epsilon": wrong}, tmp_path / "other", s, "an upload")


def test_a_client_file_with_hostile_content_is_one_sentence(files):
    """Columns out of range once ended the node; a changed label once changed its answer."""
    import numpy as np

    from spear_core.datasets.arrays import digest, read_whole
    from spear_core.datasets.store import save_whole

    whole = read_whole(files[0])
    assert torch.equal(read_client(files[0]).y, client_graph(run(SETTINGS).held, 0).y)
    far = whole["edge_index"].copy()
    far[0, 0] = 10**7
    for hostile in (
        {"edge_index": far},
        {"train": whole["train"][:-1]},
        {"x": whole["x"][:, :0]} if "x" in whole else {"x_col": whole["x_col"] + 10**6},
        {"y": whole["y"] - 100},
    ):
        save_whole(files[0], whole | hostile)  # with a digest that fits
        with pytest.raises(SpearError):
            read_client(files[0])
    np.savez(files[0], **whole | {"y": whole["y"][::-1]}, digest=digest(whole))
    with pytest.raises(SpearError, match="export it again"):
        read_client(files[0])
