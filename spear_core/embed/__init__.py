"""Maps: a graph's nodes in the plane, and places on it for prototypes.

The background (at most 3,000 nodes, by their smoothed features on the full graph) depends on the
features, the edges, α and T alone; β, K, γ, the seed and label attacks never move it. A PCA
preview is there at once, UMAP is fitted in the background and kept on disk.
"""

from spear_core.embed.jobs import Job, Jobs
from spear_core.embed.maps import Map, background_fit, fit, preview, ready
from spear_core.embed.nodes import MOST, choose
from spear_core.embed.placing import place, refine, similarity

__all__ = [
    "MOST",
    "Job",
    "Jobs",
    "Map",
    "background_fit",
    "choose",
    "fit",
    "place",
    "preview",
    "ready",
    "refine",
    "similarity",
]
