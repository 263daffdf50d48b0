"""One budget in bytes for all that stays in memory from call to call, the oldest out first.

A `Shelf` keeps a few values of a kind: graphs, partitions, results, maps. Values share tensors (two
results their graph) and grow while they are used, so all shelves are counted together, each tensor
once, whenever what was made since the last count could have filled the budget.
"""

import itertools
import os
import threading
from collections import Counter
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar
from weakref import WeakSet

from spear_core.errors import StorageError
from spear_core.memory.allocator import give_back
from spear_core.memory.free import machine_bytes
from spear_core.memory.sizes import bytes_of, storages
from spear_core.memory.turns import Turns

P = ParamSpec("P")
T = TypeVar("T")

VARIABLE = "SPEAR_MEMORY_GB"
SHARE = 0.25  # of the machine's memory, unless $SPEAR_MEMORY_GB says how much
AFTER = 0.9  # of the budget is filled after a count that let something go: the next is not at once
ALONG = 0.02  # of an entry's bytes: one that holds no more beside the newest's costs nothing

_guard = threading.RLock()
_uses = itertools.count()
_shelves: "WeakSet[Shelf[Any]]" = WeakSet()
_most_held = 0  # at least what all shelves hold: counted once, and what was made since


@dataclass(eq=False)
class Entry(Generic[T]):
    """One value on a shelf."""

    value: T
    used: int  # when it was asked for last, in uses of any shelf


class Shelf(Generic[T]):
    """At most so many values by their keys, made once though several threads ask at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.entries: dict[Hashable, Entry[T]] = {}
        self._turns = Turns()
        _shelves.add(self)

    def peek(self, key: Hashable) -> T | None:
        """The value of this key, or None."""
        with _guard:
            entry = self.entries.get(key)
            if entry is None:
                return None
            entry.used = next(_uses)
            return entry.value

    def put(self, key: Hashable, value: T) -> None:
        """Keep a value; what does not fit any more goes, the oldest first."""
        with _guard:
            self.entries[key] = Entry(value, next(_uses))
            for old in sorted(self.entries, key=self._used)[: -self.most]:
                del self.entries[old]
        made(bytes_of(key, value))

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of this key, made if it is not there.

        Who asks while it is being made waits, and makes it himself if that came to nothing.
        """
        found = self.peek(key)
        if found is not None:
            return found
        with self._turns.of(key):
            found = self.peek(key)
            if found is None:
                found = make()
                self.put(key, found)
            return found

    def clear(self) -> None:
        """Forget all of them."""
        with _guard:
            self.entries.clear()

    def _used(self, key: Hashable) -> int:
        return self.entries[key].used


class Remembered(Generic[P, T]):
    """A function whose last values stay; see `remembered`."""

    def __init__(self, function: Callable[P, T], most: int) -> None:
        self.function, self.__doc__ = function, function.__doc__
        self.shelf: Shelf[T] = Shelf(most)

    def __call__(self, *args: P.args, **named: P.kwargs) -> T:
        key = (*args, *named.items())
        return self.shelf.get(key, lambda: self.function(*args, **named))

    def clear(self) -> None:
        """Forget all of them."""
        self.shelf.clear()


def remembered(most: int) -> Callable[[Callable[P, T]], Remembered[P, T]]:
    """Keep the last values of a function, by its arguments, within the budget.

    >>> @remembered(most=2)
    ... def square(n: int) -> list[int]:
    ...     return [n * n]
    >>> square(3) is square(3)
    True
    """
    return lambda function: Remembered(function, most)


def limit() -> float:
    """Bytes that may stay in memory: $SPEAR_MEMORY_GB, or a quarter of the machine's."""
    text = os.environ.get(VARIABLE)
    if not text:
        return SHARE * machine_bytes()
    with suppress(ValueError):
        if float(text) > 0:
            return 1e9 * float(text)
    raise StorageError(f"{VARIABLE} is {text!r}; give a number of gigabytes, for example 4.")


def made(size: int) -> None:
    """Say that so many bytes were made which may stay; what is too much then goes."""
    global _most_held
    with _guard:
        _most_held += size
        over = _most_held > limit()
    if over:
        fit()


def fit() -> int:
    """Let the oldest entries go until the rest fits: the bytes that are held then.

    What the newest entry needs stays, and what lives on that alone, however much it is.
    """
    global _most_held
    with _guard:
        found = [(entry, key, shelf) for shelf in _shelves for key, entry in shelf.entries.items()]
        found.sort(key=lambda one: one[0].used)
        parts = [storages(key, entry.value) for entry, key, _ in found]
        holders = Counter(place for part in parts for place in part)
        held = sum({place: size for part in parts for place, size in part.items()}.values())
        enough = AFTER * limit() if held > limit() else held
        for (_, key, shelf), part in zip(found[:-1], parts, strict=False):
            if held <= enough:
                break
            own = sum(size for place, size in part.items() if place not in parts[-1])
            if own <= ALONG * sum(part.values()):
                continue
            del shelf.entries[key]
            holders.subtract(part.keys())
            held -= sum(size for place, size in part.items() if not holders[place])
        _most_held = held
        del found
    give_back()
    return held


def clear() -> None:
    """Empty every shelf."""
    with _guard:
        for shelf in _shelves:
            shelf.clear()
