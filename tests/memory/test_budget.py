"""What stays in memory: shared between shelves, counted once, the oldest out first."""

import threading
from weakref import WeakSet

import pytest
import torch

from spear_core import Settings, load, run, split
from spear_core.errors import StorageError
from spear_core.memory import budget
from spear_core.memory.budget import Shelf, remembered
from spear_core.memory.kept import Kept
from spear_core.memory.sizes import bytes_of
from tests.conftest import random_graph

MB = 250_000  # numbers of a megabyte


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    monkeypatch.setenv("SPEAR_MEMORY_GB", "0.01")  # ten megabytes
    budget.clear()
    monkeypatch.setattr(budget, "_shelves", WeakSet())  # not those that others left
    monkeypatch.setattr(budget, "_most_held", 0)


def there(shelf):
    return list(shelf.entries)


def test_the_oldest_of_all_shelves_goes_first():
    one, other = Shelf(most=9), Shelf(most=9)
    one.put("first", torch.zeros(3 * MB))
    other.put("second", torch.zeros(3 * MB))
    one.put("third", torch.zeros(3 * MB))
    one.peek("first")  # used again, so the second is now the oldest
    other.put("fourth", torch.zeros(3 * MB))
    assert (there(one), there(other)) == (["first", "third"], ["fourth"])


def test_what_two_entries_share_is_counted_once_and_freed_with_the_last():
    shelf, shared = Shelf(most=9), torch.zeros(6 * MB)
    shelf.put("a", (shared, torch.zeros(MB)))
    shelf.put("b", (shared, torch.zeros(MB)))
    assert budget.fit() == pytest.approx(8e6)
    shelf.put("c", torch.zeros(3 * MB))  # 11: dropping a alone leaves 10, above nine tenths
    assert there(shelf) == ["c"]


def test_what_the_newest_needs_stays_however_large():
    shelf, graph = Shelf(most=9), torch.zeros(20 * MB)
    shelf.put("another", torch.zeros(MB))
    shelf.put("graph", graph)
    shelf.put("result", (graph, torch.zeros(MB)))
    assert there(shelf) == ["graph", "result"]


def test_what_grows_after_it_was_put_is_counted():
    shelf, growing = Shelf(most=9), Kept()
    shelf.put("old", torch.zeros(4 * MB))
    shelf.put("growing", growing)
    growing.put("more", frozenset(), torch.zeros(8 * MB))
    assert there(shelf) == ["growing"]


def test_no_more_than_so_many_of_a_kind():
    shelf = Shelf(most=2)
    for n in range(4):
        shelf.put(n, torch.zeros(1))
    assert there(shelf) == [2, 3]


def test_several_threads_make_a_value_once_and_one_that_fails_fails_alone():
    shelf, made, gate = Shelf(most=2), [], threading.Barrier(6)
    failed = []

    def make():
        made.append(1)
        if len(made) == 1:
            raise KeyError("the first one leaves")
        return object()

    def ask():
        gate.wait()
        try:
            shelf.get("thing", make)
        except KeyError as error:
            failed.append(error)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), len(failed)) == (2, 1)


def test_runs_stay_within_the_budget_and_give_the_same(monkeypatch):
    monkeypatch.setenv("SPEAR_MEMORY_GB", "0.004")
    settings = [Settings(dataset="digits", seed=seed, beta=0.5) for seed in range(12)]
    kept = remembered(most=50)(run)
    first = [kept(s).metrics.accuracy for s in settings]
    assert budget.fit() <= 4e6
    assert len(kept.shelf.entries) < len(settings)
    assert first == [kept(s).metrics.accuracy for s in settings]


def test_a_result_is_counted_with_what_is_computed_when_read():
    result = run(Settings(dataset="karate", clients=3))
    size = 4 * result.uploads.prototypes.numel()  # which are kept with the partition
    before = bytes_of(result)
    assert result.estimate.peers is result.estimate.peers
    assert bytes_of(result) == before + size


def test_equal_requests_share_one_object_and_noise_has_its_own():
    settings = Settings(dataset="karate", clients=3)
    graph = load(settings)
    assert load(settings) is graph
    assert split(graph, settings) is split(graph, settings)
    other = random_graph(1)
    assert split(other, settings) is not split(graph, settings)


def test_a_budget_that_is_no_number_is_said_so(monkeypatch):
    monkeypatch.setenv("SPEAR_MEMORY_GB", "plenty")
    with pytest.raises(StorageError, match="give a number of gigabytes"):
        budget.limit()
    monkeypatch.delenv("SPEAR_MEMORY_GB")
    assert budget.limit() == budget.machine_bytes() / 4
