"""Work in the background, for any program: one job at a time, the one asked for last first."""

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from spear_core.errors import SpearError

T = TypeVar("T")


class Cancelled(Exception):
    """Raised inside a job's work when nobody wants it any more."""


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
    asked: float = 0.0  # when somebody last wanted it
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

    A job begins after `rest` seconds, so that a moving slider starts none. One that nobody asks for
    in `forget` seconds before its turn is cancelled, and so are the oldest beyond `most`. All are
    when the interpreter ends; `interrupt` then stops what cannot pause.
    """

    def __init__(
        self,
        rest: float = 0.0,
        forget: float = float("inf"),
        most: int = 16,
        interrupt: Callable[[], None] = lambda: None,
    ) -> None:
        self.rest, self.forget, self.most, self.interrupt = rest, forget, most, interrupt
        self._jobs: dict[Hashable, Job[Any]] = {}  # the one asked for last comes last
        self._worker: threading.Thread | None = None
        self._closed = False
        self._changed = threading.Condition()
        atexit.register(self.close)

    def ask(self, key: Hashable, work: Callable[[Job[T]], T], waiting: str = "Waiting") -> Job[T]:
        """The job of this key, whoever asks; there is a new one if need be. Ask again to poll."""
        with self._changed:
            job = self._jobs.pop(key, None)
            if job is None or job.cancelled:
                job = Job(work, waiting)
            self._jobs[key] = job
            job.asked = time.monotonic()
            for old in [*self._jobs][: -self.most]:
                self._jobs.pop(old).cancel()
            if self._closed:
                job.cancel()
            elif not job.done and not (self._worker and self._worker.is_alive()):
                self._worker = threading.Thread(target=self._work, daemon=True)
                self._worker.start()
            self._changed.notify_all()
        return job

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

    def _next(self) -> Job[Any] | None:
        """The waiting job that was asked for last, when it has rested; None where there is none."""
        with self._changed:
            while job := next((j for j in reversed(self._jobs.values()) if not j.done), None):
                now = time.monotonic()
                if now - job.asked > self.forget:
                    job.cancel()
                elif job.made + self.rest <= now:
                    return job
                else:
                    self._changed.wait(job.made + self.rest - now)
            self._worker = None
            self._changed.notify_all()
        return None
