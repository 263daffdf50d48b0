"""What the system's allocator does with freed memory, where that can be said (glibc)."""

import ctypes
from contextlib import suppress

ARENA_MAX = -8  # mallopt's name for the number of arenas


def give_back() -> None:
    """Return freed memory to the system at once."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def few_arenas(number: int = 2) -> None:
    """Let all threads share a few arenas: each keeps what was freed in it to itself."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(ARENA_MAX, number)
