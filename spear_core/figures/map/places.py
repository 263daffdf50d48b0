"""Where the prototypes of a result lie on a map, and how far they really are from the centroids."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from spear_core import embed
from spear_core.embed import Map
from spear_core.measures import prototype_error
from spear_core.run import Result

MAPS = 4  # of one result that keep what is placed on them: previews, UMAPs, a pinned run's


@dataclass(frozen=True, eq=False)
class Places:
    """Where the prototypes of one result lie on one map, and their best cosine to any node."""

    local: np.ndarray  # (P, 2)
    local_cosine: np.ndarray  # (P)
    classes: np.ndarray  # the seen classes
    glob: np.ndarray  # (seen, 2)
    glob_cosine: np.ndarray  # (seen)
    tested: np.ndarray  # the classes with test nodes
    centroid: np.ndarray  # (tested, 2)


def placed(plane: Map, result: Result) -> Places:
    """Places of a result's prototypes, computed once for each map."""
    key = ("map_places", plane.key, plane.kind)
    return result.kept.get(key, frozenset(), lambda: _placed(plane, result), most=MAPS)


def _placed(plane: Map, result: Result) -> Places:
    centroids = result.metrics.centroids
    seen = result.estimate.seen.nonzero().squeeze(1)
    tested = (centroids.abs().sum(1) > 0).nonzero().squeeze(1)
    parts = (result.uploads.prototypes, result.estimate.prototypes[seen], centroids[tested])
    xy, cosine = embed.refine(plane, torch.cat(parts))
    size = [len(part) for part in parts]
    local, glob, centroid = (array(part) / plane.radius for part in xy.split(size))
    near_local, near_glob, _ = (array(part) for part in cosine.split(size))
    return Places(local, near_local, array(seen), glob, near_glob, array(tested), centroid)


def distances(result: Result) -> pd.DataFrame:
    """Cosine distance to the true centroid for each class: local (mean), plain mean and global.

    Empty (NaN) where a class has no prototype or no test node. Means over the rows are
    `metrics.error_local`, `error_mean` and `error_spear`.
    """
    columns = result.kept.get("map_distances", frozenset(), lambda: _distances(result))
    return pd.DataFrame({"class": result.graph.names, **columns})


def _distances(result: Result) -> dict[str, np.ndarray]:
    far = prototype_error.distances(result.estimate, result.metrics.centroids)
    number = torch.bincount(result.uploads.label, minlength=result.uploads.classes)
    columns = {"clients": number} | {name.replace("spear", "global"): v for name, v in far.items()}
    return {name: array(values) for name, values in columns.items()}


def array(values: Tensor) -> np.ndarray:
    return values.detach().cpu().numpy()
