"""Whose turn it is: work for maps waits while a page computes.

On few cores both at once take longer than one after the other, and the page is looked at.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from spear_core.embed import fitting

_pages = 0
_changed = threading.Condition()


@contextmanager
def pages_first() -> Iterator[None]:
    """Hold the work for maps while the block runs."""
    global _pages
    with _changed:
        _pages += 1
        fitting.pause()
    try:
        yield
    finally:
        with _changed:
            _pages -= 1
            if _pages == 0:
                fitting.go_on()
                _changed.notify_all()


def wait_for_pages() -> None:
    """For threads that work for maps, between two pieces of work."""
    with _changed:
        _changed.wait_for(lambda: _pages == 0, timeout=10)
