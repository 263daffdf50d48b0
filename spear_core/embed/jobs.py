"""Work in the background, for any program: one job at a time, the one asked for last first.

A job belongs to those who asked for it. When the last of them has left it is cancelled.
"""

import atexit
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Collection, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from spear_core.errors import SpearError
from spear_core.memory.allocator import give_back
from spear_core.wanted import Cancelled, while_wanted

T = TypeVar("T")
GRACE = 0.7  # seconds in which somebody may ask for another job before one that is left is ended


@dataclass(eq=False)
class Job(Generic[T]):
    """A piece of work under way: read its fields as often as you like."""

    work: Callable[["Job[T]"], T] | None  # let go when it begins
    sentence: str = "Waiting"
    fraction: float = 0.0
    value: T | None = None  # what the work gave
    error: str | None = None  # or why it gave nothing
    cancelled: bool = False
    made: float = field(default_factory=time.monotonic)
    askers: set[Hashable] = field(default_factory=set)  # who waits for it
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def done(self) -> bool:
        return self.ended.is_set()

    def cancel(self) -> None:
        """Nobody wants it: it is never begun, or is left at its next pause."""
        if not self.done:
            self.cancelled, self.work = True, None
            self.ended.set()

    def pause(self) -> None:
        """For the work, between two pieces of it; also `say`."""
        if self.cancelled:
            raise Cancelled

    def say(self, sentence: str, fraction: float) -> None:
        self.pause()
        self.sentence, self.fraction = sentence, fraction

    def run(self) -> None:
        """For the thread that works."""
        work, self.work = self.work, None
        try:
            with while_wanted(self.pause):
                self.value = work(self) if work else None
        except Cancelled:
            pass
        except SpearError as error:
            self.error = str(error)
        except Exception as error:  # a fault of ours: said kindly, kept in the log
            logging.exception("A job in the background failed")
            self.error = f"It could not be done ({error})."
        self.ended.set()


class Jobs:
    """Jobs by their keys, and a thread of low priority that is there while one waits.

    A job begins after `rest` seconds, so that a moving slider starts none. Of those that have ended
    the last `most` are kept. All are cancelled when the interpreter ends. `interrupt` stops what
    cannot pause: then, and when a job was left and nobody asks for another.
    """

    def __init__(
        self, rest: float = 0.0, most: int = 16, interrupt: Callable[[], None] = lambda: None
    ) -> None:
        self.rest, self.most, self.interrupt = rest, most, interrupt
        self._jobs: dict[Hashable, Job[Any]] = {}  # the one asked for last comes last
        self._running: Job[Any] | None = None
        self._worker: threading.Thread | None = None
        self._closed = False
        self._changed = threading.Condition()
        _open.add(self)

    def ask(
        self,
        key: Hashable,
        work: Callable[[Job[T]], T],
        waiting: str = "Waiting",
        by: Hashable = None,
    ) -> Job[T]:
        """The job of this key, whoever asks; there is a new one if need be. Ask again to poll."""
        with self._changed:
            job = self._jobs.pop(key, None)
            if job is None or job.cancelled:
                job = Job(work, waiting)
            self._jobs[key] = job
            job.askers.add(by)
            for old in [key for key, one in self._jobs.items() if one.done][: -self.most]:
                del self._jobs[old]
            if self._closed:
                job.cancel()
            elif not job.done and not (self._worker and self._worker.is_alive()):
                self._worker = threading.Thread(target=self._work, daemon=True)
                self._worker.start()
            self._changed.notify_all()
        return job

    def forget(self, key: Hashable) -> None:
        """Keep no job of this key: who asks next gets a new one."""
        with self._changed:
            self._jobs.pop(key, None)

    def leave(
        self, by: Hashable, but: Collection[Job[Any]] = (), grace: float | None = None
    ) -> None:
        """`by` waits for none of the jobs any more, or for none `but` some.

        What is under way for nobody is ended after a `grace`, if none was asked for until then.
        """
        with self._changed:
            for job in self._jobs.values():
                if by in job.askers and job not in but:
                    job.askers.remove(by)
                    if not job.askers:
                        job.cancel()
            if self._running is not None and self._running.cancelled:
                late = threading.Timer(GRACE if grace is None else grace, self._end_what_is_left)
                late.daemon = True
                late.start()

    def _end_what_is_left(self) -> None:
        with self._changed:
            left = self._running is not None and self._running.cancelled
            if left and all(job.done for job in self._jobs.values()):
                self.interrupt()

    def join(self, seconds: float) -> bool:
        """Wait until there is nothing to do; whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._worker is None, seconds)

    def close(self) -> None:
        """Cancel all and wait: the interpreter would abort under a thread that computes."""
        with self._changed:
            self._closed = True
            for job in self._jobs.values():
                job.cancel()
            self._changed.notify_all()
        self.interrupt()
        self.join(30)

    def _work(self) -> None:
        with suppress(AttributeError, OSError):  # where the system has priorities
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        while job := self._next():
            job.run()
        give_back()  # what the work took

    def _next(self) -> Job[Any] | None:
        """The waiting job that was asked for last, when it has rested; None where there is none."""
        with self._changed:
            while job := next((j for j in reversed(self._jobs.values()) if not j.done), None):
                left = job.made + self.rest - time.monotonic()
                if left <= 0:
                    self._running = job
                    return job
                self._changed.wait(left)
            self._worker = self._running = None
            self._changed.notify_all()
        return None


_open: "weakref.WeakSet[Jobs]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for jobs in list(_open):
        jobs.close()
