"""`Residuals`: what class means leave out of a client's training rows, as far as it is sent."""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.propagate import squared


@dataclass(frozen=True, eq=False)
class Residuals:
    """A client's energy q = Σ‖z‖² over its training rows, and rows R that stand for the rest.

    Rᵀ R is as much as R says of Eᵀ E, where E is z less the mean of its own class:
    Σ n‖p‖² + ‖R‖² ≤ q ≤ Σ n for whoever tells the truth.
    """

    energy: Tensor  # (K), 0 of a client that sends nothing
    rows: Tensor  # (R, F)
    owner: Tensor  # (R): the client of each row

    def of(self, clients: Tensor) -> "Residuals":
        """Those of the clients marked True, (K); of the others nothing is left."""
        if bool(clients.all()):
            return self
        mine = clients[self.owner]
        energy = torch.where(clients, self.energy, 0.0)
        return Residuals(energy, self.rows[mine], self.owner[mine])

    def lengths(self) -> Tensor:
        """‖R‖² of every client, (K)."""
        square = squared(self.rows)
        return torch.zeros_like(self.energy, dtype=square.dtype).index_add_(0, self.owner, square)
