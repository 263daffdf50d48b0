"""The table of the defences: a new one is one entry and one file, and then stands everywhere."""

from dataclasses import fields
from runpy import run_path
from types import SimpleNamespace

import pytest
import torch

from spear_core import Settings, SpearError, run
from spear_core.cli import main
from spear_core.defences import DEFENCES, Defence
from spear_core.federation.names import offered, refused
from spear_core.figures.attack import defence_dots
from spear_core.studies.damage import compare
from spear_core.studies.defence_table import servers
from tests.apptest import opened, put
from tests.browser import ROOT

FILE = """
def without_the_first(uploads, count):
    return uploads.keep(uploads.client >= count)


def first_holder(points, weight):
    return points[0]


def all_but_the_liars(uploads, graph, liars):
    assert graph is not None
    return uploads.keep(sum(uploads.client == k for k in liars) == 0)
"""
TOLD = "Defended: leaves out the first clients"
KARATE = {"dataset": "karate", "clients": 3, "attackers": "chosen", "chosen": "0"}


@pytest.fixture
def toys(tmp_path):
    """The functions of a new file."""
    file = tmp_path / "toys.py"
    file.write_text(FILE)
    return SimpleNamespace(**run_path(str(file)))


@pytest.fixture
def toy(monkeypatch, toys):
    """A defence that leaves out as many clients as are reckoned with, from number 0 on."""
    entry = Defence(
        "toy", "leaves out the first clients", toys.without_the_first, knob="expected_attackers"
    )
    monkeypatch.setitem(DEFENCES, "toy", entry)
    return entry


# one entry and one file --------------------------------------------------------------------------
@pytest.mark.usefixtures("toy")
def test_a_run_takes_it():
    s = Settings(clients=3, dataset="karate", defence="toy", expected_attackers=1)
    result = run(s)
    kept = result.sent.client != 0
    assert not kept.all()
    assert torch.equal(result.uploads.client, result.sent.client[kept])
    assert torch.equal(result.uploads.prototypes, result.sent.prototypes[kept])
    assert run(Settings(**{**s.to_dict(), "expected_attackers": 0})).uploads.client[0] == 0


def test_without_its_entry_it_is_refused_with_the_names_there_are():
    with pytest.raises(SpearError, match=r"^defence must be one of none, cap, .*, got toy\.$"):
        Settings(defence="toy")


@pytest.mark.usefixtures("toy")
def test_the_command_line_names_it_and_runs_it(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    help_text = " ".join(capsys.readouterr().out.split())
    assert "how the server defends itself: none, cap, " in help_text
    assert "oracle, toy (default none)" in help_text
    assert main(["run", "--dataset", "karate", "--defence", "toy"]) == 0


@pytest.mark.usefixtures("toy")
def test_the_studies_compare_it():
    rows = compare(Settings(attacker_count=1), seeds=[0], accuracy=lambda s: 0.5)
    assert [row.defence for row in rows] == list(DEFENCES)
    assert "leaves out the first clients" in defence_dots(rows).layout.yaxis.ticktext
    assert servers()["toy"] == {"defence": "toy"}
    assert list(servers())[-1] == "oracle"


@pytest.mark.usefixtures("toy")
def test_a_federation_offers_it_unless_it_needs_more(monkeypatch):
    settings = Settings(defence="toy")
    assert offered(settings) is settings
    monkeypatch.setitem(DEFENCES, "toy", Defence("toy", "looks", needs_graph=True))
    assert "toy" in refused()
    with pytest.raises(SpearError, match=r"^defence = toy looks at a test graph"):
        offered(settings)


@pytest.mark.usefixtures("toy")
def test_the_attack_page_offers_it_in_words_with_its_knob():
    page = opened("attack")
    menu = page.main.selectbox(key="defence")
    assert menu.options[-1] == "leaves out the first clients"
    assert "expected_attackers" not in {field.key for field in page.main.number_input}
    menu.select("toy").run()
    put(page, **KARATE, expected_attackers=1)
    assert page.main.number_input(key="expected_attackers").value == 1
    shown = {metric.label: metric.value for metric in page.metric}
    settings = Settings(**KARATE, defence="toy", expected_attackers=1)
    assert shown[TOLD] == f"{100 * run(settings).metrics.accuracy:.1f} %"
    assert shown[TOLD] == shown["Oracle"]  # the first client is the one that lies


def test_a_knob_that_the_page_does_not_know_is_drawn_as_its_setting_says(monkeypatch):
    entry = Defence("toy", "a toy", lambda uploads, scale: uploads, knob="strength")
    monkeypatch.setitem(DEFENCES, "toy", entry)
    page = put(opened("attack"), defence="toy")
    field = page.main.number_input(key="strength")
    assert field.label.startswith("How far apart the classes are")
    assert (field.min, field.max) == (0, 1000)


# what an entry says is what its function gets ----------------------------------------------------
def test_a_function_gets_what_its_entry_names(monkeypatch, toys):
    s = Settings(dataset="karate", clients=3, attacker_count=1, defence="oracle")
    entry = Defence("toy", "a toy", toys.all_but_the_liars, needs_graph=True, knows_liars=True)
    monkeypatch.setitem(DEFENCES, "toy", entry)
    mine, oracle = run(Settings(**{**s.to_dict(), "defence": "toy"})), run(s)
    assert torch.equal(mine.uploads.client, oracle.uploads.client)


def test_a_mean_gets_the_prototypes_of_one_class(monkeypatch, toys):
    monkeypatch.setitem(DEFENCES, "toy", Defence("toy", "a toy", mean=toys.first_holder))
    result = run(Settings(dataset="karate", clients=3, defence="toy"))
    for c in result.uploads.label.unique():
        p = result.uploads.prototypes[result.uploads.label == c][0]
        assert torch.allclose(result.estimate.prototypes[c], p / p.norm())


def test_every_knob_is_a_setting_and_no_function_stands_twice():
    names = {f.name for f in fields(Settings)}
    used = [one.apply or one.mean for one in DEFENCES.values() if one.name != "none"]
    assert len(set(used)) == len(used)
    for name, one in DEFENCES.items():
        assert one.name == name
        assert one.knob in ("", *names)
        assert not (one.apply and one.mean)


def test_the_docs_hold_the_table():
    lines = (ROOT / "docs" / "robustness.md").read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| `defence` |")) + 2
    assert lines[start : start + len(DEFENCES) + 1] == [*map(_line, DEFENCES.values()), ""]


def _line(one: Defence) -> str:
    """A defence as docs/robustness.md has it."""
    function = one.apply or one.mean
    file = f"`{function.__module__.rpartition('.')[2]}.py`" if function else ""
    knob = f"`{one.knob}`" if one.knob else ""
    why = refused().get(one.name)
    federated = f"no: {why}" if why else "yes"
    return f"| {one.name} | {one.words} | {knob} | {file} | {federated} |"
