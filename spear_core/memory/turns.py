"""`Turns`: a thing is made by one thread, and others who want that very thing wait."""

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from spear_core.wanted import still_wanted

LOOK = 0.2  # seconds between two looks whether somebody who waits is still waited for


class Turns:
    """One turn at a time for every key; other keys do not wait."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[Hashable, threading.Lock] = {}  # of those that are being made

    @contextmanager
    def of(self, key: Hashable) -> Iterator[None]:
        """The turn of this key. Who gets it looks first whether the thing was made meanwhile."""
        still_wanted()
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        while not lock.acquire(timeout=LOOK):
            still_wanted()
        try:
            yield
        finally:
            lock.release()
            with self._guard:
                self._locks.pop(key, None)
