"""Stored tables: what is torn or older does no harm, and a file is there whole or not at all."""

from dataclasses import dataclass

import pytest

from spear_core.baselines import results
from spear_core.datasets import csv_rows
from spear_core.errors import StorageError
from spear_core.paper import measured, perturbation
from spear_core.studies import defence_table

STORES = {  # a file that ships -> how it is read
    results.SHIPPED: results.stored,
    measured.FILE: measured.read,
    perturbation.FILE: perturbation.read,
    defence_table.STORED: defence_table.stored,
}


@dataclass(frozen=True)
class Row:
    name: str
    share: float | None
    counts: tuple[int, ...]
    note: str = "none yet"


@pytest.mark.parametrize("shipped", STORES, ids=lambda path: path.name)
def test_a_torn_line_harms_no_other(shipped, tmp_path):
    read, text = STORES[shipped], shipped.read_text()
    whole = read(shipped)
    assert len(whole) == text.count("\n") - 1
    path = tmp_path / "torn.csv"
    path.write_text(text + text.splitlines()[1][:40])
    assert read(path) == whole


@pytest.mark.parametrize("shipped", STORES, ids=lambda path: path.name)
def test_no_file_has_no_row(shipped, tmp_path):
    assert STORES[shipped](tmp_path / "absent.csv") == []


def test_rows_come_back_as_they_were(tmp_path):
    rows = [Row("a, b", 0.25, (1, 2)), Row("c", None, (), "said")]
    csv_rows.write(tmp_path / "new" / "rows.csv", Row, rows, number=str)
    assert csv_rows.read_all(tmp_path / "new" / "rows.csv", Row) == rows


def test_an_older_file_lacks_what_has_a_default(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("name,share,counts\nold,0.5,3\nname,share,counts,note\nnew,,4 5,said\n")
    assert csv_rows.read_all(path, Row) == [Row("old", 0.5, (3,)), Row("new", None, (4, 5), "said")]


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "rows.csv"
    csv_rows.write(path, Row, [Row("kept", None, ())], number=str)
    before = path.read_bytes()

    def failing(value):
        raise OSError("the disk is full")

    with pytest.raises(StorageError, match="the disk is full"):
        csv_rows.write(path, Row, [Row("new", 0.5, ())], number=failing)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["rows.csv"]
