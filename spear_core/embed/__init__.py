"""Maps: a graph's nodes in the plane, and places on it for prototypes.

The background (at most 3,000 nodes, by their smoothed features on the full graph) depends on the
features, the edges, α and T alone; β, K, γ, the seed and label attacks never move it. A PCA
preview is there at once, UMAP is fitted in the background and kept on disk.
"""

from spear_core.embed.background import MOST, choose
from spear_core.embed.jobs import Job, background_fit
from spear_core.embed.maps import Map, fit, preview, ready
from spear_core.embed.placing import place, refine
from spear_core.embed.turns import pages_first

__all__ = [
    "MOST",
    "Job",
    "Map",
    "background_fit",
    "choose",
    "fit",
    "pages_first",
    "place",
    "preview",
    "ready",
    "refine",
]
