"""Defences of the server: Uploads → Uploads, or another mean than the weighted one."""

from torch import Tensor

from spear_core.client import Uploads
from spear_core.graph import Graph
from spear_core.settings import Settings


def defend(
    uploads: Uploads, settings: Settings, graph: Graph | None, liars: tuple[int, ...]
) -> Uploads:
    """The uploads the defence keeps, with the counts it believes; themselves without one."""
    return uploads


def robust_mean(uploads: Uploads, settings: Settings) -> Tensor | None:
    """The robust mean of every class, (C, F); None where the weighted mean is meant."""
    return None
