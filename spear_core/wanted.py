"""Whether anybody still waits for the work under way: asked by the work, told by who asked for it.

Long work calls `still_wanted()` between two pieces, where nothing is half done. Without anybody to
tell, as in a script, work is wanted until it is done.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_tell: ContextVar[Callable[[], None] | None] = ContextVar("wanted", default=None)


class Cancelled(BaseException):
    """Nobody waits any more: no error, and nothing that catches errors may take it for one."""


def still_wanted() -> None:
    """Nothing, or whatever ends the work: what the teller raises."""
    tell = _tell.get()
    if tell is not None:
        tell()


@contextmanager
def while_wanted(tell: Callable[[], None]) -> Iterator[None]:
    """Let `tell` be asked by all work of this thread in the block; it raises to end the work."""
    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)
