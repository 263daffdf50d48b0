"""What is known of one node in a run, and of those who built a prototype."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class View:
    """One node: who is around it, and how similar it is to every global prototype."""

    node: int
    true: int  # its class
    predicted: int
    neighbours: Tensor  # (d), without the node itself
    before: Tensor  # (C): cosine of its raw features with every global prototype, NaN if unseen
    after: Tensor  # (C): the same after smoothing
    rows: Tensor  # (T + 1, N): its row of Π after 0, 1, … T steps
    moved: bool  # whether smoothing reaches anyone else at all

    @property
    def right(self) -> bool:
        return self.true == self.predicted


@dataclass(frozen=True, eq=False)
class Builders:
    """Who built a global prototype: the clients that hold the class, the largest share first."""

    client: list[int]
    count: list[int]
    weight: list[float]  # λ: how far each was pulled to its peers
    share: list[float]  # ω over the sum of ω: how much each upload weighs in the prototype
