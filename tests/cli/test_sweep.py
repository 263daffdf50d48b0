"""`python -m spear_core sweep`, and the figures made of its tables."""

import argparse
import math
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from spear_core import Settings, SpearError, run
from spear_core.cli import sweep as sweep_command
from spear_core.figures import sweep as figures
from spear_core.sweeps import sweep
from tests.browser import ROOT


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / "cache"))


def call(*argv):
    parser = argparse.ArgumentParser()
    sweep_command.add(parser.add_subparsers())
    sweep_command.main(parser.parse_args(["sweep", *map(str, argv)]))


def test_a_csv_and_an_html_figure(tmp_path, capsys):
    out, figure = tmp_path / "t.csv", tmp_path / "f.html"
    call(
        "--alpha",
        "0,0.15",
        "--gamma",
        "0.5,inf",
        "--seeds",
        "42,0",
        "--out",
        out,
        "--figure",
        figure,
    )
    table = pd.read_csv(out)
    assert len(table) == 8
    assert table["gamma"].tolist()[:2] == [0.5, math.inf]
    first = run(Settings(alpha=0, seed=42)).metrics
    assert table["accuracy"][0] == first.accuracy
    assert table["bytes_up_total"][0] == first.bytes_up_total
    html = figure.read_text()
    assert "you are here" in html
    assert "https://cdn" not in html[:2000]  # plotly is inside, nothing is fetched
    assert "8 of 8 runs" in capsys.readouterr().err


def test_parquet_keeps_types(tmp_path):
    out = tmp_path / "t.parquet"
    call("--dataset", "karate", "--shrinkage", "true,false", "--chosen", "0,1", "--out", out)
    table = pd.read_parquet(out)
    assert table["shrinkage"].tolist() == [True, False]
    assert table["clients"].tolist() == [3, 3]  # the dataset's own default
    assert table["chosen"].tolist() == ["0,1"] * 2


def test_without_a_file_the_table_is_printed(capsys):
    call("--dataset", "karate", "--measures", "accuracy,error_spear")
    head, row = capsys.readouterr().out.strip().split("\n")
    assert head.endswith("accuracy,error_spear,seconds,problem")
    assert row.startswith("karate,42,")


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--out", "t.xls"], "must end in .csv or .parquet"),
        (["--out", "/no/such/t.csv"], "no folder /no/such"),
        (["--figure", "f.html"], "got none"),
        (["--figure", "f.html", "--alpha", "0,1", "--beta", "1,2", "--gamma", "1,2"], "one or two"),
        (["--seed", "1", "--seeds", "2"], "either --seed or --seeds"),
        (["--shrinkage", "maybe"], "true or false"),
        (["--jobs", "0"], "jobs must be at least 1"),
        (["--jobs", "9" * 20], "jobs must be at most 256"),
        (["--alpha", "x"], "alpha must be a number"),
    ],
    ids=str,
)
def test_bad_input_is_refused_before_any_run(argv, sentence):
    with pytest.raises(SpearError, match=sentence):
        call(*argv)


@pytest.mark.slow
def test_two_processes_give_the_same_table(tmp_path, monkeypatch):
    lists = ("--alpha", "0,0.5", "--seeds", "0,1,2,3")
    call(*lists, "--out", tmp_path / "one.csv")
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / "other"))
    call(*lists, "--out", tmp_path / "two.csv", "--jobs", 2)
    one, two = (pd.read_csv(tmp_path / f"{n}.csv").drop(columns="seconds") for n in ("one", "two"))
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.slow
@pytest.mark.flaky(reruns=2)  # a signal that meets a starting worker is lost now and then
def test_ctrl_c_says_how_to_go_on(tmp_path):
    seeds = ",".join(map(str, range(5000)))
    command = [sys.executable, "-m", "spear_core", "sweep", "--jobs", "2", "--seeds", seeds]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job may ignore it
    )
    logs = tmp_path / "cache" / "sweeps"
    while process.poll() is None and not any(logs.glob("*/digits.log")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert out == ""
    assert "of 5,000 runs. They are kept: the same command goes on from there." in err
    assert "Traceback" not in err


# figures


@pytest.fixture
def table():
    return sweep(Settings(), alpha=[0, 0.15, 0.8], beta=[0.05, 1], seed=[42, 0, 1])


def test_a_curve_has_mean_spread_and_you_are_here(table):
    some = table[table["beta"] == 0.05]
    figure = figures.curve(some, "alpha", here=Settings())
    line = next(t for t in figure.data if t.name == "digits")
    values = 100 * some[some["alpha"] == 0.15]["accuracy"]
    assert line.y[1] == pytest.approx(values.mean())
    assert list(line.customdata[1]) == ["digits", 0.15]
    assert f"± {values.std(ddof=0):.1f} % (3 seeds)" in line.text[1]
    low, high = (t for t in figure.data if t.name is None)
    assert high.y[1] - low.y[1] == pytest.approx(2 * values.std(ddof=0))
    here = next(t for t in figure.data if t.name == figures.HERE)
    assert (here.x[0], here.y[0]) == (0.15, line.y[1])


def test_a_line_for_every_value_of_another_setting(table):
    figure = figures.curve(table, "alpha", by="beta", here=Settings(beta=1.0))
    assert [t.name for t in figure.data if t.name] == [
        "0.05",
        "1.0",
        "best of each",
        "best of each",
        figures.HERE,
    ]


def test_axes_fit_their_values():
    assert figures._Places("alpha", [0, 0.15, 0.8]).axis == {"zeroline": False}
    assert figures._Places("beta", [0.01, 0.1, 10]).axis["type"] == "log"
    endless = figures._Places("gamma", [0, 0.5, math.inf])
    assert endless.axis["ticktext"] == ["0", "0.5", "∞"]
    assert endless.of(math.inf) == 2
    assert figures._Places("defence", ["none", "median"]).of("median") == 1


def test_a_heat_map_of_two_settings(table):
    figure = figures.heat(table, "alpha", "beta", here=Settings(alpha=0.8, beta=1.0))
    cells, points = figure.data
    mean = table[(table["alpha"] == 0.8) & (table["beta"] == 1)]["accuracy"].mean()
    assert cells.z[1][2] == pytest.approx(100 * mean)
    at = [list(pair) for pair in points.customdata].index([0.8, 1.0])
    assert (points.x[at], points.y[at]) == (2, 1)
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].y0) == (1.5, 0.5)


def test_best_values_against_homophily():
    tables = [sweep(Settings(dataset=d), alpha=[0, 0.5], clients=3) for d in ("digits", "karate")]
    both = pd.concat(tables)
    figure = figures.best(both)
    for name, x, y in zip(figure.data[0].text, figure.data[0].x, figure.data[0].y, strict=True):
        part = both[both["dataset"] == name]
        assert x == part["edge_homophily"].iloc[0]
        assert y == part.loc[part["accuracy"].idxmax(), "alpha"]
