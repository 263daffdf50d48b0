"""A sweep gives what single runs give, keeps it, survives kills, and runs on any executor."""

import math
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import fields, replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear_core import PAPER_SEEDS, Settings, SpearError, run
from spear_core.sweeps import COLUMN, sweep
from spear_core.sweeps.block import MOST, QUICK, Block, measure_block
from spear_core.sweeps.store import append, key, log, read, version
from tests.browser import ROOT

SMALL = {"alpha": [0, 0.15, 0.8], "gamma": [0, 0.5, math.inf], "steps": [0, 2], "seed": [42, 0]}
TEN_THOUSAND = {  # 8 × 5 × 5 × 10 × 5 runs
    "alpha": [0, 0.05, 0.15, 0.3, 0.5, 0.7, 0.8, 0.9],
    "gamma": [0, 0.1, 0.5, 2, math.inf],
    "steps": [1, 2, 3, 4, 5],
    "beta": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    "seed": list(PAPER_SEEDS),
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Every test begins with nothing kept."""
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def measured(monkeypatch):
    """The blocks that were really measured, in order."""
    blocks = []

    def counting(block, *more):
        blocks.append(block)
        return measure_block(block, *more)

    monkeypatch.setattr(sys.modules["spear_core.sweeps.workers"], "measure_block", counting)
    return blocks


def settings_of(row):
    return Settings(**{f.name: row[f.name] for f in fields(Settings)})


def without_seconds(table):
    return table.drop(columns="seconds")


def assert_rows_are_single_runs(table, measures=QUICK):
    for row in table.to_dict("records"):
        metrics = run(settings_of(row)).metrics
        for name in measures:
            assert row[COLUMN.get(name, name)] == getattr(metrics, name), (name, row)


def test_every_row_is_a_single_run():
    table = sweep(Settings(), **SMALL, beta=[0.05, 1.0])
    assert len(table) == 3 * 3 * 2 * 2 * 2
    assert len(table.drop_duplicates([f.name for f in fields(Settings)])) == len(table)
    assert (table["seconds"] > 0).all()
    assert_rows_are_single_runs(table)


def test_rows_come_in_the_order_of_the_lists():
    table = sweep(Settings(), seed=[2, 0], beta=[1, 0.5], alpha=["0.5", 0.1], gamma=0.5)
    assert table["seed"].tolist() == [2] * 4 + [0] * 4
    assert table["beta"].tolist() == [1, 1, 0.5, 0.5] * 2
    assert table["alpha"].tolist() == [0.5, 0.1] * 4


@pytest.mark.parametrize(
    "changes",
    [
        {"peers": "semantic"},
        {"defence": "median", "attacker_count": 2},
        {"flip": "next", "attacker_count": 3},
        {"forge": "negated", "attacker_count": 2, "inflate": 10},
        {"epsilon": 20},
        {"edge_noise": 0.3, "noise_test": True},
    ],
    ids=str,
)
def test_attacks_and_heuristics_vary_like_anything_else(changes):
    table = sweep(Settings(**changes), alpha=[0, 0.5], gamma=[0.1, 2], seed=[42, 1])
    assert_rows_are_single_runs(table)


def test_what_the_server_drops_at_some_points_only_is_measured_at_every_point():
    """Prototypes scaled by 1.2 are too long, until α has made them short enough to be believed."""
    made = Settings(dataset="synthetic", nodes=300, features=4, strength=2.0)
    lying = replace(made, attacker_count=10, flip="none", forge="scaled", forge_scale=1.2)
    table = sweep(lying, alpha=[0, 0.15, 0.5, 0.9], gamma=[0.5, 2])
    assert table["bytes_down_per_client"].tolist() == [0] * 4 + [40] * 4
    assert_rows_are_single_runs(table)


def test_other_measures_are_taken_from_full_runs():
    measures = ("error_spear", "silhouette_smoothed")
    table = sweep(Settings(), measures=measures, alpha=[0, 0.5], gamma=[0.5, 2])
    assert_rows_are_single_runs(table, ("accuracy", *measures))
    assert "bytes_up_total" not in table


def test_the_same_sweep_again_measures_nothing(measured):
    table = sweep(Settings(), **SMALL)
    assert len(measured) == 2
    told = []
    again = sweep(Settings(), progress=lambda *said: told.append(said), **SMALL)
    pd.testing.assert_frame_equal(again, table)  # the seconds too: they were kept
    assert len(measured) == 2
    assert told == [("36 of 36 runs", 1.0)]


def test_only_what_lacks_is_measured(measured):
    sweep(Settings(), alpha=[0.1, 0.2], gamma=[0.5, 1])
    wider = sweep(Settings(), alpha=[0.1, 0.2, 0.3], gamma=[0.5, 1])
    assert measured[1].points == [(0.3, 0.5, 2), (0.3, 1.0, 2)]
    assert_rows_are_single_runs(wider)
    sweep(Settings(), measures=["error_local"], alpha=[0.1], gamma=[0.5, 1])
    assert len(measured) == 3  # another measure of the same runs


def test_another_version_of_the_engine_measures_anew(measured, monkeypatch):
    sweep(Settings(), alpha=[0.1, 0.2])
    for module in ("store", "block", "workers"):
        monkeypatch.setattr(sys.modules[f"spear_core.sweeps.{module}"], "version", lambda: "other")
    sweep(Settings(), alpha=[0.1, 0.2])
    assert len(measured) == 2


@given(st.data())
def test_a_log_cut_anywhere_gives_whole_blocks_and_goes_on(tmp_path_factory, data):
    """Whatever byte a kill stops at, whole lines are read, torn ones are not, new ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPEAR_CACHE", str(tmp_path_factory.mktemp("cut")))
        path, ends = log("digits"), []
        for i in range(3):
            record = {"points": [(0.1, 0.5, i)], "each": {"accuracy": [i / 3]}, "shared": {}}
            append("digits", "a", record)
            ends.append(path.stat().st_size - 1)  # less the line break, which may be torn off
        whole = path.read_bytes()
        cut = data.draw(st.integers(0, len(whole)))
        path.write_bytes(whole[:cut])
        assert sorted(read("digits", ["a"])["a"]) == [
            (0.1, 0.5, n) for n in range(3) if cut >= ends[n]
        ]
        record = {"points": [(0.9, 0.5, 9)], "each": {"accuracy": [1.0]}, "shared": {}}
        append("digits", "a", record)
        assert read("digits", ["a", "b"])["a"][0.9, 0.5, 9] == {"accuracy": 1.0}


def test_a_stopped_sweep_gives_what_there_is_and_goes_on(measured):
    some = sweep(Settings(), stop=lambda: len(measured) == 2, seed=range(5), alpha=[0, 0.5])
    assert some["seed"].tolist() == [0, 0, 1, 1]
    whole = sweep(Settings(), seed=range(5), alpha=[0, 0.5])
    assert [block.settings.seed for block in measured] == [0, 1, 2, 3, 4]
    assert_rows_are_single_runs(whole)


def test_an_error_in_progress_loses_nothing(measured):
    def refuse(sentence, fraction):
        if fraction > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(Settings(), progress=refuse, seed=range(4))
    sweep(Settings(), seed=range(4))
    assert len(measured) == 4


def test_what_cannot_be_run_says_why_in_its_row():
    table = sweep(Settings(dataset="karate"), clients=[3, 40], alpha=[0, 0.5])
    assert table["problem"].str.contains("clients").tolist() == [False, False, True, True]
    assert table["accuracy"].isna().tolist() == [False, False, True, True]
    with pytest.raises(SpearError, match="clients"):
        sweep(Settings(dataset="karate"), clients=[40, 50])


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        ({"alfa": [1]}, "no setting alfa"),
        ({"alpha": []}, "at least one value of alpha"),
        ({"alpha": [0.5, 1]}, "alpha must be below 1"),
        ({"measures": ["beauty"]}, "no measure beauty"),
    ],
    ids=str,
)
def test_nonsense_is_refused_in_a_sentence(lists, sentence):
    with pytest.raises(SpearError, match=sentence):
        sweep(Settings(), **lists)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 12))
def test_parts_of_a_block_are_its_points_once_and_small(alphas, gammas, steps):
    axes = (tuple(range(n)) for n in (alphas, gammas, steps))
    block = Block(Settings(), *axes)
    parts = list(block.parts())
    assert all(len(part.points) <= MOST for part in parts)
    assert sorted(p for part in parts for p in part.points) == block.points


def test_the_key_knows_everything_but_the_grid():
    assert key(Settings(alpha=0.1, gamma=3, steps=7)) == key(Settings())
    assert (
        len({key(Settings(**{f: v})) for f, v in (("seed", 1), ("beta", 1), ("flip", "pair"))}) == 3
    )


# executors


class Losing(Executor):
    """An executor that loses the first so many blocks, as one does whose workers die."""

    def __init__(self, lost):
        self.lost, self.pool, self.submitted = lost, ThreadPoolExecutor(1), 0

    def submit(self, *work):
        self.submitted += 1
        if self.submitted <= self.lost:
            gone = Future()
            gone.set_exception(ConnectionError("the worker is gone"))
            return gone
        return self.pool.submit(*work)


def test_lost_blocks_are_handed_out_again():
    expected = sweep(Settings(), **SMALL)
    os.environ["SPEAR_CACHE"] += "-2"
    executor = Losing(5)
    table = sweep(Settings(), executor=executor, **SMALL)
    assert executor.submitted == 7
    pd.testing.assert_frame_equal(without_seconds(table), without_seconds(expected))


def test_a_block_that_is_lost_every_time_ends_in_a_sentence():
    with pytest.raises(SpearError, match=r"lost \(ConnectionError: the worker is gone\)"):
        sweep(Settings(), executor=Losing(99), alpha=[0, 0.5])
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    with pytest.raises(SpearError, match="call the same sweep again"):
        sweep(Settings(), executor=closed, alpha=[0, 0.5])


def test_workers_of_another_version_refuse():
    block = Block(Settings(), (0.1,), (0.5,), (2,))
    assert "problem" not in measure_block(block, ("accuracy",), version())
    with pytest.raises(SpearError, match="another version"):
        measure_block(block, ("accuracy",), "older")


def test_a_stop_calls_off_what_has_not_begun():
    with ThreadPoolExecutor(1) as pool:
        some = sweep(
            Settings(), executor=pool, stop=lambda: pool._work_queue.qsize() < 190, seed=range(200)
        )
        assert len(some) < 100


@pytest.mark.slow
def test_a_dask_cluster_of_processes_that_loses_a_worker():
    distributed = pytest.importorskip("distributed")
    lists = {**SMALL, "seed": list(range(16))}
    expected = sweep(Settings(), **lists)
    os.environ["SPEAR_CACHE"] += "-2"
    killed = []

    def kill_one(sentence, fraction):
        if fraction > 0.2 and not killed:
            killed.append(client.submit(os.getpid, pure=False).result())
            os.kill(killed[0], signal.SIGKILL)

    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        before = set(client.run(os.getpid).values())
        with client.get_executor() as executor:
            table = sweep(Settings(), executor=executor, progress=kill_one, **lists)
    assert len(before) == 2
    assert set(killed) < before  # it was a worker of the cluster, not this process
    pd.testing.assert_frame_equal(without_seconds(table), without_seconds(expected))


@pytest.mark.slow
def test_ten_thousand_runs_killed_three_times(cache):
    expected = sweep(Settings(), **TEN_THOUSAND)
    assert len(expected) == 10_000
    os.environ["SPEAR_CACHE"] = str(cache) + "-2"
    code = (
        "from spear_core import Settings\nfrom spear_core.sweeps import sweep\n"
        f"inf = float('inf')\nsweep(Settings(), **{TEN_THOUSAND!r})"
    )
    path, chance, blocks = log("digits"), random.Random(), [0]
    for kill in range(3):
        process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
        goal = blocks[-1] + chance.randint(1, 12)
        while process.poll() is None and kept_lines(path) < goal:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, f"it had ended before kill {kill}"
        blocks.append(kept_lines(path))
    assert 0 < blocks[1] < blocks[2] < blocks[3] < 50
    told = []
    table = sweep(Settings(), progress=lambda *said: told.append(said), **TEN_THOUSAND)
    assert told[0][1] == blocks[3] / 50  # nothing that was done was lost
    pd.testing.assert_frame_equal(without_seconds(table), without_seconds(expected))


def kept_lines(path):
    """Whole lines in a log; every record is one and has an empty one before it."""
    return path.read_bytes().count(b"}\n") if path.exists() else 0
