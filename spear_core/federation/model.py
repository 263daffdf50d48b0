"""What classifies a node, as plain arrays: what goes back to the clients and into a run's file.

For the cosine that is the global prototypes, for the ridge head W, m and π of its scores
(z − m) W + π and which classes anybody holds; lance/ridge.py levels them by π. Whoever gets it
classifies as the engine does.
"""

from collections.abc import Mapping

import numpy as np
import torch

from spear_core.client import Uploads
from spear_core.errors import SpearError
from spear_core.lance.ridge import Ridge
from spear_core.server import Estimate

COSINE, RIDGE = ("prototypes",), ("w", "mean", "prior", "seen")


def model_arrays(made: Estimate) -> dict[str, np.ndarray]:
    """All that a client needs to classify its nodes."""
    if made.ridge is None:
        return {"prototypes": made.prototypes.cpu().numpy()}
    head = made.ridge
    parts = {"w": head.w, "mean": head.mean, "prior": head.prior, "seen": made.seen}
    return {name: part.cpu().numpy() for name, part in parts.items()}


def shapes(names: object, classes: int, features: int) -> dict[str, tuple[int, ...]]:
    """The shape of every array of a model that consists of these, or one sentence."""
    if names == set(COSINE):
        return {"prototypes": (classes, features)}
    if names == set(RIDGE):
        vectors = {"mean": (features,), "prior": (classes,), "seen": (classes,)}
        return {"w": (features, classes), **vectors}
    raise SpearError("What came back from the server is no model.")


def model(arrays: Mapping[str, np.ndarray], device: torch.device | str = "cpu") -> Estimate:
    """An estimate that classifies, and nothing else: no upload stands behind it."""
    parts = {name: torch.as_tensor(array.copy(), device=device) for name, array in arrays.items()}
    if "w" in parts:
        head = Ridge(parts["w"], parts["mean"], parts["prior"], penalty=0.0, rows=0)
        prototypes, seen = torch.zeros_like(head.w.t()), parts["seen"].bool()
    else:
        head, prototypes = None, parts["prototypes"]
        seen = prototypes.any(dim=1)
    nobody = torch.zeros(0, dtype=torch.int64, device=device)
    none = Uploads(nobody, nobody, nobody, prototypes[:0], 0, len(prototypes))
    return Estimate(none, prototypes[:0], prototypes[:0, 0], prototypes, seen, ridge=head)
