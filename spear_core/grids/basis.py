"""Class sums of Â^s X̃ for s = 0 … T, from which the prototypes of every α, γ and T follow."""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.client import Uploads, unsmoothed
from spear_core.partition import Partition
from spear_core.propagate import as_double, block_width
from spear_core.server import mixture
from spear_core.settings import Settings
from spear_core.wanted import still_wanted


@dataclass(frozen=True, eq=False)
class Basis:
    """What a partition's clients hold and what every γ makes of it."""

    partition: Partition
    uploads: Uploads
    omega: Tensor  # (P, G)
    classes: Tensor  # (C'): those that can win
    masses: Tensor  # (N, T + 1, C'): (Âᵀ)^s S, already divided by the counts

    @property
    def shape(self) -> tuple[int, int]:
        """C' and G."""
        return len(self.classes), self.omega.shape[1]

    @property
    def columns(self) -> int:
        """J: how many columns the sums have for every power."""
        return min(len(self.omega), len(self.classes) * self.omega.shape[1])

    @property
    def place(self) -> Tensor:
        """Which of the classes that can win every upload is of, (P)."""
        return torch.searchsorted(self.classes, self.uploads.label)

    def by_column(self) -> tuple[Tensor, Tensor | None]:
        """The sums in float64, (F, T + 1, J), and the mix (C' G, J) of every γ.

        The J columns are the (client, class) pairs, or if those are fewer the classes with the
        weights of every γ: then there is nothing left to mix.
        """
        owner, (classes, gammas) = self.partition.owner, self.shape
        omega = self.omega.double()
        mix = None
        if self.columns == len(omega):
            place = self.place
            weight = (owner[:, None] == self.uploads.client).to(omega.dtype)  # (N, P)
            mix = omega.new_zeros(classes, gammas, len(omega))
            mix[place, :, torch.arange(len(omega), device=owner.device)] = omega
            mix = mix.flatten(0, 1)
        else:
            table = omega.new_zeros(self.uploads.clients, classes, gammas)
            table[self.uploads.client, self.place] = omega
            weight = table.flatten(1).index_select(0, owner)  # (N, C' G)
            place = torch.arange(classes, device=owner.device).repeat_interleave(gammas)
        columns = (self.masses.index_select(2, place) * weight[:, None]).flatten(1)
        sums = self.partition.graph.exact_features_t @ columns
        return sums.view(-1, self.masses.shape[1], len(place)), mix

    def mixed(self, columns: Tensor, mix: Tensor | None) -> Tensor:
        """Sums for every power, class and γ, (T + 1, C', G, F), from those of `by_column`."""
        whole = columns.permute(1, 2, 0)  # (T + 1, J, F)
        if mix is not None:
            whole = mix @ whole
        return whole.unflatten(1, self.shape)


def make_basis(
    partition: Partition,
    settings: Settings,
    gammas: tuple[float, ...],
    top: int,
) -> Basis:
    """The basis of a partition; the settings' own α, γ and T are not looked at."""
    uploads = unsmoothed(partition, 0.0, 0, settings.reliability == "degree")
    assert uploads.source is not None
    omega = torch.stack([mixture(uploads, settings, g)[1] for g in gammas], 1)
    classes = torch.bincount(uploads.label).nonzero().squeeze(1)
    every = slice(0, partition.graph.classes)
    start = uploads.source.indicator(torch.float64)(every).index_select(1, classes)
    operator = as_double(partition.operator_t)
    masses = start.new_empty(len(start), top + 1, len(classes))
    step = block_width(len(start), start.device)
    for first in range(0, len(classes), step):
        still_wanted()
        columns = slice(first, first + step)
        power = start[:, columns].contiguous()
        masses[:, 0, columns] = power
        for s in range(1, top + 1):
            power = operator @ power
            masses[:, s, columns] = power
    return Basis(partition, uploads, omega, classes, masses)
