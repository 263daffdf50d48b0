"""A measure over several seeds: its mean and its spread."""

from collections.abc import Iterable


def mean_and_spread(values: Iterable[float]) -> tuple[float, float]:
    """Mean and population standard deviation.

    >>> mean_and_spread([1, 3])
    (2.0, 1.0)
    """
    known = list(values)
    mean = sum(known) / len(known)
    return mean, (sum((v - mean) ** 2 for v in known) / len(known)) ** 0.5
