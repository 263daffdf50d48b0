"""What a hostile node may send, byte by byte: it is dropped with a reason, and nobody else pays."""

from io import BytesIO

import numpy as np
import pytest
import torch

from spear_core import SpearError, run
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


def npz():
    file = BytesIO()
    np.savez(file, labels=np.zeros(3))
    return file.getvalue()


def header(kind, shape, tail=b""):
    file = BytesIO()
    claim = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, claim)
    return file.getvalue() + tail


def array(data, dtype="float32", shape=(3,), stype="numpy.ndarray"):
    from flwr.app import Array

    return Array(dtype, shape, stype, data)


def of(numbers):
    from flwr.app import Array

    return Array(np.asarray(numbers))


STRANGE = {
    "npz": lambda sent: {"labels": array(npz())},
    "evil": lambda sent: {"labels": array(sent["labels"].data, dtype="evil")},
    "huge": lambda sent: {"prototypes": array(header("<f4", (10**11, 10)))},
    "huge and within C": lambda sent: {"prototypes": array(header("<f4", (10, 10**11)))},
    "negative": lambda sent: {"counts": array(header("<i4", (-1,)))},
    "objects": lambda sent: {"counts": array(header("|O", (3,), bytes(24)))},
    "brackets": lambda sent: {"labels": array(b"\x93NUMPY\x01\x00\xe8\x03" + b"(" * 1000)},
    "nothing": lambda sent: {"labels": array(b"")},
    "99999": lambda sent: {"labels": of(np.full(len(sent["labels"].numpy()), 99_999, np.int32))},
    "too many": lambda sent: {"labels": of(np.arange(11, dtype=np.int32))},
    "long": lambda sent: {"prototypes": of(np.zeros((10**5, 64), np.float32))},
    "complex": lambda sent: {"counts": of(np.ones(3, np.complex64))},
}


@pytest.mark.parametrize("kind", STRANGE)
def test_one_strange_upload_is_dropped_and_the_rest_is_the_honest_answer(files, result, kind):
    def twist(node, reply):
        upload = reply.content.get("upload")
        if node == 103 and upload is not None:
            for name, part in STRANGE[kind](upload).items():
                upload[name] = part
        return reply

    _, report, made = federated(files, twist=twist, quorum=9)
    honest = result.uploads.keep(result.uploads.client != 3)
    if kind == "evil":  # the bytes are those of an array; what is declared beside them is nothing
        honest = result.uploads
    else:
        assert {one["node"] for one in report.dropped} == {"103"}
        assert all(1 < len(one["reason"]) <= 300 for one in report.dropped)
    assert len(report.answered) == (10 if kind == "evil" else 9)
    assert made.prototypes.shape == (10, 64)
    expected = estimate(honest, SETTINGS).prototypes
    assert torch.allclose(made.prototypes, expected, atol=1e-6)
    rows = len((result.uploads if kind == "99999" else honest).client)
    assert report.counted_bytes == rows * (64 * 4 + 2 * 4)  # decoded, not declared


def torn(reply):
    """A reply as the SuperLink keeps it, whose arrays are not what their frame says."""
    from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects

    parts = get_all_nested_objects(reply)
    kept = {name: part.deflate() for name, part in parts.items()}
    arrays = next(n for n, part in parts.items() if type(part).__name__ == "ArrayRecord")
    kept[arrays] = kept[arrays][:-5] + b"{junk"
    return reply.object_id, kept


def test_a_message_that_flower_cannot_read_costs_its_sender_alone(files, result):
    def twist(node, reply):
        return torn(reply) if node == 103 else reply

    _, report, made = federated(files, twist=twist, quorum=9)
    (dropped,) = report.dropped
    assert dropped["node"] == "103"
    assert dropped["reason"].startswith("its answer cannot be read (")
    expected = estimate(result.uploads.keep(result.uploads.client != 3), SETTINGS).prototypes
    assert torch.allclose(made.prototypes, expected, atol=1e-6)


def test_nobody_answers_for_another(files, result):
    """Node 103 says that its reply is that of 104, whose own comes later."""
    asked = {}

    def twist(node, reply):
        if node == 103 and "upload" in reply.content:
            reply.metadata.__dict__["_src_node_id"] = 104
            there = asked[103].metadata.message_id.replace("103-3", "104-4")
            reply.metadata.__dict__["_reply_to_message_id"] = there
        return reply

    _, report, made = federated(files, twist=twist, asked=asked)
    assert (len(report.answered), report.dropped) == (10, [])
    expected = estimate(result.uploads, SETTINGS).prototypes
    assert torch.allclose(made.prototypes, expected, atol=1e-6)


def test_whatever_fails_on_the_server_is_in_the_report(files, tmp_path):
    """Any error, not ours alone: a grid that breaks, a config that makes no sense."""
    from flwr.app import Context, RecordDict

    from spear_core.federation import server_app
    from spear_core.federation.client_app import app
    from spear_core.federation.flower import run_config
    from spear_core.federation.report import read_folder

    grid, config = grid_of(app, contexts(files)), run_config(SETTINGS, tmp_path, 10, **FAST)
    grid.get_node_ids = lambda: 1 / 0
    for changed, said in (
        ({}, "An unexpected ZeroDivisionError; the log of the SuperLink tells more."),
        ({"alpha": 7.0}, "alpha must be below 1"),
        ({"classes": 0}, "Say how many classes and features"),
        ({"quorum": "many"}, "An unexpected ValueError"),
    ):
        if changed:
            grid = grid_of(app, contexts(files))
        with pytest.raises(SpearError):
            server_app.main(grid, Context(1, 1, {}, RecordDict(), config | changed))
        report, prototypes = read_folder(tmp_path)
        assert said in report.failure
        assert prototypes is None


def test_a_test_that_breaks_leaves_the_estimate(files):
    from flwr.app import MetricRecord

    def twist(node, reply):
        if "metrics" in reply.content and node < 104:
            wrong = ({"right": -1, "wrong": 3}, {"right": 2.5, "wrong": 1}, {"right": 1})
            strange = (*wrong, {"right": 2**62, "wrong": 2**62})[node - 100]
            reply.content["metrics"] = MetricRecord(strange)
        if "metrics" in reply.content and node == 104:
            raise RuntimeError("a node breaks")
        return reply

    _, report, made = federated(files, twist=twist)
    assert len(report.notes) == 5
    for n, note in zip(range(100, 105), report.notes, strict=True):
        assert f"Node {n} did not test: " in note
    assert report.right + report.wrong < 1000
    assert made is not None
