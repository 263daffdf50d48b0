"""`Uploads`: exactly what leaves the clients."""

from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from spear_core.client.residuals import Residuals
from spear_core.client.sums import Sums

LARGEST_COUNT = 2**31 - 1  # counts travel as 32-bit integers


@dataclass(frozen=True, eq=False)
class Uploads:
    """Exactly what leaves the clients: one row for every (client, class) pair that exists."""

    client: Tensor  # (P)
    label: Tensor  # (P)
    counts: Tensor  # (P)
    rows: Tensor | None  # (P, F), the prototypes; None: made from the source when they are read
    clients: int  # K
    classes: int  # C
    degree: Tensor | None = None  # (K), sent only for reliability = degree
    source: Sums | None = None  # of our own honest clients: what they computed
    residuals: Residuals | None = None  # sent only for head = ridge

    @property
    def prototypes(self) -> Tensor:
        """The mean smoothed training node of every row, (P, F)."""
        if self.rows is not None:
            return self.rows
        assert self.source is not None
        return self.source.prototypes

    @property
    def features(self) -> int:
        return self.source.partition.graph.num_features if self.source else self.prototypes.shape[1]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(client, class) of every row."""
        return list(zip(self.client.tolist(), self.label.tolist(), strict=True))

    def combine(self, share: Tensor) -> Tensor:
        """Σ_k share · p_kc for every class, (C, F); `share` is one number a row, (P)."""
        if self.rows is not None or self.source is None:
            return self.summed(share)
        return self.source.combine(share)

    def summed(self, share: Tensor) -> Tensor:
        """The sum of `combine` from the rows themselves, where they are needed anyway, (C, F)."""
        rows = self.prototypes
        total = torch.zeros(self.classes, rows.shape[1], dtype=rows.dtype, device=rows.device)
        return total.index_add_(0, self.label, share[:, None] * rows)

    def replace(self, **changes: Any) -> "Uploads":
        """These uploads with some parts changed, as rows: what they were made from is left out."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        rows = changes.pop("prototypes") if "prototypes" in changes else self.prototypes
        return Uploads(**(parts | {"rows": rows, "source": None} | changes))

    def keep(self, rows: Tensor) -> "Uploads":
        """Only the rows marked True, (P); the very same object if that is all of them."""
        if bool(rows.all()):
            return self
        return self.replace(
            client=self.client[rows],
            label=self.label[rows],
            counts=self.counts[rows],
            prototypes=self.prototypes[rows],
        )

    def by_class(self) -> list[Tensor]:
        """The rows of every class that somebody holds."""
        return [(self.label == c).nonzero().squeeze(1) for c in self.label.unique()]

    def table(self, row_values: Tensor) -> Tensor:
        """Values of the rows laid out client × class, zero where there is no pair, (K, C)."""
        shape = (self.clients, self.classes)
        out = torch.zeros(shape, dtype=row_values.dtype, device=row_values.device)
        out[self.client, self.label] = row_values
        return out
