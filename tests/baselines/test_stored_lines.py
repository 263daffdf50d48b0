"""Lines of stored runs that are torn, older, newer or spoilt, and files with two writers."""

import csv
import io
import subprocess
import sys
from dataclasses import replace

import pytest

from spear_core.baselines import results
from spear_core.baselines.training import defaults
from spear_core.baselines.views import summaries
from spear_core.settings import Settings
from tests.browser import ROOT

ROW = results.Row(
    *(Settings("karate", 1, clients=3), defaults("fedprox", rounds=2)),
    rounds_done=2,
    accuracy=0.5,
    best_round=1,
    best_accuracy=0.5,
    constant="",
    histogram=(9, 9),
    bytes_up=8,
    bytes_down=8,
    bytes_evaluation=0,
    seconds_client=1.0,
    seconds_server=1.0,
    threads=1,
    versions="torch 2, and more",
    cpu_seconds_client=1.0,
    cpu_seconds_server=1.0,
    curve=(0.4, 0.5),
)


@pytest.fixture
def written(tmp_path):
    """A file with one row, and its two lines."""
    path = tmp_path / "rows.csv"
    results.append(ROW, path)
    return path, *path.read_text().splitlines(keepends=True)


def test_a_line_torn_anywhere_is_no_row_and_harms_no_other(written):
    """Only zeros at the end of the curve may be missing."""
    path, names, line = written
    whole = replace(ROW, settings=replace(ROW.settings, seed=2))
    for end in range(len(line) - 1):
        path.write_text(names + line[:end])
        results.append(whole, path)
        kept = [ROW] if line[:end].endswith(("0.5", "0.50", "0.500")) else []
        assert results.stored(path) in ([whole], [*kept, whole]), line[:end]


def test_names_torn_anywhere_are_written_again(written):
    path, names, _ = written
    for end in range(len(names) - 1):
        path.write_text(names[:end])
        results.append(ROW, path)
        assert results.stored(path) == [ROW], names[:end]


@pytest.mark.parametrize("name", results.COLUMNS)
@pytest.mark.parametrize("text", ["", "x", "-1", "0", "nan", "[]", "null", "1 2 3", '{"x": 1}'])
def test_a_spoilt_cell_never_raises(name, text, written):
    """Neither where the row is read nor where it is summed up for a page."""
    path, names, line = written
    cells = dict(zip(results.COLUMNS, next(csv.reader([line])), strict=True)) | {name: text}
    spoilt = io.StringIO()
    csv.writer(spoilt, lineterminator="\n").writerow(cells.values())
    path.write_text(names + spoilt.getvalue() + line)
    rows = results.stored(path)
    assert rows[-1] == ROW
    summaries(rows)
    summaries([replace(row, settings=replace(row.settings, seed=i)) for i, row in enumerate(rows)])


def test_a_row_of_no_round_is_none(written):
    path, _, line = written
    path.write_text(line.replace(",2,0.5,1,", ",0,0.5,1,").replace("0.4000 0.5000", ""))
    assert results.stored(path) == []


def test_columns_of_a_newer_version_are_passed_over(written):
    path, names, line = written
    path.write_text(f"{names.strip()},later\n{line.strip()},7\n" + names + line)
    assert results.stored(path) == [ROW, ROW]


def test_a_stopped_run_is_in_no_mean(written):
    part = replace(ROW, settings=replace(ROW.settings, seed=2), rounds_done=1, curve=(0.5,))
    assert [s.seeds for s in summaries([ROW, part])] == [(1,)]


WRITER = """
import sys
from dataclasses import replace
from tests.baselines.test_stored_lines import ROW, results
print("ready", flush=True)
sys.stdin.readline()
for seed in range(20):
    settings = replace(ROW.settings, seed=100 * int(sys.argv[1]) + seed)
    results.append(replace(ROW, settings=settings), results.own())
"""


def test_two_writers_in_an_empty_cache_lose_nothing(cache):
    """Both begin when both are ready; names that come twice are read, not taken for a row."""
    command = [sys.executable, "-c", WRITER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    both = [subprocess.Popen([*command, str(k)], **pipes) for k in (1, 2)]
    for writer in both:
        assert writer.stdout.readline() == "ready\n"
    for writer in both:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in both:
        writer.communicate()
        assert writer.returncode == 0
    seeds = [row.settings.seed for row in results.stored(results.own())]
    assert sorted(seeds) == [*range(100, 120), *range(200, 220)]
