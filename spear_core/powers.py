"""What is read from X, ÂX, Â²X, …, kept: readings of Z = Σ_t w_t Â^t X for any α and T mix them."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from spear_core.memory import budget
from spear_core.memory.sizes import bytes_of
from spear_core.propagate import enough_steps, mixing, propagate

if TYPE_CHECKING:
    from spear_core.graph import Graph
    from spear_core.settings import Settings

MOST_KEPT = 20  # powers whose readings are kept unasked: as far as a slider goes
AT_ONCE = 32  # columns propagated between two pauses
TESTED = frozenset({"x", "edge_index", "nodes", "test"})  # what test nodes' features depend on


class Powers:
    """Readings of the powers (some rows, some sums), made as far as they were ever asked for."""

    def __init__(self) -> None:
        self._whole: Tensor | None = None  # the last power itself ...
        self._last = -1  # ... and which one that is
        self._made: list[Tensor] = []  # a reading of each
        self.took: dict[int, float] = {}  # seconds of the propagation to each, where that is told
        self._guard = threading.Lock()

    def grow(
        self, steps: int, make: Callable[[int, Tensor | None], tuple[Tensor, Tensor]]
    ) -> "Powers":
        """Itself with powers up to `steps`: `make` gives power t and its reading from the last."""
        with self._guard:
            first = self._last + 1 if steps >= len(self._made) else steps + 1
            for t in range(first, steps + 1):
                begun = self._whole is not None
                self._whole, reading = make(t, self._whole)
                self._last = t
                if t == len(self._made):
                    self._made.append(reading)
                    budget.made(bytes_of(reading, None if begun else self._whole))
        return self

    def grow_slowly(
        self,
        steps: int,
        make: Callable[[int, Tensor | None], tuple[Tensor, Tensor]],
        pause: Callable[[], None],
    ) -> "Powers":
        """Grow with a pause before every power, in which nobody who needs them has to wait."""
        for t in range(len(self._made), steps + 1):
            pause()
            self.grow(t, make)
        return self

    def let_go(self) -> None:
        """Keep the readings alone; growing on begins from the start again."""
        with self._guard:
            self._whole, self._last = None, -1

    def contents(self) -> list[Tensor]:
        """All that is kept."""
        whole = [] if self._whole is None else [self._whole]
        return [*whole, *self._made]

    def ready(self, alpha: float, steps: int) -> bool:
        """Whether there are enough for this α and T."""
        return enough_steps(alpha, steps) < len(self._made)

    def seconds(self, alpha: float, steps: int) -> float:
        """How long the propagations took that this α and T need."""
        return sum(self.took.get(t, 0.0) for t in range(enough_steps(alpha, steps) + 1))

    def mixed(self, alpha: float, steps: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """The reading of Z."""
        weights = mixing(alpha, enough_steps(alpha, steps))
        total = weights[0] * self._made[0].to(dtype)
        for weight, reading in zip(weights[1:], self._made[1:], strict=False):
            total.add_(reading, alpha=weight)
        return total


def propagate_slowly(
    operator: Tensor,
    x: Tensor,
    alpha: float,
    steps: int,
    rows: tuple[Tensor, Tensor],
    pause: Callable[[], None],
) -> Tensor:
    """What `propagate` gives, with a pause before every few columns."""
    parts = []
    for some in x.split(AT_ONCE, dim=1):
        pause()
        parts.append(propagate(operator, some, alpha, steps, rows))
    return torch.cat(parts, dim=1)


def tested_powers(graph: "Graph") -> Powers:
    """Of the full graph's operator: the test nodes' features, as far as they were prepared."""
    return graph.kept.get("test_powers", TESTED, Powers)


def z_key(settings: "Settings") -> tuple[float, int]:
    """What the smoothed features of a graph depend on: α, and the steps that matter."""
    return settings.alpha, enough_steps(settings.alpha, settings.steps)


def keep_z(graph: "Graph", settings: "Settings", z: Tensor) -> None:
    """Keep the smoothed features of the test nodes (M, F); the last ones alone are kept."""
    graph.kept.put(("test_z", *z_key(settings)), TESTED, z, most=1)


def kept_z(graph: "Graph", settings: "Settings") -> Tensor | None:
    """The smoothed features of the test nodes (M, F), if all that gives them was prepared."""
    key = z_key(settings)
    z: Tensor | None = graph.kept.peek(("test_z", *key), TESTED)
    powers = tested_powers(graph)
    if z is None and powers.ready(*key):
        z = powers.mixed(*key, dtype=torch.float32)
        keep_z(graph, settings, z)
    return z
