"""How many bytes values take: their tensors and arrays, wherever they lie, each counted once."""

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor


def bytes_of(*values: Any) -> int:
    """How much memory the tensors and arrays of some values take together, each counted once.

    >>> x = torch.zeros(10)
    >>> bytes_of(x, x[2:], [np.zeros(3)])
    64
    """
    return sum(storages(*values).values())


def storages(*values: Any) -> dict[int, int]:
    """Where the tensors and arrays of some values lie, and how many bytes each takes there."""
    size: dict[int, int] = {}
    for part in tensors_in(*values):
        if isinstance(part, Tensor):
            storage = part.untyped_storage()
            size[storage.data_ptr()] = storage.nbytes()
        else:
            whole = part.base if isinstance(part.base, np.ndarray) else part
            size[whole.ctypes.data] = whole.nbytes
    return size


def tensors_in(*values: Any) -> Iterator[Tensor | np.ndarray]:
    """The tensors and arrays that some values consist of, whatever holds them."""
    seen: set[int] = set()
    left = [*values]
    while left:
        value = left.pop()
        if isinstance(value, Tensor) and value.layout == torch.sparse_csr:
            left += [value.crow_indices(), value.col_indices(), value.values()]
        elif isinstance(value, Tensor | np.ndarray):
            yield value
        elif id(value) not in seen:
            seen.add(id(value))
            left += _inside(value)


def _inside(value: Any) -> Iterable[Any]:
    """What a value holds that may be tensors."""
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list | tuple):
        return value
    if hasattr(value, "contents"):
        contents: Iterable[Any] = value.contents()
        return contents
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, f.name) for f in fields(value)]
    return ()
