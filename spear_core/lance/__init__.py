"""LANCE: SPEAR's message read better, in closed form (Linear, Affinity-gated, Neighbour-smoothed).

Three parts, each a setting of its own and each the identity by default: how hard to smooth is read
from the features (affinity.py, gate.py), the server solves one ridge regression (ridge.py), and
clients add a sketch of what their means leave out (client/sketch.py).

>>> from spear_core import Settings
>>> lance(Settings(dataset="Cora")).head
'ridge'
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spear_core.settings import Settings

SPEAR: dict[str, Any] = {"smoothing": "fixed", "head": "cosine", "sketch": 0}
LANCE: dict[str, Any] = {"smoothing": "gated", "head": "ridge", "sketch": 8}
ESTIMATORS = {"SPEAR": SPEAR, "LANCE": LANCE}


def spear(settings: "Settings") -> "Settings":
    """The settings with the paper's estimator."""
    return replace(settings, **SPEAR)


def lance(settings: "Settings") -> "Settings":
    """The settings with LANCE: gated, ridge, a sketch of rank 8."""
    return replace(settings, **LANCE)


def estimator_of(settings: "Settings") -> str:
    """What an estimator is called: SPEAR, LANCE, or custom."""
    for name, values in ESTIMATORS.items():
        if all(getattr(settings, field) == value for field, value in values.items()):
            return name
    return "custom"
