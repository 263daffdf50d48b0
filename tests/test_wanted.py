"""Work that nobody waits for ends at its next piece, and what it leaves is whole or not there."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
import torch

from spear_core import Settings, grid, load, run, sweep
from spear_core.baselines.loop import curve_so_far, train
from spear_core.datasets import fetch
from spear_core.datasets.synthetic import synthetic
from spear_core.memory.kept import Kept
from spear_core.sweeps import store
from spear_core.sweeps.workers import attempted
from spear_core.wanted import Cancelled, still_wanted, while_wanted
from tests.baselines.federations import same_run, short
from tests.conftest import random_graph

NOISY = Settings(clients=3, beta=1.0, alpha=0.4, steps=3, edge_noise=0.2, defence="consensus")
AXES = ([0.0, 0.4], [0.5, 1.0], [1, 3])


class Waits:
    """Somebody who waits for so many pieces of work."""

    def __init__(self, pieces: int = 10**9) -> None:
        self.pieces, self.asked = pieces, 0

    def __call__(self) -> None:
        self.asked += 1
        if self.asked > self.pieces:
            raise Cancelled


def pieces(work) -> int:
    """How often a piece of work asks whether it is wanted."""
    waits = Waits()
    with while_wanted(waits):
        work()
    return waits.asked


def left_after(pieces, work) -> None:
    """Begin some work and leave it after so many pieces: it must end at the very next one."""
    waits = Waits(pieces)
    with while_wanted(waits), pytest.raises(Cancelled):
        work()
    assert waits.asked == pieces + 1


def small(nodes: int) -> Settings:
    return Settings(dataset="synthetic", nodes=nodes, features=8, classes=3, clients=4, beta=1.0)


def test_work_is_wanted_unless_somebody_says_otherwise():
    still_wanted()
    with while_wanted(Waits(0)):
        with while_wanted(Waits(1)):
            still_wanted()
        with pytest.raises(Cancelled):
            still_wanted()
    still_wanted()


def test_nothing_that_catches_errors_takes_it_for_one(monkeypatch):
    assert not issubclass(Cancelled, Exception)

    def stopped(*given):
        raise Cancelled

    monkeypatch.setattr("spear_core.sweeps.workers.measure_block", stopped)
    with pytest.raises(Cancelled):
        attempted(None, (), "")


def test_a_run_asks_seldom():
    """Each question takes 50 ns without anybody to ask and 1 µs in the app, a run on Cora 1 ms."""
    settings = Settings(dataset="karate", clients=3)
    run(settings)
    assert 5 <= pieces(lambda: run(settings)) <= 30


def test_a_load_can_be_left_at_any_piece():
    many = pieces(lambda: load(small(700)))
    assert many > 12
    for n in range(many):
        settings = small(701 + n)
        left_after(n, lambda settings=settings: load(settings))
        again = load(settings)
        shape = (settings.nodes, settings.degree, 3, 8, settings.homophily, settings.strength)
        assert torch.equal(again.x, torch.as_tensor(synthetic(*shape)["x"]))


def test_a_run_can_be_left_at_any_piece():
    fresh = run(NOISY, random_graph(5)).prediction.scores
    new = random_graph(5)
    many = pieces(lambda: run(NOISY, new))
    assert many > 20
    for n in range(0, many, 3):
        graph = random_graph(5)
        left_after(n, lambda graph=graph: run(NOISY, graph))
        assert torch.equal(run(NOISY, graph).prediction.scores, fresh)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_grid_can_be_left_at_any_piece(sparse):
    def graph():
        return load(Settings(dataset="karate")).replace() if sparse else random_graph(5)

    settings = Settings(clients=3, beta=1.0)
    fresh = grid(settings, *AXES, graph=graph()).labels
    new = graph()
    many = pieces(lambda: grid(settings, *AXES, graph=new))
    assert many > 5
    for n in range(0, many, 2):
        mine = graph()
        left_after(n, lambda mine=mine: grid(settings, *AXES, graph=mine))
        assert torch.equal(grid(settings, *AXES, graph=mine).labels, fresh)


def test_a_sweep_that_is_left_keeps_whole_blocks_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path))
    settings, seeds = Settings(dataset="karate", clients=3), [1, 2, 3, 4]
    told = []

    def told_twice(sentence, fraction):
        told.append(fraction)

    def tell():
        if len(told) > 2:  # the beginning and two blocks
            raise Cancelled

    with while_wanted(tell), pytest.raises(Cancelled):
        sweep(settings, progress=told_twice, seed=seeds, alpha=[0.1, 0.2])
    assert told == [0, 0.25, 0.5]
    lines = store.log("karate").read_text().split("\n")
    assert len([line for line in lines if line]) == 2
    told.clear()
    table = sweep(settings, progress=told_twice, seed=seeds, alpha=[0.1, 0.2])
    assert told == [0.5, 0.75, 1.0]
    assert list(table.seed) == [1, 1, 2, 2, 3, 3, 4, 4]


def test_what_workers_have_not_begun_is_called_off(tmp_path, monkeypatch):
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path))
    begun, go_on = [], threading.Event()

    def slow(block, *more):
        begun.append(block)
        assert go_on.wait(600)

    def tell():
        if begun:
            raise Cancelled

    monkeypatch.setattr("spear_core.sweeps.workers.attempted", slow)
    with ThreadPoolExecutor(1) as pool:
        with while_wanted(tell), pytest.raises(Cancelled):
            sweep(Settings(dataset="karate", clients=3), executor=pool, seed=[1, 2, 3])
        go_on.set()
    assert len(begun) == 1
    assert not store.log("karate").exists()


@pytest.mark.parametrize("method", ["fedavg", "fedtad"])
def test_training_that_is_left_in_a_round_goes_on_from_the_round_before(
    tmp_path, monkeypatch, method
):
    settings, training = small(300), short(method, rounds=3)
    want = train(settings, training, keep=False)
    each = pieces(lambda: train(settings, training, keep=False)) // 3
    assert each > settings.clients * training.epochs
    for n in (each // 2, each + each // 2, 2 * each + each // 2):
        monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / str(n)))
        left_after(n, lambda: train(settings, training))
        done = curve_so_far(settings, training)
        assert done == want.curve[: len(done)]
        assert len(done) < 3
        assert not [*tmp_path.glob("**/*.part")]
        same_run(train(settings, training), want)


# -- several who wait for the same


def test_one_who_leaves_does_not_spoil_it_for_another_who_waits():
    kept, held, going, numbers = Kept(), threading.Event(), threading.Event(), count()

    def make():
        number = next(numbers)
        held.set()
        assert going.wait(600)
        still_wanted()
        return number

    def leaver():
        with while_wanted(Waits(1)), pytest.raises(Cancelled):
            kept.get("value", frozenset(), make)

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(leaver)
        assert held.wait(600)
        two = pool.submit(kept.get, "value", frozenset(), make)
        going.set()
        one.result(600)
        assert two.result(600) == 1  # made by itself
    assert kept.peek("value", frozenset()) == 1


def test_a_graph_that_two_load_and_one_leaves_is_there_for_the_other():
    settings, begun, left = small(999), threading.Event(), threading.Event()

    def leave():
        begun.set()
        assert left.wait(600)
        raise Cancelled

    def leaver():
        with while_wanted(leave), pytest.raises(Cancelled):
            load(settings)

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(leaver)
        assert begun.wait(600)
        two = pool.submit(load, settings)
        left.set()
        one.result(600)
        assert two.result(600).num_nodes == 999
    assert load(settings) is two.result()


# -- other processes


def test_a_download_that_nobody_waits_for_is_ended(tmp_path):
    note = tmp_path / "pid"
    code = f"import os, time; open({str(note)!r}, 'w').write(f'{{os.getpid()}} '); time.sleep(600)"

    def tell():
        if note.exists() and note.read_text().endswith(" "):
            raise Cancelled

    with while_wanted(tell), pytest.raises(Cancelled):
        fetch._supervise([sys.executable, "-c", code], tmp_path, "Sleeping", 1.0, None)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_asking_costs_next_to_nothing():
    """As much as a few calls of a function that does nothing, taken in turns: a thousandth of 1 ms,
    which a run on Cora takes, and the ratio is the same on a busy machine."""
    code = (
        "from timeit import timeit\nfrom spear_core.wanted import still_wanted\n"
        "pairs = [[timeit(f, number=20_000) for f in (still_wanted, lambda: None)] "
        "for _ in range(25)]\n"
        "ours, nothing = map(min, zip(*pairs))\nprint(ours / nothing)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert float(done.stdout) < 20, done.stderr  # about 2
