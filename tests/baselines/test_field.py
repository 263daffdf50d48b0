"""The plan of stored runs, and the command that carries it out, killed and finished."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from spear_core import Settings
from spear_core.baselines import METHODS, defaults, results, train
from spear_core.baselines.plan import CITATIONS, DATASETS, PARTS, missing, plan
from spear_core.baselines.runner import options
from spear_core.baselines.views import summaries
from spear_core.cli import parser
from spear_core.cli.baseline import one
from spear_core.errors import SettingError
from tests.browser import ROOT

KARATE = Settings(dataset="karate", clients=3)


def test_the_plan_has_every_method_everywhere_and_every_run_once():
    main = plan(["main"])
    assert Counter((w.training.method, w.settings.dataset) for w in main) == {
        (method, name): 3 for method in METHODS for name in DATASETS
    }
    for w in main:
        assert (w.settings.clients, w.settings.beta) == (10, 0.05)
        assert w.training.rounds == (1 if METHODS[w.training.method].one_shot else 100)
    whole = plan(PARTS)
    keys = [results.key_of(w.settings, w.training) for w in whole]
    assert len(set(keys)) == len(keys) < sum(len(list(part())) for part in PARTS.values())
    long = plan(["long"])
    assert {(w.training.method, w.settings.dataset) for w in long} == {
        (method, name) for method in ("fedavg", "fedprox") for name in CITATIONS
    }
    assert {w.training.rounds for w in long} == {500}
    few = plan(["main"], methods=["dense"], datasets=["karate"], seeds=[42])
    assert [w.title for w in few] == ["DENSE on karate, K = 10, β = 0.05, seed 42"]


def test_a_wanted_run_as_options_is_the_same_run(cache, monkeypatch):
    for wanted in plan(["main", "long"], datasets=["karate"], seeds=[0]):
        asked = []

        def note(settings, training, *more, asked=asked):
            asked.append(results.key_of(settings, training))
            raise InterruptedError

        monkeypatch.setattr("spear_core.cli.baseline.one", note)
        args = parser().parse_args(["baseline", *options(wanted)])
        with pytest.raises(InterruptedError):
            args.command(args)
        assert asked == [results.key_of(wanted.settings, wanted.training)]


def test_what_did_not_finish_says_how_long_it_ran(cache, tmp_path):
    """A row of what is there, done for this limit and to do for a longer one."""
    path, how = tmp_path / "rows.csv", defaults("fedsd2c", hidden=8, epochs=2, sd2c_steps=40)
    cut = one(KARATE, how, path, limit=0.0)
    assert (cut.rounds_done, cut.accuracy) == (0, None)
    assert cut.seconds_client > 0
    (row,) = results.stored(path)
    took = row.seconds_client + row.seconds_server
    assert row.rounds_done == 0
    wanted = [replace(plan(["main"], ["fedsd2c"])[0], settings=KARATE, training=how)]
    assert missing(wanted, [row], limit=took / 2) == []
    assert missing(wanted, [row], limit=took * 2) == wanted
    assert one(KARATE, how, path, limit=took / 2).rounds_done == 0  # read
    whole = one(KARATE, how, path, limit=1000.0)
    assert whole.rounds_done == 1
    assert whole.accuracy == train(KARATE, how, keep=False).accuracy
    assert whole.steps[-1] == pytest.approx(whole.accuracy)
    assert len(whole.made) == 10
    assert whole.load is not None


def test_a_noisy_run_is_tested_on_the_clean_graph_and_is_in_no_clean_mean(cache, tmp_path):
    noisy = replace(KARATE, edge_noise=0.8)
    how = defaults("fedavg", rounds=2, hidden=8)
    clean, run = train(KARATE, how), train(noisy, how)
    assert torch.equal(run.graph.edge_index, clean.graph.edge_index)
    assert not torch.equal(run.partition.graph.edge_index, clean.graph.edge_index)
    assert not torch.equal(run.model["first.weight"], clean.model["first.weight"])
    hard = train(replace(noisy, noise_test=True), how)  # another run: the same model, tested harder
    assert torch.equal(hard.model["first.weight"], run.model["first.weight"])
    assert torch.equal(hard.graph.edge_index, run.partition.graph.edge_index)
    path = tmp_path / "rows.csv"
    for one_run in (clean, run, hard):
        results.append(results.row_of(one_run), path)
    rows = results.stored(path)
    assert [(r.settings.edge_noise, r.settings.noise_test) for r in rows] == [
        (0.0, False),
        (0.8, False),
        (0.8, True),
    ]
    full = [replace(r, training=defaults("fedavg", rounds=2)) for r in rows]  # of a known recipe
    assert [s.accuracy for s in summaries(full)] == [clean.accuracy]
    assert [s.accuracy for s in summaries(full, noisy)] == [run.accuracy]
    assert {w.settings.edge_noise for w in plan(["edge-noise"])} == {0.5}


def test_what_is_asked_for_wrongly_is_said(cache):
    for say in (["field", "mian"], ["field", "--methods", "dens"], ["field", "--processes", "0"]):
        with pytest.raises(SettingError, match="must be"):
            (args := parser().parse_args(say)).command(args)


def until(check: Callable[[], object], seconds: float = 600) -> None:
    """Look again and again until it is so."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)


def children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads Linux's list of processes")
def test_killed_twice_and_finished(cache, tmp_path):
    """Once with all its processes, once alone: then these end by themselves."""
    path = tmp_path / "rows.csv"
    say = [sys.executable, "-m", "spear_core", "field", "main", "--datasets", "karate"]
    say += ["--methods", "fedavg,fedsd2c", "--seeds", "42,0,1", "--store", str(path)]
    say += ["--processes", "2"]
    env = {**os.environ, "SPEAR_CACHE": str(cache)}

    def started() -> subprocess.Popen:
        return subprocess.Popen(say, cwd=ROOT, env=env, start_new_session=True)

    def rows() -> int:
        return len(results.stored(path))

    first = started()
    until(lambda: rows() >= 1)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    had = rows()
    assert had < 6
    second = started()
    until(lambda: rows() > had and children(second.pid))
    orphans = children(second.pid)
    second.kill()
    second.wait()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in orphans))
    had = rows()
    done = subprocess.run(say, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert f"{had} of 6 runs are stored, {6 - had} are to do." in done.stdout
    made = results.stored(path)
    assert Counter((r.training.method, r.settings.seed) for r in made) == {
        (method, seed): 1 for method in ("fedavg", "fedsd2c") for seed in (42, 0, 1)
    }
    for row in made:
        assert row.accuracy == pytest.approx(
            train(row.settings, row.training, keep=False).accuracy, abs=1e-6
        )
        assert row.threads == 1
        assert row.peak_mib > 100
    again = subprocess.run(say, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert "6 of 6 runs are stored, 0 are to do." in again.stdout
