"""What smoothing does to one node, step by step, and to the accuracy over α and T."""

from spear_core.figures.smooth.curves import by_homophily, curve
from spear_core.figures.smooth.node import built_by, mixture_by_class, neighbourhood, similarities
from spear_core.figures.smooth.scores import score_parts
from spear_core.figures.smooth.steps import panels, pictures, spread

__all__ = [
    "built_by",
    "by_homophily",
    "curve",
    "mixture_by_class",
    "neighbourhood",
    "panels",
    "pictures",
    "score_parts",
    "similarities",
    "spread",
]
