"""The clients' smoothed training rows and the sums of them that a method sends.

Every sum over clients adds up exactly, so given Z the split does not matter to what is made of it.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.client.rows import Rows
from spear_core.client.sums import Sums
from spear_core.lance.gate import client_smoothing
from spear_core.partition import Partition
from spear_core.settings import Settings


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Z of the training nodes, client by client, in float64."""

    z: Tensor  # (L, F)
    label: Tensor  # (L)
    owner: Tensor  # (L): the client of each row
    classes: int

    def clients(self) -> list[tuple[Tensor, Tensor]]:
        """Rows and labels of every client that has any."""
        amount = torch.bincount(self.owner).tolist()
        parts = zip(self.z.split(amount), self.label.split(amount), strict=True)
        return [(z, y) for z, y in parts if len(z)]


def smoothed_rows(partition: Partition, settings: Settings) -> Smoothed:
    """The rows that SPEAR's clients take the means of."""
    sums = Sums(partition, *client_smoothing(partition, settings))
    rows = Rows(sums)
    rest, _ = rows.whole(int(rows.amount.max()))
    client, label = partition.pairs
    pair = torch.zeros(partition.clients * partition.graph.classes, dtype=torch.int64)
    pair[client * partition.graph.classes + label] = torch.arange(len(client))
    z = torch.cat(rest).double() + sums.prototypes.double()[pair[rows.cell]]
    return Smoothed(z, partition.graph.y[rows.nodes], rows.owner, partition.graph.classes)


@dataclass(frozen=True, eq=False)
class Sent:
    """What one client sends, or the sum over all of them."""

    counts: Tensor  # (C): n_c
    sums: Tensor  # (C, F): Σz by class
    scatter: Tensor | None = None  # rows R with RᵀR = ZᵀZ; of all clients one below another
    squares: Tensor | None = None  # (C, F): Σz² by class


def sums_of(z: Tensor, label: Tensor, classes: int, scatter: bool, squares: bool) -> Sent:
    """One client's message. Of its scatter the triangular factor of Z, min(n, F) rows."""
    member = torch.nn.functional.one_hot(label, classes).t().to(z.dtype)
    factor = torch.linalg.qr(z, mode="r").R if scatter else None
    return Sent(member.sum(1), member @ z, factor, member @ (z * z) if squares else None)


def added(sent: list[Sent]) -> Sent:
    """The server's sums over clients."""
    scatter = [one.scatter for one in sent if one.scatter is not None]
    squares = [one.squares for one in sent if one.squares is not None]
    return Sent(
        torch.stack([one.counts for one in sent]).sum(0),
        torch.stack([one.sums for one in sent]).sum(0),
        torch.cat(scatter) if scatter else None,
        torch.stack(squares).sum(0) if squares else None,
    )


def floats_of(sent: Sent) -> int:
    """Numbers in one client's message; absent classes are not sent."""
    held, width = int((sent.counts > 0).sum()), sent.sums.shape[1]
    many = held * (width + 1)
    if sent.scatter is not None:  # n F, or the triangle where that is smaller
        many += min(len(sent.scatter) * width, width * (width + 1) // 2)
    return many + (held * width if sent.squares is not None else 0)
