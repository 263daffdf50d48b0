"""Work in the background changes when a result is there, never what it is, and no other's work."""

import math
import threading
from dataclasses import replace

import pytest
import torch

from pages.shared import background
from pages.shared.background import Visitor
from spear_core import Settings, powers, run
from spear_core.memory.sizes import bytes_of
from tests.conftest import random_graph
from tests.test_exact import mirrored

SETTINGS = Settings(clients=3, beta=1.0, alpha=0.4, steps=3)
CHANGES = (
    *({"gamma": 0.0}, {"gamma": math.inf}, {"alpha": 0.9}, {"alpha": 0.0}, {"steps": 6}),
    *({"steps": 0}, {"shrinkage": False}, {"count_weights": False}, {"reliability": "degree"}),
    *({"peers": "semantic"}, {"seed": 7}, {"clients": 5}),
)


def prepare(result, pause=lambda: None, steps=6):
    background.prepare(result.graph, result.sent, result.settings, steps, pause)


def kept(result):
    """What was made ahead: the smoothed features, and whether the sums are there."""
    z = powers.kept_z(result.graph, result.settings)
    return z, result.sent.source.powers.ready(result.settings.alpha, result.settings.steps)


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_the_same_result_as_without(directed, change):
    prepared, fresh = (random_graph(5, directed) for _ in range(2))
    first = run(SETTINGS, prepared)
    assert kept(first) == (None, False)
    prepare(first)
    assert kept(first)[1]
    torch.testing.assert_close(kept(first)[0], first.z[prepared.test_nodes], atol=1e-6, rtol=0)
    settings = replace(SETTINGS, **change)
    a, b = run(settings, prepared), run(settings, fresh)
    assert torch.equal(a.prediction.labels, b.prediction.labels)
    torch.testing.assert_close(a.prediction.scores, b.prediction.scores, atol=1e-6, rtol=0)
    torch.testing.assert_close(a.estimate.prototypes, b.estimate.prototypes, atol=1e-6, rtol=0)
    torch.testing.assert_close(a.uploads.prototypes, b.uploads.prototypes, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("tilt", "wins"), [(0, 0), (2**-20, 1), (-(2**-20), 0)])
def test_ties_are_still_decided_exactly(tilt, wins):
    graph = mirrored(True, tilt, 7)
    settings = replace(SETTINGS, clients=1)
    prepare(run(settings, graph))
    again = run(settings, graph)
    assert kept(again)[0] is not None
    assert bool((again.prediction.labels == wins).all())


@pytest.mark.slow
def test_it_can_be_left_at_any_point_and_taken_up_again():
    class Left(Exception):
        pass

    fresh = run(SETTINGS, random_graph(5))
    for calls in range(1, 9):
        graph, count = random_graph(5), iter(range(100))

        def pause(calls=calls, count=count):
            if next(count) == calls - 1:
                raise Left

        result = run(SETTINGS, graph)
        with pytest.raises(Left):
            prepare(result, pause)
        assert torch.equal(run(SETTINGS, graph).prediction.labels, fresh.prediction.labels)
        prepare(result)
        again = run(replace(SETTINGS, alpha=0.8, steps=6), graph)
        want = run(replace(SETTINGS, alpha=0.8, steps=6), random_graph(5))
        torch.testing.assert_close(
            again.estimate.prototypes, want.estimate.prototypes, atol=1e-6, rtol=0
        )


def test_without_room_for_every_step_the_present_one_is_kept(monkeypatch):
    graph = random_graph(5)
    monkeypatch.setattr(
        background, "ROOM", 3 * 4 * graph.num_nodes * graph.num_features
    )  # t = 0, 1, 2
    prepare(run(SETTINGS, graph))
    for steps, there in ((3, True), (2, True), (4, False)):
        settings = replace(SETTINGS, steps=steps)
        z = powers.kept_z(graph, settings)
        assert (z is not None) == there
        if there:
            want = run(settings, random_graph(5)).z
            torch.testing.assert_close(z, want, atol=1e-6, rtol=0)


def test_sums_of_classes_are_made_where_there_is_room_and_counted(monkeypatch):
    result = run(SETTINGS, random_graph(5))
    sums = 4 * len(result.sent.label) * result.graph.num_features * 7  # t = 0 … 6
    for room, there in ((sums - 1, False), (sums, True)):
        monkeypatch.setattr(background, "ROOM", room)
        prepare(result)
        assert kept(result)[1] == there
    assert bytes_of(result.sent.source.powers) == sums
    assert bytes_of(result.held) >= bytes_of(result.graph) + sums


def test_what_is_prepared_for_one_graph_leaves_that_of_another_alone():
    first, second = run(SETTINGS, random_graph(5)), run(SETTINGS, random_graph(6))
    prepare(first)
    prepare(second)
    assert all(kept(result)[0] is not None and kept(result)[1] for result in (first, second))


def test_it_pauses_where_nobody_waits_for_it():
    """Who needs the same powers is not held up by a pause, however long that is."""
    result = run(SETTINGS, random_graph(5))
    locks = powers.tested_powers(result.graph)._guard, result.sent.source.powers._guard
    pauses = []

    def pause():
        pauses.append([lock.locked() for lock in locks])

    prepare(result, pause)
    assert len(pauses) >= 14  # six steps and the beginning, twice
    assert not any(map(any, pauses))


def test_sparse_features_need_none():
    result = run(Settings(dataset="karate", clients=3))
    assert result.graph.features.is_sparse_csr
    prepare(result)
    assert kept(result) == (None, False)


# -- turns


def test_work_for_maps_waits_for_pages():
    own, done, inside = Visitor(), threading.Event(), threading.Event()

    def work():
        inside.set()
        own.wait_for_pages()
        done.set()

    with own.pages_first():
        thread = threading.Thread(target=work)
        thread.start()
        assert inside.wait(600)
        with own.pages_first():  # a second page
            pass
        assert not done.wait(0.3)
    assert done.wait(600)
    thread.join()


def test_but_not_for_ever(monkeypatch):
    monkeypatch.setattr(background, "LONGEST", 0.01)
    own = Visitor()
    with own.pages_first():
        own.wait_for_pages()


def test_a_page_does_not_wait_for_pages(monkeypatch):
    monkeypatch.setattr(background, "LONGEST", None)  # for ever
    monkeypatch.setattr(background, "get_script_run_ctx", lambda **told: "a page's own thread")
    own = Visitor()
    with own.pages_first():
        own.wait_for_pages()


def test_a_running_page_holds_up_its_own_visitor_alone(results, monkeypatch):
    monkeypatch.setattr(background, "LONGEST", None)  # for ever
    one, two = Visitor(), Visitor()
    with one.pages_first():
        one.prepare(results[0], 6)
        two.prepare(results[1], 6)
        assert two.preparing.ended.wait(600)
        assert kept(results[1])[1]
        assert not one.preparing.ended.wait(0.1)
    assert one.preparing.ended.wait(600)
    assert kept(results[0])[1]


# -- visitors


@pytest.fixture
def results():
    """Three runs on one graph, none of them prepared."""
    graph = random_graph(5)
    return [run(replace(SETTINGS, clients=k), graph) for k in (3, 4, 5)]


def never(pause):
    raise AssertionError("a map was made by the page itself")


def test_a_new_result_of_one_visitor_does_not_cancel_the_work_of_another(results):
    one, two = Visitor(), Visitor()
    mine, first, second = results
    with one.pages_first(), two.pages_first():  # nothing goes on before every one has asked
        one.prepare(mine, 6)
        two.prepare(first, 6)
        left = two.preparing
        two.prepare(second, 6)
    assert one.preparing.ended.wait(600)
    assert two.preparing.ended.wait(600)
    assert (left.cancelled, one.preparing.cancelled, two.preparing.cancelled) == (
        True,
        False,
        False,
    )
    assert [kept(result)[1] for result in results] == [True, False, True]


class Drawn(str):
    """Stands for a map."""


def with_a_map(result):
    """A visitor for whom a map was placed, which is kept elsewhere, as a shelf does."""
    visitor, made = Visitor(), Drawn("the last map")
    visitor.place(result, lambda pause: made, None)
    return visitor, made


def test_nor_the_map_that_is_placed_for_another(results):
    (one, last), (two, other) = with_a_map(results[1]), with_a_map(results[2])
    mine, first, second = results
    seen, hold = [], threading.Event()

    def make(name):
        def made(pause):
            seen.append(name)
            while not hold.wait(0.01):
                pause()
            seen.append(f"{name} is made")
            return Drawn(name)

        return made

    assert one.place(mine, make("one"), 0.0) == one.place(mine, never, 0.0) == (last, results[1])
    assert two.place(first, make("left"), 0.0) == (other, results[2])
    left = two.placing
    assert two.place(second, make("two"), 0.0) == (other, results[2])
    hold.set()
    for visitor, result, name in ((one, mine, "one"), (two, second, "two")):
        assert visitor.placing.ended.wait(600)
        assert visitor.place(result, lambda pause, name=name: Drawn(name), 0.0) == (name, result)
    assert left.cancelled
    assert {"one is made", "two is made"} <= set(seen)
    assert "left is made" not in seen


def test_a_first_map_is_waited_for(results):
    visitor, kept_map = Visitor(), [Drawn("a map")]
    assert visitor.place(results[0], lambda pause: kept_map[0], None) == ("a map", results[0])
    assert visitor.placing is None
    assert visitor.placed == ("a map", results[0])
    kept_map.clear()
    assert visitor.placed is None  # nobody else keeps it


def test_what_is_made_ahead_waits_for_the_map_of_the_same_visitor_and_no_other(results):
    one, hold = Visitor(), threading.Event()
    two, last = with_a_map(results[2])
    assert two.placed == (last, results[2])
    two.place(results[1], lambda pause: hold.wait(600), 0.0)
    two.prepare(results[1], 6)
    one.prepare(results[0], 6)
    assert one.preparing.ended.wait(600)
    assert kept(results[0])[1]
    assert not two.preparing.ended.wait(0.3)
    assert kept(results[1])[1] is False
    hold.set()
    assert two.preparing.ended.wait(600)
    assert kept(results[1])[1]


def test_steady_clicks_of_one_do_not_hold_up_the_work_of_another(results, monkeypatch):
    begun, hold = threading.Event(), threading.Event()

    def slow(graph, sent, *more):
        if sent is results[1].sent:
            begun.set()
            assert hold.wait(600)

    monkeypatch.setattr(background, "prepare", slow)
    one, two = Visitor(), Visitor()
    two.prepare(results[1], 6)
    assert begun.wait(600)
    one.prepare(results[0], 6)
    assert one.preparing.ended.wait(600)
    assert not two.preparing.done
    hold.set()


def test_a_fault_in_work_ahead_is_kept_in_the_log(results, monkeypatch, caplog):
    monkeypatch.setattr(background, "ROOM", "no number")
    visitor = Visitor()
    visitor.prepare(results[0], 6)
    assert visitor.preparing.ended.wait(600)
    assert "TypeError" in caplog.text
