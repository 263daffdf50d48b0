"""Plotly figures of results. Pages and notebooks draw these; the engine never imports them."""

from spear_core.figures.heat import weights
from spear_core.figures.scores import (
    accuracy_strip,
    class_accuracy,
    confusion,
    silhouettes,
    traffic,
)
from spear_core.figures.tiles import pictures
from spear_core.measures.spread import human_bytes

__all__ = [
    "accuracy_strip",
    "class_accuracy",
    "confusion",
    "human_bytes",
    "pictures",
    "silhouettes",
    "traffic",
    "weights",
]
