"""Measures of a run: accuracy at once, everything else when first read.

No measure needs the smoothed features Z themselves; see centroids.py and silhouette.py.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from spear_core.classify import Prediction
from spear_core.client import Uploads
from spear_core.graph import Graph
from spear_core.lance.gate import at_test
from spear_core.measures.centroids import class_means
from spear_core.measures.homophily import client_homophily
from spear_core.measures.homophily import homophily as edge_homophily
from spear_core.measures.prototype_error import TEST, prototype_errors
from spear_core.measures.silhouette import silhouette as mean_silhouette
from spear_core.memory.kept import Kept, made_from
from spear_core.partition import Partition
from spear_core.server import Estimate
from spear_core.settings import Settings

FLOAT_BYTES = 4
INT_BYTES = 4
DOUBLE_BYTES = 8

FROM_SPLIT = (  # alike at every α, γ and T, unless uploads are forged, made private or dropped
    "homophily",
    "cut_edges",
    "bytes_up_total",
    "bytes_up_per_client",
    "bytes_up_prototypes",
    "bytes_down_total",
    "bytes_down_per_client",
)
JSON_METRICS = (
    "accuracy",
    "macro_f1",
    "silhouette_raw",
    "silhouette_smoothed",
    "error_local",
    "error_mean",
    "error_spear",
    "error_local_all",
    "error_mean_all",
    "error_spear_all",
    *FROM_SPLIT,
)


@dataclass(frozen=True, eq=False)
class Metrics:
    """What can be said of one run; fractions, not percent; `None` where nothing can be measured."""

    graph: Graph
    partition: Partition
    estimate: Estimate
    prediction: Prediction
    settings: Settings
    sent: Uploads  # what left the clients, also what the server dropped
    kept: Kept = field(default_factory=Kept, init=False, repr=False)  # what is computed when read

    @made_from()
    def accuracy(self) -> float | None:
        """Share of the test nodes that are right."""
        y = self.graph.y[self.prediction.nodes]
        return _share(int((self.prediction.labels == y).sum()), len(y))

    @made_from()
    def confusion(self) -> Tensor:
        """Test nodes by true class (rows) and predicted class (columns), (C, C)."""
        c = self.graph.classes
        y = self.graph.y[self.prediction.nodes]
        return torch.bincount(y * c + self.prediction.labels, minlength=c * c).view(c, c)

    @made_from()
    def class_accuracy(self) -> list[float | None]:
        """Share of each class's test nodes that are right; None for a class without any."""
        right, all_ = self.confusion.diagonal().tolist(), self.confusion.sum(1).tolist()
        return [_share(r, n) for r, n in zip(right, all_, strict=True)]

    @made_from()
    def macro_f1(self) -> float | None:
        """Mean F1 over the classes that occur among test labels or predictions."""
        hit = self.confusion.diagonal().double()
        both = self.confusion.sum(0) + self.confusion.sum(1)
        there = both > 0
        return float((2 * hit[there] / both[there]).mean()) if bool(there.any()) else None

    @made_from()
    def silhouette_raw(self) -> float | None:
        """Mean cosine silhouette of the test nodes' raw features."""
        return mean_silhouette(self.graph, alpha=0.0, steps=0)

    @made_from()
    def silhouette_smoothed(self) -> float | None:
        """Mean cosine silhouette of the test nodes after smoothing on the full graph."""
        return mean_silhouette(self.graph, self._tested.alpha, self._tested.steps)

    @made_from()
    def _tested(self) -> Settings:
        """The settings with inference's own α and T."""
        return at_test(self.graph, self.settings)

    @made_from()
    def centroids(self) -> Tensor:
        """The true class means of Z over the test nodes, (C, F)."""
        return class_means(self.graph, "test", self._tested)

    @made_from()
    def centroids_all(self) -> Tensor:
        """The true class means of Z over every node, (C, F)."""
        return class_means(self.graph, "all", self._tested)

    def centroids_of(self, reading: str) -> Tensor:
        """The true class means by what they are taken over, `TEST` or `EVERY` nodes, (C, F)."""
        return self.centroids if reading == TEST else self.centroids_all

    @property
    def error_local(self) -> float | None:
        """Mean cosine distance of the uploaded prototypes to the test centroids."""
        return self._errors["local"]

    @property
    def error_mean(self) -> float | None:
        """Mean cosine distance of each class's plain mean over clients to the test centroids."""
        return self._errors["mean"]

    @property
    def error_spear(self) -> float | None:
        """Mean cosine distance of the global prototypes to the test centroids."""
        return self._errors["spear"]

    @property
    def error_local_all(self) -> float | None:
        """`error_local` against the centroids of every node (the paper's appendix)."""
        return self._errors_all["local"]

    @property
    def error_mean_all(self) -> float | None:
        return self._errors_all["mean"]

    @property
    def error_spear_all(self) -> float | None:
        return self._errors_all["spear"]

    @made_from()
    def _errors(self) -> dict[str, float | None]:
        return prototype_errors(self.estimate, self.centroids)

    @made_from()
    def _errors_all(self) -> dict[str, float | None]:
        return prototype_errors(self.estimate, self.centroids_all)

    @made_from()
    def homophily(self) -> float | None:
        """Share of edges that join two nodes of one class."""
        return edge_homophily(self.graph)

    @made_from()
    def client_homophily(self) -> list[float | None]:
        """Share of every client's own edges that join one class, (K); None without edges."""
        return client_homophily(self.partition)

    @property
    def cut_edges(self) -> int:
        """Edges lost because their ends belong to different clients."""
        return self.partition.cut_edges

    @made_from()
    def client_bytes_up(self) -> list[int]:
        """What each client sends: float32 prototypes, int32 labels and counts.

        For the ridge head also float32 rows of its sketch and its energy as one float64.
        """
        up = self.sent
        pairs = torch.bincount(up.client, minlength=up.clients)
        sent = pairs * (up.features * FLOAT_BYTES + 2 * INT_BYTES)
        if up.degree is not None:
            sent = sent + FLOAT_BYTES * (pairs > 0)
        if up.residuals is not None:
            rows = torch.bincount(up.residuals.owner, minlength=up.clients)
            sent = sent + DOUBLE_BYTES * (pairs > 0) + rows * up.features * FLOAT_BYTES
        return sent.tolist()

    @property
    def bytes_up_total(self) -> int:
        return sum(self.client_bytes_up)

    @property
    def bytes_up_per_client(self) -> float:
        return self.bytes_up_total / self.partition.clients

    @property
    def bytes_up_prototypes(self) -> float:
        """Mean upload per client counting prototypes alone, as the paper's KB do."""
        up = self.sent
        return len(up.client) * up.features * FLOAT_BYTES / self.partition.clients

    @property
    def bytes_down_per_client(self) -> int:
        """The global prototypes of the seen classes with their labels, if sent back.

        The ridge head sends a column of W in place of each, and one number to add.
        """
        seen, more = int(self.estimate.seen.sum()), FLOAT_BYTES * (self.estimate.ridge is not None)
        return seen * (self.estimate.uploads.features * FLOAT_BYTES + INT_BYTES + more)

    @property
    def bytes_down_total(self) -> int:
        return self.bytes_down_per_client * self.partition.clients

    def fedavg_bytes(self, rounds: int = 100, hidden: int = 256) -> int:
        """What FedAvg would send by formula: a 2-layer GCN up and down, every client and round."""
        f, c = self.graph.num_features, self.graph.classes
        parameters = f * hidden + hidden + hidden * c + c
        return 2 * rounds * self.partition.clients * parameters * FLOAT_BYTES

    def to_dict(self) -> dict[str, Any]:
        """Every scalar measure under its name."""
        return {name: getattr(self, name) for name in JSON_METRICS}


def measure(
    partition: Partition,
    estimate: Estimate,
    prediction: Prediction,
    settings: Settings,
    sent: Uploads | None = None,
) -> Metrics:
    """The measures of a run; each is computed when first read. Bytes are those of `sent`."""
    sent = estimate.uploads if sent is None else sent
    return Metrics(partition.graph, partition, estimate, prediction, settings, sent)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
