"""The report is written whatever happens, and a private client without a label is no failure."""

import math
from types import SimpleNamespace

import pytest
import torch

from spear_core import Settings, SpearError
from spear_core.federation.files import read_client
from spear_core.federation.report import Report, read_folder, write_report
from tests.federation.flower import need_flower


def test_half_a_surrogate_in_a_reason_leaves_a_whole_report(tmp_path):
    report = Report({}, dropped=[{"node": "1", "reason": "\ud800 x"}], failure="\udfff")
    write_report(tmp_path, report)
    assert read_folder(tmp_path)[0].failure == "\udfff"


def test_what_others_wrote_does_not_steer_a_terminal():
    lure = "a\x1b[2J\x1b]0;b\x07\u202e\n\rc\x9bd"
    report = Report({}, dropped=[{"node": lure, "reason": lure}], notes=[lure], failure=lure)
    said = report.lines()
    assert all(line.isprintable() for line in said)
    assert said[-1] == "failed: a[2J]0;b cd"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError, SpearError])
def test_a_run_that_is_ended_leaves_its_report(tmp_path, monkeypatch, error):
    need_flower()
    from spear_core.federation import server_app
    from spear_core.federation.flower import run_config

    def ended(*_):
        raise error("now")

    monkeypatch.setattr(server_app, "federate", ended)
    config = run_config(Settings(classes=3, features=2), tmp_path / "clients", 1)
    context = SimpleNamespace(run_config=config | {"out": str(tmp_path / "out")})
    expected = SpearError if issubclass(error, Exception) else error
    with pytest.raises(expected):
        server_app.main(None, context)
    said = read_folder(tmp_path / "out")[0].failure
    assert said == "now" if error is SpearError else error.__name__ in said


@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_a_client_without_a_labelled_node_answers(tmp_path, epsilon):
    need_flower()
    from spear_core.federation.client_app import fitted, local_uploads

    (tmp_path / "edges.csv").write_text("source,target\n0,1\n")
    (tmp_path / "features.csv").write_text("a,b\n1,0\n0,1\n")
    (tmp_path / "labels.csv").write_text('label\n""\n""\n')
    s = Settings(epsilon=epsilon, classes=3, features=2)
    sent = local_uploads(fitted(read_client(tmp_path), s), s, 7)
    assert torch.equal(sent.counts, torch.zeros(0, dtype=torch.int64))
    assert sent.prototypes.shape == (0, 2)
