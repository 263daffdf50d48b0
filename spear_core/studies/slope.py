"""A straight line through logarithms: how an error falls with the number of nodes."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True)
class Slope:
    """The line log error = intercept + slope · log n, with the 95 % interval of its slope."""

    slope: float
    low: float
    high: float
    intercept: float


def fit_slope(n: np.ndarray, error: np.ndarray) -> Slope | None:
    """Least squares on logarithms; None with fewer than three different counts."""
    good = error > 0
    x, y = np.log(n[good]), np.log(error[good])
    if len(np.unique(x)) < 3:
        return None
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    rest = y - y.mean() - slope * centred
    free = len(x) - 2
    width = stdtrit(free, 0.975) * math.sqrt(rest @ rest / free / (centred @ centred))
    return Slope(slope, slope - width, slope + width, float(y.mean() - slope * x.mean()))
