"""Settings that a page may be asked for: what takes longer than anybody waits gets a sentence.

Every visitor of an app waits for what one link asks. Each setting has limits of its own; here are
those of what they come to together, from the sizes in the catalogue, before anything is read.
"""

import math

from spear_core import Settings
from spear_core.datasets import CATALOGUE
from spear_core.datasets.synthetic import needed
from spear_core.errors import SettingError
from spear_core.memory.free import LESS, gigabytes

LARGEST = 5e8  # bytes of a synthetic graph: one of ogbn-arxiv's size, made in seconds
MOST_NOISE = 2e7  # numbers of privacy noise, K C F
MOST_SKETCHED = 2e7  # numbers of all sketches while they are found, K F (rank + 8)
MOST_DEFENDED = 5e7  # numbers that a defence or semantic peers may have to compare, K C F
MOST_WHOLE = 1e8  # numbers of all residuals, padded to the longest client's
MOST_TURNED = 1.5e10  # K n³ for the n eigenvectors of every client's residuals
MORE = 8  # directions looked for beyond the rank


def affordable(settings: Settings) -> Settings:
    """The settings, or a sentence with what to lower."""
    s = settings
    size = needed(s.nodes, s.degree, s.classes, s.features) if s.dataset == "synthetic" else 0.0
    if size > LARGEST:
        raise SettingError(
            f"A graph of this shape takes about {gigabytes(size)} of memory, pages stop at "
            f"{gigabytes(LARGEST)}; {LESS}, or run it on the command line."
        )
    _, classes, features, _ = shape = _shape(s)
    if s.epsilon < math.inf:
        _few(s, classes * features, MOST_NOISE, "Privacy noise on every class sum")
    if s.defence not in ("none", "oracle"):
        _few(s, classes * features, MOST_DEFENDED, f"The defence {s.defence}")
    if s.peers == "semantic":
        _few(s, classes * features, MOST_DEFENDED, "Looking for semantic peers")
    if s.head == "ridge" and s.epsilon == math.inf and s.sketch < math.inf:
        wide = features * (s.sketch + MORE) if s.sketch else 0
        _few(s, wide, MOST_SKETCHED, f"A sketch of rank {s.sketch:g}", "a lower rank of it or ")
    elif s.head == "ridge":
        _whole(s, shape)
    return settings


def fits(settings: Settings) -> bool:
    """Whether a page may be asked for it."""
    try:
        affordable(settings)
    except SettingError:
        return False
    return True


def _shape(s: Settings) -> tuple[int, int, int, float]:
    """Nodes, classes and features as far as they are known, and training nodes at most."""
    entry = CATALOGUE[s.dataset]
    made = s.dataset == "synthetic"
    n, c, f = (
        (s.nodes, s.classes, s.features) if made else (entry.nodes, entry.classes, entry.features)
    )
    return n, c, f, n * (0.54 if entry.splits else 0.2)


def _few(s: Settings, each: float, most: float, what: str, other: str = "") -> None:
    """A sentence where so many numbers for each client are too many in all."""
    if s.clients * each > most:
        fewer = int(most / each)
        use = f"at most {fewer:,} clients" if fewer else "fewer classes or features"
        raise SettingError(
            f"{what} of {s.clients:,} clients takes {s.clients * each / 1e6:,.0f} million numbers "
            f"here, pages stop at {most / 1e6:,.0f} million; use {other}{use}, or run it on the "
            "command line."
        )


def _whole(s: Settings, shape: tuple[int, int, int, float]) -> None:
    """A sentence where the residuals of all clients, every row of them, are too many.

    Clients are skewed: the largest holds a few times its share, and 5 % of the rows in a crowd.
    """
    _, _, features, train = shape
    longest = train * min(1.0, max(3 / s.clients, 0.05))
    turned = s.clients * min(longest, features) ** 3 if s.epsilon == math.inf else 0.0
    if s.clients * longest * features > MOST_WHOLE or turned > MOST_TURNED:
        private = "Energies without any estimate, which private clients need with head = ridge,"
        what = private if s.epsilon < math.inf else "A sketch of every row"
        instead = "head = cosine" if s.epsilon < math.inf else "a rank of 64 or less"
        raise SettingError(
            f"{what} would keep everybody waiting on {s.dataset} with {s.clients:,} clients; use "
            f"{instead}, or run it on the command line."
        )
