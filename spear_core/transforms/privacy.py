"""Privacy of the one upload: noise on sums and counts, calibrated to (ε, δ). Uploads → Uploads.

Protected is what a node is: two datasets are neighbours if one node has other features and another
label while the nodes, the edges and which nodes are labelled stay the same. Every client releases,
for every class, the sum of its smoothed labelled nodes and their number, also where that is zero;
means, clipping, rounding, shrinkage and all the server does come after the noise and cost nothing.
docs/privacy.md has the derivation and what is not protected.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from spear_core.client import Residuals, Uploads
from spear_core.memory import free
from spear_core.partition import Partition
from spear_core.propagate import mixing, propagate, squared
from spear_core.randomness import generator
from spear_core.settings import Settings
from spear_core.transforms.calibration import gaussian_mu
from spear_core.wanted import still_wanted

ENERGY_SHARE = 0.05  # of the budget that goes to the energy, where the ridge head asks for it
COUNT_SHARE = 0.1  # of the budget that goes to the counts; 0.03 and 0.3 did not do better
CHUNK = 4_000_000  # numbers of noise held at once

W = TypeVar("W", float, Tensor)  # one client's, or those of several
Drawn = tuple[np.ndarray, np.ndarray]  # noise of width 1 on counts, and on sums


@dataclass(frozen=True)
class Noise(Generic[W]):
    """How wide a client's noise is: σ of the Gaussian or b of the Laplace distribution."""

    sums: W  # on every coordinate of a class sum
    counts: float  # on every count


def privatise(uploads: Uploads, settings: Settings, secret: int | None = None) -> Uploads:
    """The uploads as private clients send them, every class; themselves when ε is infinite.

    A simulation draws its noise from the seed; a real client gives a secret of its own.
    """
    if settings.epsilon == math.inf:
        return uploads
    clients, sums, counts, width = _exact(uploads, settings)
    device, classes, features = sums.device, uploads.classes, uploads.features
    own = None if secret is None else np.random.default_rng(secret)
    rows = [(sums.new_zeros(0, features), counts.new_zeros(0))]
    for part in torch.arange(len(clients)).split(max(1, CHUNK // (classes * features))):
        still_wanted()
        shape = (classes, features)
        who = clients[part].tolist()
        if own is None and len(part) == len(clients):
            blur = _kept_noise(uploads, settings, who, shape)
        else:
            blur = _noise_of([own or noise_generator(settings, k) for k in who], settings, shape)
        on_counts, on_sums = (torch.as_tensor(b, device=device) for b in blur)
        wide = Noise(width.sums[part, None, None], width.counts)
        p, n = _blurred(sums[part], counts[part], wide, on_counts, on_sums)
        rows.append((p.flatten(0, 1), n.flatten()))
    prototypes, counted = (torch.cat(parts) for parts in zip(*rows, strict=True))
    private = Uploads(
        clients.repeat_interleave(classes),
        torch.arange(classes, device=device).repeat(len(clients)),
        counted,
        prototypes,
        uploads.clients,
        classes,
        uploads.degree,  # depends on the edges alone, which are not protected
    )
    return private if uploads.residuals is None else _with_energy(private, uploads, settings, own)


def _with_energy(
    private: Uploads, uploads: Uploads, settings: Settings, own: np.random.Generator | None
) -> Uploads:
    """Private uploads with noisy energies, within what their means and counts allow; no sketch."""
    assert uploads.residuals is not None
    assert uploads.source is not None
    told = torch.zeros_like(uploads.residuals.energy)
    n = private.counts.double()
    least = torch.zeros_like(told).index_add_(0, private.client, n * squared(private.prototypes))
    most = torch.zeros_like(told).index_add_(0, private.client, n)
    width = energy_noise(uploads.source.partition, settings).tolist()
    for k in private.client.unique().tolist():
        rng = own or generator(settings.seed, f"energy {settings.draw} {k}")
        blur = rng.standard_normal() if settings.mechanism == "gaussian" else rng.laplace()
        told[k] = uploads.residuals.energy[k] + width[k] * float(blur)
    rest = Residuals(told.clamp(least, most), uploads.residuals.rows[:0], private.client[:0])
    return private.replace(residuals=rest)


def released(
    uploads: Uploads, settings: Settings
) -> Iterator[tuple[int, Tensor, Tensor, Noise[float]]]:
    """What noise is put on: a client, its class sums (C, F), its counts (C) and their noise."""
    clients, sums, counts, width = _exact(uploads, settings)
    wide = [Noise(one, width.counts) for one in width.sums.tolist()]
    yield from zip(clients.tolist(), sums, counts, wide, strict=True)


def _exact(uploads: Uploads, settings: Settings) -> tuple[Tensor, Tensor, Tensor, Noise[Tensor]]:
    """The R clients that send, their class sums (R, C, F), counts (R, C) and widths of noise (R).

    A client without a labelled node sends nothing: which nodes are labelled is not protected.
    """
    if uploads.source is None:
        raise ValueError("Noise is calibrated to what a client holds; give its own upload.")
    partition = uploads.source.partition
    clients, place = uploads.client.unique(return_inverse=True)
    shape = (len(clients), uploads.classes, uploads.features)
    free.check(12 * math.prod(shape), "All class sums", "use fewer clients or classes")  # bytes
    sums = torch.zeros(shape, device=place.device)
    sums[place, uploads.label] = uploads.prototypes * uploads.counts[:, None]
    moved = sensitivity(partition, settings)[clients].double()
    return clients, sums, partition.train_counts[clients], noise(moved, shape[2], settings)


def private_rows(
    sums: Tensor, counts: Tensor, width: Noise[float], mechanism: str, rng: np.random.Generator
) -> tuple[Tensor, Tensor]:
    """What one client releases: prototypes (C, F) of norm 1 at most, counts (C) whole and ≥ 0.

    `sums` (C, F) and `counts` (C) cover every class, held or not: which classes a client holds is
    part of what is protected. A row with a count of 0 is 0, and the server leaves it out.
    """
    drawn = _drawn(rng, mechanism, tuple(sums.shape))
    blur = (torch.as_tensor(b, device=sums.device) for b in drawn)
    return _blurred(sums, counts, width, *blur)


def _blurred(
    sums: Tensor, counts: Tensor, width: Noise, on_counts: Tensor, on_sums: Tensor
) -> tuple[Tensor, Tensor]:
    """Prototypes (…, C, F) and counts (…, C) from sums, counts and noise of width 1 on each."""
    n = (counts + width.counts * on_counts).round().clamp_min(0)
    p = (sums + width.sums * on_sums) / n.clamp_min(1)[..., None]
    p = p * (n > 0)[..., None] / p.norm(dim=-1, keepdim=True).clamp_min(1)
    return p.to(sums.dtype), n.long()


def _drawn(rng: np.random.Generator, mechanism: str, shape: tuple[int, ...]) -> Drawn:
    """One client's noise of width 1: on its counts, (C), and on its sums, (C, F)."""
    draw = rng.standard_normal if mechanism == "gaussian" else rng.laplace
    return draw(size=shape[0]), draw(size=shape)


def _noise_of(
    rngs: Sequence[np.random.Generator], settings: Settings, shape: tuple[int, int]
) -> Drawn:
    """The noise of several clients, (R, C) and (R, C, F), each written where it stays."""
    blur = np.empty((len(rngs), shape[0])), np.empty((len(rngs), *shape))
    for on_counts, on_sums, rng in zip(*blur, rngs, strict=True):
        still_wanted()
        on_counts[:], on_sums[:] = _drawn(rng, settings.mechanism, shape)
    return blur


def _kept_noise(
    uploads: Uploads, settings: Settings, clients: list[int], shape: tuple[int, int]
) -> Drawn:
    """The noise of all clients of a simulation: the same for every ε, so it is kept."""
    assert uploads.source is not None
    return uploads.source.partition.kept.get(
        ("privacy noise", settings.seed, settings.draw, settings.mechanism),
        frozenset({"owner", "train", "classes", "x"}),
        lambda: _noise_of([noise_generator(settings, k) for k in clients], settings, shape),
        most=1,
    )


def noise_generator(settings: Settings, client: int) -> np.random.Generator:
    """The noise of a simulated client. A real one has a secret: who knows the seed can undo it."""
    return generator(settings.seed, f"privacy {settings.draw} {client}")


def noise(moved: W, features: int, settings: Settings) -> Noise[W]:
    """The noise of a client whose sums move by at most `moved` (see `sensitivity`).

    Gaussian: sums and counts are one release, so (Δ/σ)² of both add up to μ²(ε, δ). Laplace: their
    ε add up. Another label moves the counts by √2 in L2 and by 2 in L1. The energy of the ridge
    head is part of the release too.
    """
    on_sums, on_counts = share_of_sums(settings), COUNT_SHARE
    if settings.mechanism == "gaussian":
        mu = gaussian_mu(settings.epsilon, settings.delta)
        return Noise(moved / (mu * on_sums**0.5), math.sqrt(2) / (mu * on_counts**0.5))
    l1 = moved * math.sqrt(features)
    return Noise(l1 / (settings.epsilon * on_sums), 2 / (settings.epsilon * on_counts))


def share_of_sums(settings: Settings) -> float:
    """What of the budget is left for the sums; the ridge head's energy takes a part too."""
    return 1 - COUNT_SHARE - (ENERGY_SHARE if settings.head == "ridge" else 0.0)


def sensitivity(partition: Partition, settings: Settings) -> Tensor:
    """How far one changed node can move a client's class sums, for every client, (K).

    Gaussian: the L2 norm of the move over all classes. Laplace: the sum over classes of the L2
    norms, to be multiplied by √F for L1. With m the node's influence and a the part of it that
    lies in other nodes' rows, other features move the sums by 2m, another label adds its own row
    to one class and takes it from another: √((2a + 1)² + 1), or 2a + 2 in sum.
    """
    m, labelled = influence(partition, settings), partition.graph.train
    a = (m - mixing(settings.alpha, settings.steps)[0]).clamp_min(0)  # a row's own share is ≥ w_0
    relabelled = ((2 * a + 1) ** 2 + 1).sqrt() if settings.mechanism == "gaussian" else 2 * a + 2
    moved = torch.where(labelled, torch.maximum(relabelled, 2 * m), 2 * m)
    zero = torch.zeros(partition.clients, dtype=m.dtype, device=m.device)
    return zero.scatter_reduce(0, partition.owner, moved, "amax")


def energy_noise(partition: Partition, settings: Settings) -> Tensor:
    """The noise on every client's energy Σ‖z‖², (K)."""
    moved = energy_sensitivity(partition, settings)
    if settings.mechanism == "gaussian":
        mu = gaussian_mu(settings.epsilon, settings.delta)
        return moved / (mu * math.sqrt(ENERGY_SHARE))
    return moved / (settings.epsilon * ENERGY_SHARE)


def energy_sensitivity(partition: Partition, settings: Settings) -> Tensor:
    """How far one changed node can move a client's energy, for every client, (K).

    A row z is no longer than 1 and moves by 2Π_ji at most, so its square by 4Π_ji: in all by four
    times the node's influence, and never by more than Σ n. Labels play no part.
    """
    m = influence(partition, settings).double()
    zero = torch.zeros(partition.clients, dtype=m.dtype, device=m.device)
    moved = 4 * zero.scatter_reduce(0, partition.owner, m, "amax")
    return torch.minimum(moved, partition.train_counts.sum(1).to(m.dtype))


def influence(partition: Partition, settings: Settings) -> Tensor:
    """How much of each node is in its client's sums, m_i = Σ_j Π_ji over labelled nodes j, (N).

    It depends on edges and on which nodes are labelled, never on features or labels. Where edges
    go both ways it is at most (1 - α) + α max(1, (degree + 1) / 2), whatever T is.
    """
    labelled = partition.graph.train.to(torch.float32)[:, None]
    if settings.alpha == 0 or settings.steps == 0:
        return labelled.squeeze(1)
    mass = propagate(partition.operator_t, labelled, settings.alpha, settings.steps)
    return mass.squeeze(1)
