"""The command line: what it prints, its JSON, and exit code 2 with one sentence."""

import json
import os
import subprocess
import sys

import pytest

from spear_core import Settings, run
from spear_core.cli import main
from tests.browser import ROOT

METRICS = (
    *("accuracy", "macro_f1", "silhouette_raw", "silhouette_smoothed", "error_local"),
    *("error_mean", "error_spear", "bytes_up_total", "bytes_up_per_client", "seconds"),
)


def call(capsys, *argv):
    """Exit code, standard output and standard error of a command."""
    try:
        code = main(list(argv))
    except SystemExit as stop:
        code = stop.code
    out = capsys.readouterr()
    return code, out.out, out.err


def test_json_of_several_seeds(capsys):
    code, out, _ = call(
        capsys, "run", "--dataset", "digits", "--seeds", "42,0,1", "--gamma", "inf", "--json"
    )
    report = json.loads(out, parse_constant=lambda c: pytest.fail(f"{c} in JSON"))
    assert code == 0
    assert report["seeds"] == [42, 0, 1]
    assert report["settings"]["gamma"] == "inf"
    for name in METRICS:
        assert set(report[name]) == {"mean", "std", "values"}
        assert len(report[name]["values"]) == 3
    expected = [run(Settings(seed=s, gamma="inf")).metrics.accuracy for s in (42, 0, 1)]
    assert report["accuracy"]["values"] == expected
    assert report["accuracy"]["mean"] == pytest.approx(sum(expected) / 3)


def test_readable_output(capsys):
    code, out, _ = call(capsys, "run", "--dataset", "karate")
    assert code == 0
    assert "K=3" in out
    assert "accuracy" in out


def test_switches(capsys):
    _, out, _ = call(capsys, "run", "--no-shrinkage", "--no-count-weights", "--json")
    settings = json.loads(out)["settings"]
    assert settings["shrinkage"] is False
    assert settings["count_weights"] is False


def test_help_names_every_setting_with_its_symbol(capsys):
    code, out, _ = call(capsys, "run", "--help")
    assert code == 0
    for word in ("--beta", "β, ", "--alpha", "α, ", "--gamma", "γ, ", "--steps", "T, ", "K, "):
        assert word in out


@pytest.mark.parametrize(
    "argv",
    [
        ["run", "--dataset", "Coraa"],
        ["run", "--beta", "0"],
        ["run", "--beta", "nan"],
        ["run", "--beta", "1e-12"],
        ["run", "--clients", "0"],
        ["run", "--clients", "1798"],
        ["run", "--clients", "many"],
        ["run", "--alpha", "1"],
        ["run", "--alpha", "-0.5"],
        ["run", "--steps", "-1"],
        ["run", "--gamma", "-0.1"],
        ["run", "--split", "1"],
        ["run", "--seed", "1", "--seeds", "1,2"],
        ["run", "--seeds", "1,x"],
        ["run", "--unheard-of", "1"],
        ["data", "Coraa"],
        ["fly"],
        [],
    ],
    ids=" ".join,
)
def test_bad_input_is_one_sentence_and_exit_2(capsys, argv):
    code, out, err = call(capsys, *argv)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.strip().endswith((".", "?"))
    assert "Traceback" not in err


def test_data_lists_every_dataset(capsys):
    code, out, _ = call(capsys, "data")
    assert code == 0
    for name in ("digits", "Cora", "ogbn-arxiv", "Roman-empire"):
        assert name in out
    code, out, _ = call(capsys, "data", "digits")
    assert "digits is ready (built in): 1797 nodes" in out


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_without_greek_letters(encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    for argv in (["run", "--dataset", "karate"], ["run", "--help"]):
        done = subprocess.run(
            [sys.executable, "-m", "spear_core", *argv],
            env=environment,
            capture_output=True,
            cwd=ROOT,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_a_full_disk_for_the_output():
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "spear_core", "data"]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, check=False, text=True
        )
    assert done.returncode == 2
    assert done.stderr.startswith("The output cannot be written")
    assert "Traceback" not in done.stderr
