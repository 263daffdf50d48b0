"""Jobs in the background: newest first, bounded, cancelled, forgotten, and never an exception."""

import subprocess
import sys
import threading

import pytest

from spear_core import Settings, SpearError, embed, load
from spear_core.embed import Jobs, maps
from spear_core.errors import StorageError
from tests.embed.conftest import pretend

LONG = 600  # seconds that no test ever waits


@pytest.fixture
def busy():
    """Jobs whose thread is held by a first job until `hold` is set."""
    jobs, hold, begun = Jobs(), threading.Event(), threading.Event()

    def first(job):
        begun.set()
        while not hold.wait(0.01):
            job.pause()

    jobs.hold, jobs.first = hold, jobs.ask("first", first)
    assert begun.wait(LONG)
    yield jobs
    hold.set()
    assert jobs.join(LONG)


def test_a_job_gives_its_value_and_says_how_far_it_is():
    jobs, half, go_on = Jobs(), threading.Event(), threading.Event()

    def work(job):
        job.say("half way", 0.5)
        half.set()
        assert go_on.wait(LONG)
        return 7

    job = jobs.ask("seven", work, "not yet")
    assert half.wait(LONG)
    assert (job.sentence, job.fraction, job.done, job.value) == ("half way", 0.5, False, None)
    assert jobs.ask("seven", lambda job: 8) is job  # whoever asks
    go_on.set()
    assert job.ended.wait(LONG)
    assert (job.value, job.error, job.cancelled) == (7, None, False)
    assert jobs.ask("seven", lambda job: 8) is job
    assert jobs.join(LONG)


def test_the_thread_ends_when_there_is_nothing_to_do_and_comes_back():
    jobs = Jobs()
    for key in (1, 2):
        job = jobs.ask(key, lambda job: threading.current_thread())
        assert jobs.join(LONG)
        job.value.join(LONG)
        assert not job.value.is_alive()


def test_the_one_asked_for_last_comes_first(busy):
    order = []
    for name in "abc":
        busy.ask(name, lambda job, name=name: order.append(name))
    busy.ask("a", None)  # polled: somebody still looks at it
    busy.hold.set()
    assert busy.join(LONG)
    assert order == ["a", "c", "b"]


def test_a_cancelled_job_is_never_begun(busy):
    begun = []
    job = busy.ask("a", lambda job: begun.append("old"))
    assert not job.done
    job.cancel()
    job.cancel()
    assert (job.done, job.cancelled, job.value, job.error) == (True, True, None, None)
    again = busy.ask("a", lambda job: begun.append("new"))
    assert again is not job
    busy.hold.set()
    assert busy.join(LONG)
    assert begun == ["new"]


def test_a_cancelled_job_is_left_at_its_next_pause(busy):
    after = busy.ask("after", lambda job: 1)
    busy.first.cancel()  # `hold` is never set
    assert after.ended.wait(LONG)
    assert (after.value, busy.first.value, busy.first.cancelled) == (1, None, True)


def test_of_those_that_ended_so_many_are_kept_and_none_that_waits_is_cancelled(busy):
    busy.most = 2
    many = [busy.ask(i, lambda job, i=i: i) for i in range(5)]
    busy.hold.set()
    assert busy.join(LONG)
    assert [job.value for job in many] == [0, 1, 2, 3, 4]
    assert busy.ask(4, None) is many[4]  # the oldest are forgotten on this occasion
    assert busy.ask(0, lambda job: 7) is not many[0]


def test_a_job_is_cancelled_when_the_last_who_asked_has_left(busy):
    for name in ("one", "two"):
        both = busy.ask("both", lambda job: 1, by=name)
    kept, alone = (busy.ask(key, lambda job: 1, by="one") for key in ("kept", "alone"))
    busy.leave("one", but=[kept])
    assert [job.cancelled for job in (both, kept, alone)] == [False, False, True]
    busy.leave("nobody")
    busy.leave("two")
    assert [job.cancelled for job in (both, kept, busy.first)] == [True, False, False]


def stuck(jobs):
    """A job of "one" that cannot pause but only be interrupted."""
    ended, begun = threading.Event(), threading.Event()
    jobs.interrupt = ended.set

    def work(job):
        begun.set()
        assert ended.wait(LONG)

    job = jobs.ask("stuck", work, by="one")
    assert begun.wait(LONG)
    return job, ended


def test_what_cannot_pause_is_interrupted_when_it_was_left_and_nothing_else_is_asked_for():
    jobs = Jobs()
    _, ended = stuck(jobs)
    jobs.leave("one")
    assert ended.wait(LONG)
    assert jobs.join(LONG)


def test_but_not_where_the_next_job_may_go_on_with_what_it_has(monkeypatch):
    monkeypatch.setattr("spear_core.embed.jobs.GRACE", 0.05)
    jobs = Jobs()
    _, ended = stuck(jobs)
    jobs.leave("one")
    after = jobs.ask("after", lambda job: 1, by="one")
    assert not ended.wait(0.5)
    jobs.leave("one")
    assert ended.wait(LONG)
    assert after.cancelled
    assert jobs.join(LONG)


def test_a_job_rests_before_it_begins():
    jobs = Jobs(rest=LONG)
    job = jobs.ask("a", lambda job: 1)
    assert not job.ended.wait(0.3)
    jobs.rest = 0.0
    jobs.ask("a", None)
    assert job.ended.wait(LONG)
    assert job.value == 1


def test_an_exception_becomes_a_sentence(caplog):
    jobs = Jobs()

    def ours(job):
        raise SpearError("Use a β above 0.")

    def strange(job):
        raise ValueError("no such thing")

    first, second = jobs.ask(1, ours), jobs.ask(2, strange)
    assert jobs.join(LONG)
    assert first.error == "Use a β above 0."
    assert second.error == "It could not be done (no such thing)."
    assert "no such thing" in caplog.text  # nobody may look at the job
    assert "above 0" not in caplog.text


def test_what_a_job_held_is_let_go(busy):
    waiting, cancelled = busy.ask("a", lambda job: 1), busy.ask("b", lambda job: 2)
    cancelled.cancel()
    busy.hold.set()
    assert busy.join(LONG)
    assert waiting.work is cancelled.work is None


ENDING = """
import threading, time
from spear_core.embed import Jobs

jobs, begun = Jobs(), threading.Event()

def work(job):
    begun.set()
    while True:
        job.pause()
        time.sleep(0.01)

running, waiting = jobs.ask(1, work), jobs.ask(2, work)
begun.wait()
"""


def test_the_program_ends_while_a_job_runs_and_one_waits():
    done = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=LONG
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_nothing_begins_after_the_end():
    jobs = Jobs()
    jobs.close()
    job = jobs.ask("a", lambda job: 1)
    assert (job.cancelled, job.value) == (True, None)


# -- the jobs that fit maps


@pytest.fixture
def of_maps(monkeypatch):
    """Jobs of the test's own, which begin at once."""
    monkeypatch.setattr(maps, "jobs", Jobs())
    yield maps.jobs
    assert maps.jobs.join(LONG)


def test_sessions_share_one_fit(monkeypatch, of_maps):
    started = []

    def slow(first, say, pause):
        started.append(first.key)
        assert asked.wait(LONG)
        return pretend(first, say, pause)

    asked = threading.Event()
    monkeypatch.setattr(maps, "fitted", slow)
    graph = load(Settings())
    job = embed.background_fit(graph, 0.6, 2)
    assert embed.background_fit(load(Settings(seed=3)), 0.6, 2) is job
    asked.set()
    assert job.ended.wait(LONG)
    assert (job.fraction, job.error) == (1.0, None)
    assert started == [job.value]
    maps.fitted_maps.clear()
    assert embed.background_fit(graph, 0.6, 2) is job
    assert maps.fitted_maps.peek(job.value).fitted  # a page finds it again, from the disk


def test_a_map_that_was_let_go_and_is_not_on_disk_is_fitted_again(monkeypatch, of_maps):
    def unwritten(*_):
        raise StorageError("No space is left.")

    monkeypatch.setattr(maps, "fitted", pretend)
    monkeypatch.setattr(maps.keep, "write", unwritten)
    graph = load(Settings())
    job = embed.background_fit(graph, 0.61, 2)
    assert job.ended.wait(LONG)
    assert embed.background_fit(graph, 0.61, 2) is job
    maps.fitted_maps.clear()
    again = embed.background_fit(graph, 0.61, 2)
    assert again is not job
    assert again.ended.wait(LONG)
    assert maps.fitted_maps.peek(again.value).fitted


def test_a_failed_fit_says_so_in_a_sentence(monkeypatch, of_maps):
    def broken(first, say, pause):
        raise RuntimeError("numba is out of sorts")

    monkeypatch.setattr(maps, "fitted", broken)
    job = embed.background_fit(load(Settings()), 0.65, 2)
    assert job.ended.wait(LONG)
    assert job.value is None
    assert job.error == (
        "The map could not be fitted (numba is out of sorts); the PCA preview stays."
    )


def test_a_moving_slider_starts_one_fit_alone(monkeypatch, of_maps):
    started = []

    def slow(first, say, pause):
        started.append(first.alpha)
        return pretend(first, say, pause)

    monkeypatch.setattr(maps, "fitted", slow)
    of_maps.rest = LONG
    moved = []
    for alpha in (0.71, 0.72, 0.73):
        moved.append(embed.background_fit(load(Settings()), alpha, 2, by="a visitor"))
        of_maps.leave("a visitor", but=moved[-1:])
    of_maps.rest = 0.0
    assert embed.background_fit(load(Settings()), 0.73, 2) is moved[2]
    assert moved[2].ended.wait(LONG)
    assert of_maps.join(LONG)
    assert started == [0.73]
    assert [job.cancelled for job in moved] == [True, True, False]


def test_a_cancelled_fit_is_left_between_two_pieces(monkeypatch, of_maps):
    pauses = []

    def pause():
        pauses.append(job)
        job.cancel()

    asked = threading.Event()
    begun = of_maps.ask("first", lambda _: asked.wait(LONG))
    job = embed.background_fit(load(Settings(dataset="synthetic", nodes=60)), 0.3, 4, pause)
    asked.set()
    assert begun.ended.wait(LONG)
    assert of_maps.join(LONG)
    assert (pauses, job.value, job.error) == ([job], None, None)
