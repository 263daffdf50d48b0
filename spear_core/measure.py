"""Measures of a run: accuracy at once, everything else when first read.

No measure needs the smoothed features Z themselves: class means and similarities are two
propagations of width C, norms come from row products kept with the graph.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from spear_core.classify import Prediction
from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.propagate import mixing, propagate
from spear_core.server import Estimate
from spear_core.settings import Settings

FLOAT_BYTES = 4
INT_BYTES = 4
RESOLUTION = 1e-6  # of a cosine distance computed in single precision
KEPT = 8  # class means kept with a graph
FEW_STEPS = 5  # up to here the row products that serve every α are kept

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
    "homophily",
    "cut_edges",
    "bytes_up_total",
    "bytes_up_per_client",
    "bytes_up_prototypes",
    "bytes_down_total",
    "bytes_down_per_client",
)


@dataclass(frozen=True, eq=False)
class Metrics:
    """What can be said of one run; fractions, not percent; `None` where nothing can be measured."""

    graph: Graph
    partition: Partition
    estimate: Estimate
    prediction: Prediction
    settings: Settings

    @cached_property
    def accuracy(self) -> float | None:
        """Share of the test nodes that are right."""
        y = self.graph.y[self.prediction.nodes]
        return _share(int((self.prediction.labels == y).sum()), len(y))

    @cached_property
    def confusion(self) -> Tensor:
        """Test nodes by true class (rows) and predicted class (columns), (C, C)."""
        c = self.graph.classes
        y = self.graph.y[self.prediction.nodes]
        return torch.bincount(y * c + self.prediction.labels, minlength=c * c).view(c, c)

    @cached_property
    def class_accuracy(self) -> list[float | None]:
        """Share of each class's test nodes that are right; None for a class without any."""
        right, all_ = self.confusion.diagonal().tolist(), self.confusion.sum(1).tolist()
        return [_share(r, n) for r, n in zip(right, all_, strict=True)]

    @cached_property
    def macro_f1(self) -> float | None:
        """Mean F1 over the classes that occur among test labels or predictions."""
        hit = self.confusion.diagonal().double()
        both = self.confusion.sum(0) + self.confusion.sum(1)
        there = both > 0
        return float((2 * hit[there] / both[there]).mean()) if bool(there.any()) else None

    @cached_property
    def silhouette_raw(self) -> float | None:
        """Mean cosine silhouette of the test nodes' raw features."""
        return silhouette(self.graph, alpha=0.0, steps=0)

    @cached_property
    def silhouette_smoothed(self) -> float | None:
        """Mean cosine silhouette of the test nodes after smoothing on the full graph."""
        return silhouette(self.graph, self.settings.alpha, self.settings.steps)

    @cached_property
    def centroids(self) -> Tensor:
        """The true class means of Z over the test nodes, (C, F)."""
        return class_means(self.graph, "test", self.settings)

    @cached_property
    def centroids_all(self) -> Tensor:
        """The true class means of Z over every node, (C, F)."""
        return class_means(self.graph, "all", self.settings)

    @property
    def error_local(self) -> float | None:
        """Mean cosine distance of the uploaded prototypes to the test centroids."""
        return self._errors["local"]

    @property
    def error_mean(self) -> float | None:
        """The same for the plain client mean of each class."""
        return self._errors["mean"]

    @property
    def error_spear(self) -> float | None:
        """The same for the global prototypes."""
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

    @cached_property
    def _errors(self) -> dict[str, float | None]:
        return prototype_errors(self.estimate, self.centroids)

    @cached_property
    def _errors_all(self) -> dict[str, float | None]:
        return prototype_errors(self.estimate, self.centroids_all)

    @cached_property
    def homophily(self) -> float | None:
        """Share of edges that join two nodes of one class."""
        source, target = self.graph.edge_index
        return _share(int((self.graph.y[source] == self.graph.y[target]).sum()), len(source))

    @cached_property
    def client_homophily(self) -> list[float | None]:
        """The same for the edges inside each client; None for a client without edges."""
        source, target = self.graph.edge_index[:, ~self.partition.cut]
        owner, k = self.partition.owner[source], self.partition.clients
        alike = self.graph.y[source] == self.graph.y[target]
        all_ = torch.bincount(owner, minlength=k).tolist()
        same = torch.bincount(owner[alike], minlength=k).tolist()
        return [_share(s, n) for s, n in zip(same, all_, strict=True)]

    @property
    def cut_edges(self) -> int:
        """Edges lost because their ends belong to different clients."""
        return self.partition.cut_edges

    @cached_property
    def client_bytes_up(self) -> list[int]:
        """What each client sends: float32 prototypes, int32 labels and counts."""
        up = self.estimate.uploads
        pairs = torch.bincount(up.client, minlength=up.clients)
        sent = pairs * (up.features * FLOAT_BYTES + 2 * INT_BYTES)
        if up.degree is not None:
            sent = sent + FLOAT_BYTES * (pairs > 0)
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
        up = self.estimate.uploads
        return len(up.client) * up.features * FLOAT_BYTES / self.partition.clients

    @property
    def bytes_down_per_client(self) -> int:
        """The global prototypes of the seen classes with their labels, if sent back."""
        seen = int(self.estimate.seen.sum())
        return seen * (self.estimate.uploads.features * FLOAT_BYTES + INT_BYTES)

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
    partition: Partition, estimate: Estimate, prediction: Prediction, settings: Settings
) -> Metrics:
    """The measures of a run; each is computed when first read."""
    return Metrics(partition.graph, partition, estimate, prediction, settings)


def class_means(graph: Graph, over: str, settings: Settings) -> Tensor:
    """Class means of the smoothed features over the test or all nodes, (C, F); 0 if empty.

    They depend on the graph, α and T alone, so the last few are kept with the graph.
    """
    kept: dict[tuple[str, float, int], Tensor] = graph.__dict__.setdefault("_class_means", {})
    key = (over, settings.alpha, settings.steps)
    if key not in kept:
        nodes = (
            graph.test_nodes
            if over == "test"
            else torch.arange(graph.num_nodes, device=graph.device)
        )
        label = graph.y[nodes]
        size = torch.bincount(label, minlength=graph.classes).clamp_min(1)
        share = torch.zeros(graph.num_nodes, graph.classes, device=graph.device)
        share[nodes, label] = 1 / size[label]
        if len(kept) >= KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = _weighted_sum(graph, share, settings.alpha, settings.steps)
    return kept[key]


def prototype_errors(estimate: Estimate, centroids: Tensor) -> dict[str, float | None]:
    """Mean cosine distance to the centroids, first over a class's prototypes, then over classes."""
    up = estimate.uploads
    unit = torch.nn.functional.normalize(centroids, dim=1, eps=1e-30)
    there = centroids.abs().sum(1) > 0  # a class without nodes has no centroid
    held = (estimate.seen & there).nonzero().squeeze(1)
    if len(held) == 0:
        return {"local": None, "mean": None, "spear": None}
    rows = torch.nn.functional.normalize(up.prototypes, dim=1, eps=1e-30)
    far = 1 - (rows * unit[up.label]).sum(1)
    total = torch.zeros(up.classes, device=far.device).index_add_(0, up.label, far)
    number = torch.bincount(up.label, minlength=up.classes).clamp_min(1)
    ones = torch.ones(len(up.label), device=far.device)
    mean = torch.nn.functional.normalize(up.combine(ones), dim=1, eps=1e-30)
    return {
        "local": float((total / number)[held].mean()),
        "mean": float((1 - (mean * unit).sum(1))[held].mean()),
        "spear": float((1 - (estimate.prototypes * unit).sum(1))[held].mean()),
    }


def silhouette(graph: Graph, alpha: float, steps: int) -> float | None:
    """Mean cosine silhouette of the test nodes by class, exact, without pairwise distances.

    With unit rows x̂ and class sums S_c every mean distance is a dot product:
    a = 1 - (x̂·S_y - x̂·x̂) / (n_y - 1), b = min over other classes of 1 - x̂·S_c / n_c,
    s = (b - a) / max(a, b); 0 for a class of one. Distances that single precision cannot tell
    from zero count as zero.
    """
    nodes = graph.test_nodes
    label = graph.y[nodes]
    size = torch.bincount(label, minlength=graph.classes)
    if int((size > 0).sum()) < 2:
        return None
    if alpha == 0:
        steps = 0
    length = smoothed_norms(graph, alpha, steps)  # (M)
    scale = torch.where(length > 0, 1 / length.clamp_min(1e-30), torch.zeros_like(length))
    share = torch.zeros(graph.num_nodes, graph.classes, device=graph.device)
    share[nodes, label] = scale.to(share.dtype)
    sums = _weighted_sum(graph, share, alpha, steps)  # (C, F)
    near = propagate(graph.operator, graph.project(sums), alpha, steps)
    near = near.index_select(0, nodes).double() * scale.double()[:, None]  # (M, C): x̂·S_c
    own = near.gather(1, label[:, None]).squeeze(1)
    itself = (length > 0).double()
    n_own = size[label].double()
    a = (n_own - 1 - (own - itself)) / (n_own - 1).clamp_min(1)
    other = 1 - near / size.clamp_min(1)
    other[:, size == 0] = torch.inf
    b = other.scatter(1, label[:, None], torch.inf).min(dim=1).values
    a, b = (torch.where(d > RESOLUTION, d, torch.zeros_like(d)) for d in (a, b))
    most = torch.maximum(a, b)
    s = torch.where((n_own > 1) & (most > 0), (b - a) / most.clamp_min(1e-30), torch.zeros_like(a))
    return float(s.mean())


def smoothed_norms(graph: Graph, alpha: float, steps: int) -> Tensor:
    """‖z_i‖ of the test nodes, (M): a quadratic form in the mixing weights while T is small."""
    if steps > FEW_STEPS:
        rows = (graph.test_nodes, graph.test_operator)
        square = torch.zeros(len(graph.test_nodes), dtype=torch.float64, device=graph.device)
        for block in _column_blocks(graph):
            z = propagate(graph.operator, block, alpha, steps, rows)
            square += (z * z).sum(1, dtype=torch.float64)
        return square.sqrt()
    products = row_products(graph, steps)  # (M, T + 1, T + 1)
    w = torch.tensor(mixing(alpha, steps), dtype=products.dtype, device=graph.device)
    return torch.einsum("mst,s,t->m", products, w, w).clamp_min(0).sqrt()


def row_products(graph: Graph, steps: int) -> Tensor:
    """⟨(Â^s X̃)_i, (Â^t X̃)_i⟩ for the test nodes, kept with the graph, (M, T + 1, T + 1)."""
    kept: dict[int, Tensor] = graph.__dict__.setdefault("_row_products", {})
    larger = next((t for t in kept if t >= steps), None)
    if larger is not None:
        return kept[larger][:, : steps + 1, : steps + 1]
    nodes = graph.test_nodes
    shape = (len(nodes), steps + 1, steps + 1)
    total = torch.zeros(shape, dtype=torch.float64, device=graph.device)
    for block in _column_blocks(graph):
        powers = [block.index_select(0, nodes)]
        for _ in range(steps):
            block = graph.operator @ block
            powers.append(block.index_select(0, nodes))
        for s, left in enumerate(powers):
            for t in range(s, steps + 1):
                dot = (left * powers[t]).sum(1, dtype=torch.float64)
                total[:, s, t] += dot
                if t > s:
                    total[:, t, s] += dot
    kept.clear()  # the larger one holds every smaller one
    kept[steps] = total
    return total


def _column_blocks(graph: Graph, width: int = 512) -> Iterator[Tensor]:
    """X̃ by dense blocks of columns, so that memory stays small."""
    for start in range(0, graph.num_features, width):
        yield _columns(graph, start, min(start + width, graph.num_features))


def _columns(graph: Graph, start: int, stop: int) -> Tensor:
    """Columns of X̃ as a dense block, (N, stop - start)."""
    if graph.features.layout != torch.sparse_csr:
        return graph.features[:, start:stop].contiguous()
    by_column = graph.features_t  # (F, N) CSR: a slice of columns is a slice of rows
    crow = by_column.crow_indices()
    first, last = int(crow[start]), int(crow[stop])
    column = torch.repeat_interleave(
        torch.arange(stop - start, device=graph.device), crow[start : stop + 1].diff().long()
    )
    block = torch.zeros(graph.num_nodes, stop - start, device=graph.device)
    block[by_column.col_indices()[first:last].long(), column] = by_column.values()[first:last]
    return block


def _weighted_sum(graph: Graph, share: Tensor, alpha: float, steps: int) -> Tensor:
    """Σ_i share_ic z_i for every column c, (C, F), without Z."""
    mass = propagate(graph.operator_t, share, alpha, steps)
    return graph.collect(mass)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
