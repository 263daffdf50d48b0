"""The stored measurements beside the paper's print, and the page that shows them."""

import json
import math
import random

import pytest
from streamlit.testing.v1 import AppTest

from spear_core.cli import main, paper
from spear_core.figures import paper as figures
from spear_core.paper import findings, measured
from spear_core.paper.cells import cells, curves
from spear_core.paper.printed import reported
from spear_core.paper.tables import PRINTED, table
from tests.browser import ROOT
from tests.conftest import need

ROWS = measured.read()
REPEATABLE = [
    row for row in ROWS if row.mean is not None and row.metric not in measured.NOT_COMPARED
]


def _row(printed, mean, std, values="", draws=1, metric="accuracy", seeds="42 0 1 2026 2077"):
    rest = dict.fromkeys(("settings", "note", "date", "versions"), "")
    return measured.Measured(
        "t", "r", "c", metric, printed, mean, std, values, seeds, draws, **rest
    )


@pytest.mark.parametrize(
    ("printed", "mean", "std", "mark"),
    [
        (63.35, 63.08, 0.45, measured.AGREES),  # error 0.225
        (63.35, 62.6, 0.45, measured.DIFFERS),
        (63.35, 60.0, 0.45, measured.FAR),
        (63.35, 60.0, 9.0, measured.FAR),  # whatever the error
        (30.83, 30.8349, 0.0, measured.AGREES),  # rounds to the print
        (30.83, 30.84, 0.0, measured.DIFFERS),
        (None, 30.0, 1.0, measured.NEW),
        (30.0, None, None, measured.OPEN),
    ],
)
def test_the_mark_says_how_far_apart_print_and_measurement_are(printed, mean, std, mark):
    assert _row(printed, mean, std).mark == mark


def test_the_error_is_that_of_the_mean_over_seeds():
    one = _row(0.0, 2.0, 1.4142, "0 1 2 3 4")
    assert one.error == pytest.approx(math.sqrt(2.5 / 5))
    twice = _row(0.0, 2.0, 9.0, "-1 1 0 2 1 3 2 4 3 5", draws=2)
    assert twice.error == pytest.approx(one.error)  # draws of a seed are no further seeds
    assert _row(0.0, 2.0, 0.0, "2", seeds="42").error == 0
    assert _row(0.0, 2.0, 1.4142).error == pytest.approx(one.error, rel=1e-4)  # spread alone


def test_no_gap_over_three_points_passes():
    """Gaps of 11 to 16 points passed as within two spreads of single runs."""
    gaps = [
        row
        for row in ROWS
        if row.metric == "accuracy" and row.mean and row.printed and abs(row.mean - row.printed) > 3
    ]
    assert max(abs(row.mean - row.printed) for row in gaps) > 11
    assert {row.mark for row in gaps} == {measured.FAR}


def test_dataset_statistics_and_multipliers_have_their_rows():
    found = {row.where: row for row in ROWS}
    assert found["datasets", "Computers", "nodes"].mark == measured.DIFFERS
    assert found["datasets", "Computers", "nodes"].words == "13752"
    assert found["datasets", "Cora", "edges"].mean == 5278
    assert found["datasets", "Cora", "train"].mean == 20  # a class
    assert found["datasets", "Coauthor-CS", "val"].mark == measured.AGREES  # in %
    assert "not on this machine" in found["datasets", "WikiCS", "nodes"].note
    printed = reported()
    fedavg, spear = (printed["efficiency_seconds"]["rows"][m] for m in ("FedAvg", "SPEAR"))
    said = printed["efficiency_speedup"]["rows"]["SPEAR against FedAvg"]
    assert [round(a / b) for a, b in zip(fedavg, spear, strict=True)] == said
    speed = [found["speed", "SPEAR against FedAvg", name] for name in ("Cora", "PubMed")]
    assert all(row.mean > row.printed and row.mark == measured.NEW for row in speed)


def test_every_cell_and_curve_has_a_stored_row_with_the_same_settings():
    found = {row.where: row for row in ROWS}
    for cell in [*cells(), *curves()]:
        row = found.pop(cell.where)
        assert json.loads(row.settings) == measured._changed(cell.settings)
        assert row.printed == (cell.printed if isinstance(cell.printed, float | int) else None)
    assert not found


def test_the_exact_cells_are_exact():
    found = {row.where: row.mean for row in ROWS}
    assert round(found["ablation", "without both", "Cora"], 2) == 59.70
    assert round(found["main", "SPEAR", "Cora"], 2) == 63.08
    for dataset, raw, smooth in (
        ("Cora", 0.0073, 0.0103),
        ("CiteSeer", 0.0103, 0.0129),
        ("PubMed", 0.0173, 0.0201),
    ):
        assert round(found["silhouette", "raw features", dataset], 4) == raw
        assert round(found["silhouette", "SPEAR", dataset], 4) == smooth
    assert [round(found["communication", "SPEAR KB", d], 1) for d in ("Cora", "CiteSeer")] == [
        7.3,
        18.8,
    ]


@pytest.mark.parametrize("which", range(3))
def test_a_cell_drawn_at_random_measures_the_same_again(which):
    row = random.choice(REPEATABLE)
    cell = next(c for c in [*cells(), *curves()] if c.where == row.where)
    need(cell.settings.dataset)
    again = measured.measure_cell(cell)
    assert again.mean == pytest.approx(row.mean, rel=1e-4, abs=1e-6), row.where
    assert again.std == pytest.approx(row.std, rel=1e-3, abs=1e-5), row.where


def test_tables_keep_every_printed_row():
    main_table = table("main", ROWS)
    assert list(main_table.rows)[:2] == ["SPEAR", "FedAvg"]
    assert set(main_table.rows) >= set(reported()["main_accuracy"]["rows"])
    assert [e.printed for e in main_table.rows["GHOST"]] == reported()["main_accuracy"]["rows"][
        "GHOST"
    ]
    assert "λ = 0, count weights kept" in table("ablation", ROWS).rows
    for name in PRINTED:
        assert table(name, ROWS).rows


def test_a_dataset_that_is_not_here_says_so(monkeypatch):
    monkeypatch.setattr(measured.store, "found", lambda entry: None)
    cell = next(c for c in cells() if c.settings.dataset == "WikiCS")
    row = measured.measure_cell(cell)
    assert row.mark == measured.OPEN
    assert "WikiCS" in row.note


def test_writing_one_table_keeps_the_others(tmp_path):
    path = tmp_path / "measured.csv"
    measured.write(ROWS, path)
    assert measured.read(path) == ROWS
    changed = [row for row in ROWS if row.table == "main"][:2]
    measured.write(changed, path)
    after = measured.read(path)
    assert [r for r in after if r.table == "main"] == changed
    assert [r for r in after if r.table != "main"] == [r for r in ROWS if r.table != "main"]


def test_the_command_refuses_an_unknown_table(capsys):
    assert main(["paper", "--only", "abaltion"]) == 2
    assert "choose from main, ablation" in capsys.readouterr().err
    assert "main" in paper.tables()


def test_the_command_leaves_the_shipped_table_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPEAR_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / "cache"))
    shipped = measured.FILE.read_bytes()
    assert main(["paper", "--only", "claims"]) == 0
    assert measured.FILE.read_bytes() == shipped
    assert str(measured.own()) in capsys.readouterr().out
    assert {row.table for row in measured.read(measured.own())} == {"claims"}
    asked = tmp_path / "new" / "mine.csv"
    assert main(["paper", "--only", "claims", "--out", str(asked)]) == 0
    assert asked.read_bytes() == measured.own().read_bytes()


def test_a_folder_that_cannot_be_written_is_said_before_the_work(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setattr(measured, "measure_all", lambda *_: pytest.fail("worked in vain"))
    assert main(["paper", "--out", str(tmp_path / "file" / "mine.csv")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_findings_read_their_numbers_from_the_rows():
    need("Cora")
    words = {f.key: f.words for f in findings.findings(ROWS)}
    assert set(words) == {"ablation", "steep", "byzantine", "communication", "constant"}
    hits = findings.constant_predictors()
    assert ("FedAvg", "Cora edge", 31.9, 3) in hits
    sent = {s.what: s.bytes for s in findings.like_for_like(ROWS) if s.dataset == "Cora"}
    assert round(sent["FedAvg, all clients, both ways"] / 2**20, 1) == 2814.5


def test_findings_and_their_figures_fetch_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("SPEAR_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / "cache"))
    fetched = []
    monkeypatch.setattr("spear_core.datasets.fetch.fetch", lambda entry, _: fetched.append(entry))
    monkeypatch.setattr("spear_core.datasets.fetch._supervise", lambda *_: pytest.fail("fetched"))
    words = {f.key: f.words for f in findings.findings(ROWS)}
    assert "are not on this machine" in words["constant"]
    assert not figures.constant().data[0].x
    assert not fetched
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("view", ["Tables", "Curves", "Where it does not hold"])
def test_the_page_shows_every_view(view):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    app.session_state["paper"] = view
    app.switch_page("pages/paper.py").run()
    assert not app.exception
    assert not app.error
    assert app.session_state["paper"] == view
    words = " ".join(element.value for element in [*app.markdown, *app.caption])
    wanted = {"Tables": "mean ± standard deviation", "Curves": "without numbers"}
    assert wanted.get(view, "Count weights carry the gain") in words


def test_spear_stands_first_in_every_table_that_has_it():
    for name in PRINTED:
        rows = list(table(name, []).rows)
        methods = [row.rpartition(": ")[2] for row in rows]
        if "SPEAR" in methods:
            assert methods[0] == "SPEAR", name
    scaled = list(table("scalability", []).rows)
    for dataset in ("Cora", "PubMed"):
        own = [row for row in scaled if row.startswith(f"{dataset}: ")]
        assert not own or own[0].endswith(": SPEAR")
