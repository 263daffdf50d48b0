"""The privacy promise tried out: how much a distinguishing attack really learns from what is sent.

Of two neighbouring datasets one is chosen, and somebody who knows both guesses which from the
upload. Over many draws that bounds ε from below: for every event A, ε ≥ ln((P[A] - δ) / P'[A]).
The bound has to stay below the ε that was promised, and rise above it where the mechanism is
broken on purpose. `python -m spear_core.studies.audit` prints the table.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from spear_core.client import upload
from spear_core.settings import Settings
from spear_core.studies.mechanisms import BROKEN, Mechanism, Sent, energies, sound
from spear_core.studies.neighbours import Neighbours, neighbours
from spear_core.transforms.privacy import Noise, energy_noise, released

DRAWS = 200_000  # of each of the two datasets; half of them choose the event, half count it
ERROR = 1e-4  # chance that a bound is too high by bad luck
TAILS = np.geomspace(2e-4, 0.5, 40)  # how rare the events are among which the best is chosen


@dataclass(frozen=True)
class Audited:
    """What the attack learned: with confidence ε is at least `bound`."""

    pair: str
    mechanism: str  # gaussian or laplace
    how: str  # sound, or what is broken
    promised: float
    bound: float


def audit(pair: Neighbours, how: str, mechanism: Mechanism, draws: int = DRAWS) -> Audited:
    """A lower bound on ε, from the best attack and the better direction."""
    s = pair.settings
    one, two = (
        mechanism(partition, s, draws, seed)
        for seed, partition in enumerate((pair.before, pair.after), start=1)
    )
    delta = s.delta if s.mechanism == "gaussian" else 0.0
    best: tuple[float, float] = (-math.inf, 0.0)
    for score in (_likelihood, _difference, _sending, _length):
        a, b = score(pair, one), score(pair, two)
        for left, right in ((a, b), (-b, -a)):
            best = max(best, bound(left, right, delta))
    return Audited(pair.name, s.mechanism, how, s.epsilon, max(0.0, best[1]))


def bound(one: np.ndarray, two: np.ndarray, delta: float) -> tuple[float, float]:
    """ε is at least this, by an event {score > t}: as the first half has it, and the second.

    t is chosen with the first half of the draws. With the second half P[A] is bounded from below
    and P'[A] from above (Clopper and Pearson 1934), so the bound holds whatever t is.
    """
    half = len(one) // 2
    best, chosen = -math.inf, math.inf
    for t in np.unique(np.quantile(two[:half], 1 - TAILS, method="lower")):
        found = _ratio((one[:half] > t).sum(), (two[:half] > t).sum(), half, delta)
        best, chosen = max((best, chosen), (found, t))
    rest = len(one) - half
    return best, _ratio((one[half:] > chosen).sum(), (two[half:] > chosen).sum(), rest, delta)


def _ratio(hits: int, false: int, draws: int, delta: float) -> float:
    """ln((P[A] - δ) / P'[A]) with P[A] at its lowest and P'[A] at its highest."""
    low = beta.ppf(ERROR / 2, hits, draws - hits + 1) if hits else 0.0
    high = beta.ppf(1 - ERROR / 2, false + 1, draws - false) if false < draws else 1.0
    return math.log((low - delta) / high) if low > delta else -math.inf


# what an attacker looks at ----------------------------------------------------------------------
def _likelihood(pair: Neighbours, sent: Sent) -> np.ndarray:
    """How much likelier the upload is before than after the change, by the noise alone, (D)."""
    total = np.zeros(len(sent[0]))
    for k, before, after, width in _both(pair):
        laplace = pair.settings.mechanism == "laplace"
        for seen, (was, now), wide in (
            (sent[0][:, k], (before[0], after[0]), width.sums),
            (np.nan_to_num(sent[1][:, k]), (before[1], after[1]), width.counts),
        ):
            if laplace:
                gain = (np.abs(seen - now) - np.abs(seen - was)) / wide
            else:
                gain = seen * ((was - now) / wide**2)
            total += gain.reshape(len(total), -1).sum(1)
    was, now = (energies(part, pair.settings).numpy() for part in (pair.before, pair.after))
    around = energy_noise(pair.before, pair.settings).clamp_min(1e-300).numpy()
    if pair.settings.mechanism == "laplace":
        return total + ((np.abs(sent[2] - now) - np.abs(sent[2] - was)) / around).sum(1)
    return total + (sent[2] * ((was - now) / around**2)).sum(1)


def _length(pair: Neighbours, sent: Sent) -> np.ndarray:
    """The energies alone, (D)."""
    was, now = (energies(part, pair.settings).numpy() for part in (pair.before, pair.after))
    return np.round(sent[2] @ np.sign((was - now).round(6)), 6)


def _difference(pair: Neighbours, sent: Sent) -> np.ndarray:
    """The same direction in the first client's upload less the second's: one noise cancels, (D)."""
    if sent[0].shape[1] < 2:
        return np.zeros(len(sent[0]))
    _, before, after, _ = next(iter(_both(pair)))
    sums = sent[0][:, 0] - sent[0][:, 1]
    counts = np.nan_to_num(sent[1][:, 0] - sent[1][:, 1])
    moved = (sums * (before[0] - after[0])).reshape(len(sums), -1).sum(1)
    return np.round(moved + (counts * (before[1] - after[1])).sum(1), 9)


def _sending(pair: Neighbours, sent: Sent) -> np.ndarray:
    """Which classes are sent at all, (D)."""
    was, now = (part.train_counts.numpy() for part in (pair.before, pair.after))
    return (~np.isnan(sent[1]) * np.sign(was - now)).reshape(len(sent[1]), -1).sum(1).astype(float)


def _both(pair: Neighbours) -> Iterator[tuple[int, Sent, Sent, Noise]]:
    """Every client's exact sums and counts in the two datasets, and its noise."""
    one, two = (
        released(upload(p, pair.settings), pair.settings) for p in (pair.before, pair.after)
    )
    for (k, *was, width), (_, *now, _) in zip(one, two, strict=True):
        yield k, (was[0].numpy(), was[1].numpy()), (now[0].numpy(), now[1].numpy()), width


def table(epsilon: float = 1.0, draws: int = DRAWS) -> Iterator[Audited]:
    """Every pair under both kinds of noise, sound and, on the pair that shows it, broken."""
    for kind in ("gaussian", "laplace"):
        for pair in neighbours(Settings(epsilon=epsilon, mechanism=kind)):
            yield audit(pair, "sound", sound, draws)
            for how, (mechanism, shown_by) in BROKEN.items():
                if shown_by == pair.name:
                    yield audit(pair, how, mechanism, draws)


def main() -> None:
    """Print the table for a small and a larger ε."""
    print(f"{DRAWS} draws of either dataset; every bound holds with a confidence of {1 - ERROR:g}")
    for epsilon in (1.0, 4.0):
        for row in table(epsilon):
            verdict = "broken" if row.bound > row.promised else "kept"
            print(
                f"{row.mechanism:9} ε = {row.promised:g}  {row.pair:30} {row.how:25} "
                f"ε ≥ {row.bound:6.3f}  {verdict}",
                flush=True,
            )


if __name__ == "__main__":
    main()
