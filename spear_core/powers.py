"""What is read from X, ÂX, Â²X, …, kept: readings of Z = Σ_t w_t Â^t X for any α and T mix them."""

import threading
from collections.abc import Callable

import torch
from torch import Tensor

from spear_core.propagate import enough_steps, mixing


class Powers:
    """Readings of the powers (some rows, some sums), made as far as they were ever asked for."""

    def __init__(self) -> None:
        self._whole: Tensor | None = None  # the last power itself ...
        self._last = -1  # ... and which one that is
        self._made: list[Tensor] = []  # a reading of each
        self._guard = threading.Lock()

    def grow(
        self, steps: int, make: Callable[[int, Tensor | None], tuple[Tensor, Tensor]]
    ) -> "Powers":
        """Itself with powers up to `steps`: `make` gives power t and its reading from the last."""
        with self._guard:
            first = self._last + 1 if steps >= len(self._made) else steps + 1
            for t in range(first, steps + 1):
                self._whole, reading = make(t, self._whole)
                self._last = t
                if t == len(self._made):
                    self._made.append(reading)
        return self

    def let_go(self) -> None:
        """Keep the readings alone; growing on begins from the start again."""
        with self._guard:
            self._whole, self._last = None, -1

    def ready(self, alpha: float, steps: int) -> bool:
        """Whether there are enough for this α and T."""
        return enough_steps(alpha, steps) < len(self._made)

    def mixed(self, alpha: float, steps: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """The reading of Z."""
        weights = mixing(alpha, enough_steps(alpha, steps))
        total = weights[0] * self._made[0].to(dtype)
        for weight, reading in zip(weights[1:], self._made[1:], strict=False):
            total.add_(reading, alpha=weight)
        return total
