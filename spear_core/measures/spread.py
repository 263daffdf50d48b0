"""A measure as it is written everywhere: percent with one decimal, its spread, bytes."""

from collections.abc import Iterable

import numpy as np


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent; a dash where there is none.

    >>> percent(0.6308), percent(0.25, 0), percent(None)
    ('63.1 %', '25 %', '–')
    """
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def mean_and_spread(values: Iterable[float]) -> tuple[float, float]:
    """Mean and population standard deviation.

    >>> mean_and_spread([1, 3])
    (2.0, 1.0)
    """
    known = list(values)
    mean = sum(known) / len(known)
    return mean, (sum((v - mean) ** 2 for v in known) / len(known)) ** 0.5


def with_spread(mean: float, std: float, digits: int = 1) -> str:
    """A mean in percent and its standard deviation; the sign of percent is the caller's.

    >>> with_spread(63.08, 0.449).split()
    ['63.1', '±', '0.4']
    """
    return f"{mean:.{digits}f}\u00a0±\u00a0{std:.{digits}f}"


def points(change: float) -> str:
    """A difference of two accuracies in percent, with its sign; none at all has both.

    >>> points(0.24), points(-1.5), points(-0.04)
    ('+0.2', '−1.5', '±0.0')
    """
    return f"{change:+.1f}".replace("-", "−") if abs(change) >= 0.05 else "±0.0"


def signed(change: float) -> str:
    """The same with the sign that Streamlit reads to choose arrow and colour.

    >>> signed(-40.26)
    '-40.3'
    """
    return points(change).replace("−", "-")


def signed_spread(each: np.ndarray) -> str:
    """Mean ± standard deviation of a change, with a sign."""
    return f"{each.mean():+.1f}\u00a0±\u00a0{each.std():.1f}".replace("-", "−")


def human_bytes(count: float) -> str:
    """A number of bytes as people say it.

    >>> human_bytes(7452), human_bytes(2.95e9)
    ('7.3 KiB', '2.7 GiB')
    """
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
