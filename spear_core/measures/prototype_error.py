"""How far prototypes lie from the true class centroids, by cosine distance."""

import torch
from torch import Tensor

from spear_core.client import Uploads
from spear_core.server import Estimate

TEST, EVERY = "test nodes", "all nodes"  # what a true centroid is the mean of


def distances(estimate: Estimate, centroids: Tensor) -> dict[str, Tensor]:
    """Cosine distance to the true centroid for every class, (C) each.

    `local` is the mean over the clients that hold the class, `mean` is the plain mean of the
    clients, `spear` the global prototype. NaN where a class has no prototype or no centroid.
    """
    up = estimate.uploads
    centre = _unit(centroids)
    ones = torch.ones(len(up.label), device=up.label.device)
    mean = _unit(up.summed(ones))  # from the prototypes, which are needed anyway
    far = {
        "local": _over_clients(up, _far(up.prototypes, centre[up.label])),
        "mean": 1 - (mean * centre).sum(1),
        "spear": 1 - (estimate.prototypes * centre).sum(1),
    }
    missing = ~(estimate.seen & (centroids.abs().sum(1) > 0))
    return {name: values.masked_fill(missing, torch.nan) for name, values in far.items()}


def prototype_errors(estimate: Estimate, centroids: Tensor) -> dict[str, float | None]:
    """The means of these distances over the classes; None if there is no class to measure."""
    far = distances(estimate, centroids)
    if bool(far["spear"].isnan().all()):
        return dict.fromkeys(far)
    return {name: float(values.nanmean()) for name, values in far.items()}


def class_errors(estimate: Estimate, centroids: Tensor) -> dict[str, list]:
    """Distances of every held class to its centroid, as lists with a row a class.

    Beside them `shrunk`, the mean over the clients after shrinkage.
    """
    up, far = estimate.uploads, distances(estimate, centroids)
    pulled = _over_clients(up, _far(estimate.shrunk, _unit(centroids)[up.label]))
    held = (~far["spear"].isnan()).nonzero().squeeze(1)
    columns = {"local": far["local"], "shrunk": pulled, "mean": far["mean"], "spear": far["spear"]}
    return {"class": held.tolist()} | {name: c[held].tolist() for name, c in columns.items()}


def _far(rows: Tensor, centre: Tensor) -> Tensor:
    return 1 - (_unit(rows) * centre).sum(1)


def _over_clients(up: Uploads, values: Tensor) -> Tensor:
    """Means over the rows of each class, (C); 0 without any."""
    total = torch.zeros(up.classes, device=values.device).index_add_(0, up.label, values)
    return total / torch.bincount(up.label, minlength=up.classes).clamp_min(1)


def _unit(rows: Tensor) -> Tensor:
    return torch.nn.functional.normalize(rows, dim=1, eps=1e-30)
