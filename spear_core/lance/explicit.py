"""LANCE step by step: a loop over clients, Z of width F, singular values, in float64.

Slow and plain on purpose, as explicit.py is for SPEAR. Tests hold the fast engine against it.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.explicit import dense_features, smooth
from spear_core.partition import Partition
from spear_core.propagate import subgraph
from spear_core.settings import Settings

DOUBT = 10  # edges, each way counted
LEVEL = 0.3  # the power of its share that a class's scores are divided by
BELIEVED = 0.25  # of the slope; with less W shrinks, without any the cosine decides
DROPPED = 1e-9  # rows of a sketch below this part of its largest eigenvalue


@dataclass(frozen=True, eq=False)
class ExplicitLance:
    """Every intermediate of the method, dense."""

    client: Tensor  # (P)
    label: Tensor  # (P)
    counts: Tensor  # (P)
    local: Tensor  # (P, F) prototypes as uploaded
    energy: Tensor  # (K): q
    sketch: list[Tensor]  # R of every client, (r_k, F)
    w: Tensor  # (F, C)
    mean: Tensor  # (F): m
    prior: Tensor  # (C): π
    slope: float  # of the rows' classes on what all other rows say of them
    scores: Tensor  # (N, C), of the ridge head
    labels: Tensor  # (N)


def plain_affinity(x: Tensor, edge_index: Tensor) -> float:
    """Affinity of nodes with unit rows x (N, F), by its definition."""
    n = len(x)
    source, target = edge_index[:, edge_index[0] != edge_index[1]]
    if n < 2 or len(source) == 0:
        return 0.0
    near = float((x[source] * x[target]).sum(1).mean())
    b = float(((x @ x.t()).sum() - (x * x).sum()) / (n * (n - 1)))
    return (near - b) / (1 - b) if b < 1 - 1e-6 else 0.0


def plain_smoothing(x: Tensor, edge_index: Tensor, settings: Settings) -> tuple[float, int]:
    """α and T by the affinity of what is at hand."""
    gated = settings.smoothing == "gated" and settings.epsilon == math.inf
    amount = int((edge_index[0] != edge_index[1]).sum())
    trusted = plain_affinity(x, edge_index) * amount / (amount + DOUBT)
    if gated and trusted > settings.gate:
        return settings.gate_alpha, settings.gate_steps
    return settings.alpha, settings.steps


def plain_sketch(residuals: Tensor, cells: int, settings: Settings) -> Tensor:
    """The leading rows of S Vᵀ of one client's residuals (n, F)."""
    whole = len(residuals) - cells
    rank = min(settings.sketch, whole // 2 if settings.sketch_cap else whole)
    _, s, vt = torch.linalg.svd(residuals, full_matrices=False)
    rank = min(int(rank), int((s**2 > DROPPED * max(float((s**2).max()), 1e-300)).sum()))
    return s[:rank, None] * vt[:rank]


def plain_round(a: Tensor, t: float, n: float) -> float:
    """λ of a cloud of n rows as round as this one: t is its trace, the rows of a are seen of it."""
    f, s = a.shape[1], a.t() @ a
    unseen = max(t - float(s.trace()), 0.0)
    trace = float(s.trace()) + unseen
    square = float((s @ s).trace()) + 2 * float(s.trace()) * unseen / f + unseen**2 / f
    square += unseen**2 / max(n - len(a), 1)
    rho = ((1 - 2 / f) * square + trace**2) / ((n + 1 - 2 / f) * max(square - trace**2 / f, 1e-300))
    rho = min(rho, 0.99)
    return rho / (1 - rho) * t / f


def plain_weights(a: Tensor, d: Tensor, lam: float, rounder: float) -> Tensor:
    """W with the larger of the two λ; as large as with the first, by what it explains."""
    eye = torch.eye(a.shape[1], dtype=a.dtype)
    w = torch.linalg.solve(a.t() @ a + lam * eye, a.t() @ d)
    if rounder <= lam:
        return w
    again = torch.linalg.solve(a.t() @ a + rounder * eye, a.t() @ d)
    explained = float((again * (a.t() @ d)).sum())
    return again * float((w * (a.t() @ d)).sum()) / explained if explained > 0 else again


def plain_trust(slope: float) -> float:
    """The factor on W."""
    return min(1.0, slope / BELIEVED)


def plain_slope(a: Tensor, d: Tensor, lam: float, t: float, n: float) -> float:
    """Σ d f₋ / Σ f₋² with f₋ = (f - h d) / (1 - h); `n` rows, of whose scatter t some is in `a`."""
    f = a.shape[1]
    inverse = torch.linalg.inv(a.t() @ a + lam * torch.eye(f, dtype=a.dtype))
    w = inverse @ a.t() @ d
    unseen = max(t - float((a**2).sum()), 0.0)
    each = unseen / max(n - len(a), 1)
    h = (1 + float((inverse @ a.t() @ a).trace()) + unseen / (each + lam)) / n
    h, spread = min(h, 0.999), float((d**2).sum())
    own, square = float((d * (a @ w)).sum()), float(((a @ w) ** 2).sum())
    square += unseen * float((w**2).sum()) / f
    left = own - h * spread, square - 2 * h * own + h * h * spread
    return max(left[0], 0.0) * (1 - h) / max(left[1], 1e-12)


def run_lance(partition: Partition, settings: Settings) -> ExplicitLance:
    """The ridge head over all clients, from the nodes themselves."""
    graph = partition.graph
    x = dense_features(graph)
    client, label, counts, local, sketch = [], [], [], [], []
    energy = torch.zeros(partition.clients, dtype=x.dtype)
    for k in range(partition.clients):
        nodes = partition.nodes_of(k)
        edges = subgraph(graph.edge_index, nodes, graph.num_nodes)
        z = smooth(x[nodes], edges, *plain_smoothing(x[nodes], edges, settings))
        y, trained = graph.y[nodes], graph.train[nodes]
        rest, held = z.clone(), 0
        for c in range(graph.classes):
            mine = trained & (y == c)
            if bool(mine.any()):
                client.append(k)
                label.append(c)
                counts.append(int(mine.sum()))
                local.append(z[mine].mean(dim=0))
                rest[mine] -= local[-1]
                held += 1
        energy[k] = (z[trained] ** 2).sum()
        if held:
            sketch.append(plain_sketch(rest[trained], held, settings))
        else:
            sketch.append(x.new_zeros(0, x.shape[1]))
    p, n = torch.stack(local), torch.tensor(counts, dtype=x.dtype)
    one_hot = torch.nn.functional.one_hot(torch.tensor(label), graph.classes).to(x.dtype)
    total = n.sum()
    mean, prior = (n @ p) / total, (n @ one_hot) / total
    a = torch.cat([n.sqrt()[:, None] * (p - mean), *sketch])
    d = torch.zeros(len(a), graph.classes, dtype=x.dtype)
    d[: len(p)] = n.sqrt()[:, None] * (one_hot - prior)
    t = energy.sum() - total * (mean @ mean)
    even = 1 / (int((prior > 0).sum()) * float(prior @ prior))
    lam = settings.ridge * even**2 * t / total + max(float(t - (a**2).sum()), 0.0) / x.shape[1]
    rounder = plain_round(a, float(t), float(total))
    w = plain_weights(a, d, float(lam), rounder)
    slope = plain_slope(a, d, max(float(lam), rounder), float(t), float(total))
    w *= plain_trust(slope)
    alpha, steps = plain_smoothing(x, graph.edge_index, settings)
    alpha = settings.test_alpha if settings.test_alpha >= 0 else alpha
    steps = settings.test_steps if settings.test_steps >= 0 else steps
    z = smooth(x, graph.edge_index, alpha, steps)
    scores = ((z - mean) @ w + prior) / prior.clamp_min(1e-9) ** LEVEL
    scores = scores.masked_fill(prior == 0, -math.inf)
    whole = torch.tensor(client), torch.tensor(label), torch.tensor(counts)
    head, labels = (w, mean, prior), scores.argmax(dim=1)
    return ExplicitLance(*whole, p, energy, sketch, *head, slope, scores, labels)
