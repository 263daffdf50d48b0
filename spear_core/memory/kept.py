"""`Kept`: what was derived from an object, beside it, declared where it is made.

An entry names the fields it is made from. A copy with other fields changed shares the entries that
still hold with the object it was copied from, whichever of the two makes them first. Entries are
counted in bytes, can be dropped, and are made once though several threads ask; while one is made
whoever wants another does not wait.
"""

import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar

from spear_core.memory import budget
from spear_core.memory.sizes import bytes_of
from spear_core.memory.turns import Turns

T = TypeVar("T")
GONE: Any = object()


class Kept:
    """Derived values by name, or by (name, …) where several of a kind are kept."""

    def __init__(self) -> None:
        self._parent: Kept | None = None
        self._changed: frozenset[str] = frozenset()
        self._made: dict[Hashable, Any] = {}
        self._guard = threading.Lock()
        self._turns = Turns()

    def share(self, parent: "Kept", changed: frozenset[str]) -> None:
        """From now on share with a parent what does not need the changed fields."""
        self._parent, self._changed = parent, changed

    def get(self, key: Hashable, needs: frozenset[str], make: Callable[[], T], most: int = 0) -> T:
        """The value of this key, made if it is not there; of a kind at most `most`, 0 for all."""
        place = self._place(needs)
        found: T = place._made.get(key, GONE)
        if found is GONE:
            with place._turns.of(key):
                found = place._made.get(key, GONE)
                if found is GONE:
                    found = make()
                    place.put(key, needs, found, most)
        return found

    def peek(self, key: Hashable, needs: frozenset[str]) -> Any:
        """The value of this key, or None."""
        return self._place(needs)._made.get(key)

    def put(self, key: Hashable, needs: frozenset[str], value: Any, most: int = 0) -> None:
        """Keep a value; of a kind the newest `most`, 0 for all."""
        place = self._place(needs)
        with place._guard:
            made = place._made
            made.pop(key, None)
            made[key] = value
            kind = [other for other in made if _kind(other) == _kind(key)]
            for old in kind[: len(kind) - most] if most else ():
                del made[old]
        budget.made(bytes_of(value))

    def drop(self, kind: str, needs: frozenset[str]) -> None:
        """Forget every value of a kind."""
        place = self._place(needs)
        with place._guard:
            for key in [key for key in place._made if _kind(key) == kind]:
                del place._made[key]

    def clear(self) -> None:
        """Forget all, also what is shared: it is made again when it is asked for."""
        for place in self._line():
            with place._guard:
                place._made = {}

    def contents(self) -> list[Any]:
        """All that is kept here or shared."""
        return [value for place in self._line() for value in list(place._made.values())]

    def _line(self) -> Iterator["Kept"]:
        """This and those it shares with."""
        place: Kept | None = self
        while place is not None:
            yield place
            place = place._parent

    def _place(self, needs: frozenset[str]) -> "Kept":
        """Where such an entry lies: here, or with the one it was copied from if it still holds."""
        place = self
        while place._parent is not None and not needs & place._changed:
            place = place._parent
        return place


class Derived(Generic[T]):
    """A property that is made once and kept; see `made_from`."""

    def __init__(self, make: Callable[[Any], T], needs: frozenset[str]) -> None:
        self.make, self.needs, self.__doc__ = make, needs, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, obj: Any, owner: type | None = None) -> T:
        kept: Kept = obj.kept
        return kept.get(self.name, self.needs, lambda: self.make(obj))


def made_from(*needs: str) -> Callable[[Callable[[Any], T]], Derived[T]]:
    """Make a method a property that is made once from the named fields and kept in `self.kept`."""
    return lambda make: Derived(make, frozenset(needs))


def _kind(key: Hashable) -> Hashable:
    return key[0] if isinstance(key, tuple) else key
