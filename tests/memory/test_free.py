"""A graph that does not fit is refused before it is made, with its size and what is free."""

import os
import subprocess
import sys

import pytest

from spear_core import Settings, load
from spear_core.cli import NO_ROOM, main
from spear_core.datasets.synthetic import needed
from spear_core.errors import SettingError
from spear_core.memory import free
from tests.browser import ROOT

PEAK = """
from spear_core import Settings, run
def peak():
    return next(int(s.split()[1]) for s in open("/proc/self/status") if s.startswith("VmHWM"))
run(Settings(dataset="synthetic", nodes=300)).metrics.accuracy  # libraries load when first used
before = peak()
run(Settings(dataset="synthetic", nodes={}, degree={}, classes={}, features={})).metrics.accuracy
print((peak() - before) * 1024)
"""


def test_the_graph_that_ended_a_server_is_refused(monkeypatch):
    monkeypatch.setattr(free, "free_bytes", lambda: 20 * 10**9)
    with pytest.raises(SettingError, match=r"^[^\n]+$") as refused:
        load(Settings(dataset="synthetic", nodes=10**7, degree=50, features=64))
    assert "about 43 GB of memory" in str(refused.value)
    assert "20 GB that are free" in str(refused.value)


def test_allow_large_lifts_the_limit_for_one_command(monkeypatch, capsys):
    monkeypatch.setattr(free, "free_bytes", lambda: 1000)
    line = ["run", "--dataset", "synthetic", "--nodes", "210", "--features", "3"]
    assert main(line) == 2
    assert "--allow-large" in capsys.readouterr().err
    assert main([*line, "--allow-large"]) == 0
    assert "210 nodes" in capsys.readouterr().out
    with pytest.raises(SettingError):
        load(Settings(dataset="synthetic", nodes=211, features=3))


def test_noise_that_does_not_fit_is_refused(monkeypatch, capsys):
    """Three clients, two classes, 34 features, twelve bytes: 2,448 of 4,000 that are free."""
    monkeypatch.setattr(free, "free_bytes", lambda: 4000)
    line = ["run", "--dataset", "karate", "--clients", "3", "--beta", "10", "--epsilon", "1"]
    assert main(line) == 2
    said = capsys.readouterr().err
    assert said.startswith("All class sums would take")
    assert "use fewer clients or classes, or say --allow-large" in said
    assert main([*line, "--allow-large"]) == 0


@pytest.mark.parametrize("words", ["DefaultCPUAllocator: can't allocate memory", "a fault of ours"])
def test_what_torch_cannot_allocate_is_one_sentence(monkeypatch, capsys, words):
    def fails(settings):
        raise RuntimeError(words)

    monkeypatch.setattr("spear_core.cli.run.run", fails)
    if words.endswith("ours"):
        with pytest.raises(RuntimeError):
            main(["run"])
        return
    assert main(["run"]) == 2
    assert capsys.readouterr().err == f"{NO_ROOM}\n"


def test_what_is_free_is_less_than_all_there_is():
    assert 2**20 < free.free_bytes() < 2**50


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("shape", [(100_000, 20, 5, 8), (60_000, 1, 5, 400), (50_000, 1, 300, 4)])
def test_the_estimate_is_near_what_a_run_takes(shape):
    done = subprocess.run(
        [sys.executable, "-c", PEAK.format(*shape)],
        cwd=ROOT,
        env={**os.environ, free.LIFTED: "1"},  # however little is free
        capture_output=True,
        text=True,
        check=True,
    )
    nodes, degree, classes, features = shape
    assert 0.5 < int(done.stdout) / needed(nodes, degree, classes, features) < 1.6
