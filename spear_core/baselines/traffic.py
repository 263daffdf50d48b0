"""Bytes, counted from the messages themselves; no method counts its own."""

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

SCALAR_BYTES = 4


def payload_bytes(message: Any) -> int:
    """Bytes of what is in a message: tensors by size, plain numbers 4, names and brackets none.

    >>> payload_bytes({"count": 3, "parts": [1.5, 2]})
    12
    """
    if isinstance(message, Tensor):
        return message.numel() * message.element_size()
    if isinstance(message, dict):
        return sum(payload_bytes(part) for part in message.values())
    if isinstance(message, list | tuple):
        return sum(payload_bytes(part) for part in message)
    if isinstance(message, bool | int | float):
        return SCALAR_BYTES
    raise TypeError(f"a message cannot hold {type(message).__name__}")


@dataclass
class Traffic:
    """Bytes of each client so far, (K) each."""

    up: list[int]
    down: list[int]
    evaluation: list[int] = field(default_factory=list)  # sent once, only to be evaluated

    @classmethod
    def of(cls, clients: int) -> "Traffic":
        return cls([0] * clients, [0] * clients, [0] * clients)
