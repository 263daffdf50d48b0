"""What a hostile node may send as energy and sketch: it is dropped, and nobody else pays."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spear_core import run
from spear_core.lance import LANCE
from spear_core.server import estimate
from tests.federation.flower import SETTINGS, federated, need_flower
from tests.federation.test_strangers import array, header, npz, of

GATED = replace(SETTINGS, **LANCE)
ROWS = np.zeros((1, 64), np.float32)
STRANGE = {  # what is sent of a part, and what the report says
    "another width": ("sketch", lambda: of(ROWS[:, :63]), "have the shape (1, 63), not"),
    "too wide": ("sketch", lambda: of(np.zeros((1, 65), np.float32)), "at most (8, 64)"),
    "too many rows": ("sketch", lambda: of(np.zeros((9, 64), np.float32)), "at most (8, 64)"),
    "far too many": ("sketch", lambda: of(np.zeros((10**5, 64), np.float32)), "bytes of sketch"),
    "a cube": ("sketch", lambda: of(ROWS[None]), "its shape is (1, 1, 64)"),
    "complex": ("sketch", lambda: of(ROWS.astype(np.complex64)), "of the kind complex64"),
    "truths": ("sketch", lambda: of(ROWS > 0), "its sketch rows are not numbers"),
    "objects": ("sketch", lambda: array(header("|O", (1, 64), bytes(512))), "kind object"),
    "huge": ("sketch", lambda: array(header("<f4", (10**11, 64))), "its shape is (100000000000"),
    "minus": ("sketch", lambda: array(header("<f4", (-1, 64))), "cannot be read"),
    "npz": ("sketch", lambda: array(npz()), "sketch cannot be read: "),
    "nothing": ("sketch", lambda: array(b""), "cannot be read"),
    "nan": ("sketch", lambda: of(ROWS * np.nan), "its energy or sketch is not finite"),
    "infinite": ("sketch", lambda: of(ROWS + np.float32(np.inf)), "not finite"),
    "overflow": ("sketch", lambda: of(np.full((1, 64), 1e300)), "not finite"),
    "long": ("sketch", lambda: of(ROWS + 9), "its energy cannot be true"),
    "negative": ("energy", lambda: of(np.array([-1.0])), "its energy cannot be true"),
    "huge energy": ("energy", lambda: of(np.array([1e30])), "its energy cannot be true"),
    "endless energy": ("energy", lambda: of(np.array([np.inf])), "not finite"),
    "nan energy": ("energy", lambda: of(np.array([np.nan])), "not finite"),
    "two energies": ("energy", lambda: of(np.ones(2)), "at most (1,)"),
    "no energy": ("energy", lambda: of(np.ones(0)), "have the shape (0,), not (1,)"),
    "words": ("energy", lambda: of(np.array(["much"])), "kind <U4"),
}


@pytest.fixture(scope="module")
def result():
    return run(GATED)


@pytest.fixture(scope="module")
def files(result, tmp_path_factory):
    need_flower()
    from spear_core.federation.demo import export_clients

    return export_clients(result, tmp_path_factory.mktemp("clients"))


@pytest.fixture(scope="module")
def rest(result):
    """The estimate of everybody but the fourth client."""
    up = result.uploads
    there = torch.arange(10) != 3
    kept = up.keep(up.client != 3).replace(residuals=up.residuals.of(there))
    return estimate(kept, GATED).ridge


def without_the_fourth(files, twist):
    """The report and the ridge head of a run in which the fourth client is not believed."""

    def at_the_fourth(node, reply):
        if node == 103 and "upload" in reply.content:
            twist(reply.content)
        return reply

    _, report, made = federated(files, GATED, at_the_fourth, quorum=9, evaluate=False)
    assert len(report.answered) == 9
    assert {one["node"] for one in report.dropped} == {"103"}
    return report, made.ridge


@pytest.mark.parametrize("kind", STRANGE)
def test_one_strange_part_costs_its_sender_alone(files, rest, kind):
    name, make, said = STRANGE[kind]

    def twist(content):
        content["upload"][name] = make()

    report, head = without_the_fourth(files, twist)
    assert said in report.dropped[0]["reason"]
    assert len(report.dropped[0]["reason"]) <= 300
    assert torch.allclose(head.w, rest.w, atol=1e-5)


@pytest.mark.parametrize("name", ["energy", "sketch"])
def test_a_part_that_is_not_there_is_no_upload(files, rest, name):
    report, head = without_the_fourth(files, lambda content: content["upload"].pop(name))
    assert report.dropped[0]["reason"] == "its answer holds no upload"
    assert torch.allclose(head.w, rest.w, atol=1e-5)


def test_no_sketch_has_more_rows_than_its_sender_has_nodes_for(files):
    def twist(content):
        upload = content["upload"]
        upload["counts"] = of(np.ones(len(upload["counts"].numpy()), np.int32))

    report, _ = without_the_fourth(files, twist)
    assert "more than its counts leave room for" in report.dropped[0]["reason"]


def test_nobody_sends_a_sketch_that_was_not_asked_for(files):
    def twist(node, reply):
        if node == 103:
            reply.content["upload"]["sketch"] = of(ROWS)
        return reply

    for s in (replace(GATED, sketch=0), replace(GATED, epsilon=5.0)):
        _, report, _ = federated(files, s, twist, quorum=9, evaluate=False)
        assert "at most (0, 64)" in report.dropped[0]["reason"]


@pytest.mark.parametrize("strange", ["few", [1.0, 2.0], -1.0, float("nan"), 99])
def test_a_strange_limit_is_not_reported(files, strange):
    from flwr.app import ConfigRecord, MetricRecord

    def twist(node, reply):
        kind = ConfigRecord if isinstance(strange, str) else MetricRecord
        reply.content["limits"] = kind({"max-sketch": strange})
        return reply

    _, report, _ = federated(files, GATED, twist, evaluate=False)
    assert report.notes == []
    assert len(report.answered) == 10
