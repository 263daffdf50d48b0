"""What noise costs and what smoothing repairs, in sentences."""

import numpy as np

from spear_core.measures.spread import signed_spread
from spear_core.settings import equation
from spear_core.studies.noise_curve import Curve


def words(found: Curve) -> str:
    """What the strongest noise costs, and what smoothing is worth there and without noise."""
    worst = 0 if found.clean else len(found.values) - 1
    cost = found.smoothed[worst] - found.smoothed[found.clean]
    here, there = (equation(found.knob, found.values[i]) for i in (found.clean, worst))
    said = f"From {here} to {there} accuracy changes by {signed_spread(cost)} points"
    said += f", to {found.smoothed[worst].mean():.1f} %."
    if found.settings.alpha == 0 or found.settings.steps == 0:
        return f"{said} Smoothing is off, so both curves are one."
    at_ease, under = found.gain[found.clean], found.gain[worst]
    return (
        f"{said} Smoothing with {equation('alpha', found.settings.alpha)} gives "
        f"{signed_spread(at_ease)} points at {here} and {signed_spread(under)} at {there}: "
        f"{_repair(under - at_ease)}"
    )


def _repair(more: np.ndarray) -> str:
    """Whether smoothing gives more under noise than without it."""
    if abs(more.mean()) <= more.std() + 1e-9:
        return f"{signed_spread(more)}, within the spread."
    return f"{signed_spread(more)}, so it " + (
        "repairs part of the damage." if more.mean() > 0 else "is worth less under this noise."
    )
