"""What the audit tries: the engine's own noise, drawn many times, and noise that is broken."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from spear_core.client import upload
from spear_core.partition import Partition
from spear_core.settings import Settings
from spear_core.transforms.privacy import (
    Noise,
    energy_noise,
    influence,
    private_rows,
    released,
    sensitivity,
)

Sent = tuple[np.ndarray, ...]  # sums (D, K, C, F), counts (D, K, C), energies (D, K); NaN: not sent
Mechanism = Callable[[Partition, Settings, int, int], Sent]


def sound(partition: Partition, settings: Settings, draws: int, seed: int) -> Sent:
    """What the clients send, `draws` times: the engine's own mechanism on rows repeated."""
    return _drawn(partition, settings, draws, partial(_independent, seed))


def one_noise(partition: Partition, settings: Settings, draws: int, seed: int) -> Sent:
    """Broken: every client adds the same draw."""
    return _drawn(partition, settings, draws, lambda k: np.random.default_rng(seed))


def half_noise(partition: Partition, settings: Settings, draws: int, seed: int) -> Sent:
    """Broken: half of the noise that was calibrated."""
    most = float(sensitivity(partition, settings).max()) / 2
    return _narrower(partition, settings, draws, seed, most, counts=0.5)


def held_only(partition: Partition, settings: Settings, draws: int, seed: int) -> Sent:
    """Broken: a class without a labelled node is not sent."""
    sums, counts, told = sound(partition, settings, draws, seed)
    absent = partition.train_counts.numpy() == 0
    counts[:, absent] = np.nan
    return sums, counts, told


def no_relabelling(partition: Partition, settings: Settings, draws: int, seed: int) -> Sent:
    """Broken: noise for other features, and none for another label."""
    most = 2 * float(influence(partition, settings).max())
    return _narrower(partition, settings, draws, seed, most)


def whole_graph(partition: Partition, settings: Settings, draws: int, seed: int) -> Sent:
    """Broken: noise for how far a node reaches in the whole graph, not in its client's part."""
    together = Partition(partition.graph, torch.zeros_like(partition.owner), 1)
    most = float(sensitivity(together, settings).max())
    return _narrower(partition, settings, draws, seed, most)


def bare_energy(partition: Partition, settings: Settings, draws: int, seed: int) -> Sent:
    """Broken: the energy is sent as it is."""
    sums, counts, _ = sound(partition, settings, draws, seed)
    return sums, counts, energies(partition, settings).expand(draws, -1).numpy()


BROKEN: dict[str, tuple[Mechanism, str]] = {  # and the pair that shows it
    "half the noise": (half_noise, "features of a labelled node"),
    "one noise for all": (one_noise, "features, two clients"),
    "only classes held": (held_only, "the only node of its class"),
    "no noise for labels": (no_relabelling, "label in a crowd"),
    "reach in the whole graph": (whole_graph, "features of a hub, edges cut"),
    "no noise on the energy": (bare_energy, "energy of a hub's leaves"),
}


def _drawn(
    partition: Partition,
    settings: Settings,
    draws: int,
    rng: Callable[[int], np.random.Generator],
    factors: tuple[float, float] = (1.0, 1.0),
) -> Sent:
    """`draws` uploads of every client; `factors` make the noise of sums and counts narrower."""
    sums, counts = [], []
    for k, exact, n, width in released(upload(partition, settings), settings):
        used = Noise(factors[0] * width.sums, factors[1] * width.counts)
        rows, often = exact.repeat(draws, 1), n.repeat(draws)
        p, noisy = private_rows(rows, often, used, settings.mechanism, rng(k))
        sums.append((p * noisy[:, None]).view(draws, *exact.shape).numpy())
        counts.append(noisy.view(draws, -1).double().numpy())
    told = np.tile(energies(partition, settings).numpy(), (draws, 1))
    if settings.head == "ridge":
        own = [rng(partition.clients + k) for k in range(partition.clients)]  # another stream
        normal = settings.mechanism == "gaussian"
        blur = [(one.standard_normal if normal else one.laplace)(size=draws) for one in own]
        told += energy_noise(partition, settings).numpy() * np.stack(blur, 1)
    return np.stack(sums, 1), np.stack(counts, 1), told


def energies(partition: Partition, settings: Settings) -> torch.Tensor:
    """Every client's energy before noise, (K); 0 where the head asks for none."""
    rest = upload(partition, settings).residuals
    return torch.zeros(partition.clients).double() if rest is None else rest.energy


def _narrower(
    partition: Partition, settings: Settings, draws: int, seed: int, most: float, counts: float = 1
) -> Sent:
    """Uploads of clients who believe that a node moves their sums by at most `most`."""
    factor = most / float(sensitivity(partition, settings).max())
    each = partial(_independent, seed)
    return _drawn(partition, settings, draws, each, (factor, counts))


def _independent(seed: int, client: int) -> np.random.Generator:
    return np.random.default_rng([seed, client])
