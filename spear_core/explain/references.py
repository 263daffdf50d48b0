"""What simpler averages reach on the same split, as settings to run."""

from dataclasses import replace

from spear_core.lance import spear
from spear_core.settings import Settings

PLAIN = "plain mean of clients"


def references(settings: Settings) -> dict[str, Settings]:
    """All nodes pooled, and every client alike; SPEAR stands for the former beside a ridge head."""
    if settings.head == "ridge":  # it pools by itself and knows no other weights
        settings = spear(settings)
        first = {"SPEAR": settings}
    else:
        first = {"pooled": replace(settings, shrinkage=False, count_weights=True)}
    return first | {PLAIN: replace(settings, shrinkage=False, count_weights=False)}
