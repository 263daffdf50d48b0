"""`Kept`: what was derived from an object, beside it, declared where it is made.

An entry names the fields it is made from. A copy with other fields changed shares the entries that
still hold with the object it was copied from, whichever of the two makes them first. Entries are
counted in bytes, can be dropped, and are made once though several threads ask.
"""

import threading
from collections.abc import Callable, Hashable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


class Kept:
    """Derived values by name, or by (name, …) where several of a kind are kept."""

    def __init__(self) -> None:
        self._parent: Kept | None = None
        self._changed: frozenset[str] = frozenset()
        self._made: dict[Hashable, Any] = {}
        self._guard = threading.RLock()

    def share(self, parent: "Kept", changed: frozenset[str]) -> None:
        """From now on share with a parent what does not need the changed fields."""
        self._parent, self._changed = parent, changed

    def get(self, key: Hashable, needs: frozenset[str], make: Callable[[], T], most: int = 0) -> T:
        """The value of this key, made if it is not there; of a kind at most `most`, 0 for all."""
        place = self._place(needs)
        if key not in place._made:
            with place._guard:
                if key not in place._made:
                    place._put(key, make(), most)
        found: T | None = place._made.get(key)
        return make() if found is None else found  # dropped meanwhile by another thread

    def peek(self, key: Hashable, needs: frozenset[str]) -> Any:
        """The value of this key, or None."""
        return self._place(needs)._made.get(key)

    def put(self, key: Hashable, needs: frozenset[str], value: Any, most: int = 0) -> None:
        """Keep a value; of a kind the newest `most`, 0 for all."""
        place = self._place(needs)
        with place._guard:
            place._put(key, value, most)

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

    def tensors(self) -> list[Tensor]:
        """Every tensor that is kept here or shared."""
        made = [value for place in self._line() for value in list(place._made.values())]
        return [tensor for value in made for tensor in tensors_in(value)]

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

    def _put(self, key: Hashable, value: Any, most: int) -> None:
        self._made.pop(key, None)
        self._made[key] = value
        kind = [other for other in self._made if _kind(other) == _kind(key)]
        for old in kind[: len(kind) - most] if most else ():
            del self._made[old]


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


def tensors_in(value: Any) -> list[Tensor]:
    """The tensors that a value consists of, whatever holds them."""
    if isinstance(value, Tensor):
        if value.layout == torch.sparse_csr:
            return [value.crow_indices(), value.col_indices(), value.values()]
        return [value]
    if isinstance(value, Kept):
        return value.tensors()
    if isinstance(value, dict):
        return [tensor for part in value.values() for tensor in tensors_in(part)]
    if isinstance(value, list | tuple):
        return [tensor for part in value for tensor in tensors_in(part)]
    if is_dataclass(value) and not isinstance(value, type):
        return [tensor for f in fields(value) for tensor in tensors_in(getattr(value, f.name))]
    return value.tensors() if hasattr(value, "tensors") else []


def bytes_of(*values: Any) -> int:
    """How much memory the tensors of some values take together, each counted once.

    >>> x = torch.zeros(10)
    >>> bytes_of(x, x[2:], torch.zeros(3))
    52
    """
    size = {}
    for value in values:
        for tensor in tensors_in(value):
            storage = tensor.untyped_storage()
            size[storage.data_ptr()] = storage.nbytes()
    return sum(size.values())


def _kind(key: Hashable) -> Hashable:
    return key[0] if isinstance(key, tuple) else key
