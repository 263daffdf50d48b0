"""What a sketch gives away beside the means: rows that follow from it, and who is in it.

The server is that of exposure.py: it knows the features of every node. Of a cell of n nodes it
guesses p and p ± √((n − 1) / n) R_j, as if a row of the sketch were one node's alone, which of two
nodes it is: then p ± R / √2 are both. And it asks how much of x − p lies in the span of R. A server
that knows the edges too, which nothing protects, smooths x before it asks.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from spear_core.client import Sums, upload
from spear_core.client.sums import INDICATOR
from spear_core.run import Result
from spear_core.studies.exposure import groups, roc_area
from spear_core.wanted import still_wanted

NEAR = 2e-3  # of a smoothed row, which is at most 1 long: the row itself
BLOCK = 256  # columns smoothed at a time
DIGITS = 9  # of a score; what differs by less is a tie


@dataclass(frozen=True)
class Revealed:
    """What all messages of a run give away; AUCs are means over labelled nodes, 0.5 is a coin."""

    rows: int  # training nodes
    whole: int  # of them at clients that send all their residuals, up to a rotation
    exact: int  # of them whose smoothed row is one of the guesses
    found: int  # of them named: the node nearest to a guess, of all in the graph
    named: int  # nodes named in all, right or wrong
    means: float  # AUC of how near a node is to the mean alone
    sketch: float  # of how much of x − p lies in the span of the sketch
    both: float  # of how near it is to the mean plus that span
    means_edges: float  # the same three by smoothed rows
    sketch_edges: float
    both_edges: float


@dataclass(frozen=True, eq=False)
class _Message:
    """What one client sent; no class of which nothing was sent."""

    client: int
    labels: list[int]  # (c)
    counts: list[int]  # (c)
    means: Tensor  # (c, F)
    span: Tensor  # (r, F), orthonormal rows with the span of the sketch
    turn: Tensor  # (r, r): R, the sketch, is turnᵀ span


@dataclass(frozen=True, eq=False)
class _Seen:
    """Every node's products with a message, in float64, by features or by smoothed rows."""

    long: Tensor  # ‖x‖², (N)
    near: Tensor  # with the means, (N, c)
    along: Tensor  # with the span, (N, r)

    def off(self, m: _Message, i: int, nodes: Tensor) -> Tensor:
        """‖x − p‖² of some nodes from one mean, (n)."""
        square = float(m.means[i].double().square().sum())
        return (self.long[nodes] - 2 * self.near[nodes, i] + square).clamp_min(10.0**-DIGITS)

    def inside(self, m: _Message, i: int, nodes: Tensor) -> Tensor:
        """x − p within the span of the sketch, (n, r)."""
        return self.along[nodes] - m.span @ m.means[i].double()


def revealed(result: Result) -> Revealed:
    """What means and sketches of a run reveal; without a sketch, what the means do."""
    held = result.held
    sums = upload(held, result.settings).source
    assert sums is not None
    train, cells, device = held.graph.train, groups(result), held.owner.device
    found, areas, weights, whole = np.zeros(3, dtype=int), [], [], 0
    for m in _messages(result):
        still_wanted()
        plain, smoothed = (_seen(sums, m, edges) for edges in (False, True))
        count = held.train_counts[m.client]
        left = int(count.sum() - (count > 0).sum())
        whole += int(count.sum()) if 0 < left == m.turn.shape[1] else 0
        for i, label in enumerate(m.labels):
            nodes = torch.as_tensor(cells.get((m.client, label), np.empty(0, int)), device=device)
            inside = train[nodes]
            named, exact = _named(plain, m, i), _exact(smoothed, m, i, nodes[inside])
            right = torch.isin(named, nodes[inside])
            found += [int(exact.sum()), int(right.sum()), len(named)]
            member = inside.cpu().numpy()
            areas.append(
                [*_areas(plain, m, i, nodes, member), *_areas(smoothed, m, i, nodes, member)]
            )
            weights.append(int(member.sum()))
    return Revealed(int(train.sum()), whole, *found.tolist(), *_mean(areas, weights))


def _messages(result: Result) -> Iterator[_Message]:
    sent = result.sent
    for k in range(result.held.clients):
        mine = (sent.client == k) & (sent.counts > 0)
        rows = sent.prototypes.new_zeros(0, sent.features)
        if sent.residuals is not None:
            rows = sent.residuals.rows[sent.residuals.owner == k]
        span, turn = torch.linalg.qr(rows.double().t())
        labels, counts = sent.label[mine].tolist(), sent.counts[mine].long().tolist()
        if labels:
            yield _Message(k, labels, counts, sent.prototypes[mine], span.t(), turn)


def _named(seen: _Seen, m: _Message, i: int) -> Tensor:
    """The nodes nearest to the guesses of one cell."""
    near, n = seen.near[:, i : i + 1], m.counts[i]
    best = [near.argmax(0)]
    if n > 1:
        step = ((n - 1) / n) ** 0.5 * (seen.along @ m.turn)
        best += [(near + step).argmax(0), (near - step).argmax(0)]
    return torch.cat(best).unique()


def _exact(seen: _Seen, m: _Message, i: int, nodes: Tensor) -> Tensor:
    """Which training nodes of a cell have a smoothed row that is one of its guesses, (n)."""
    long, n = seen.off(m, i, nodes)[:, None], m.counts[i]
    if n == 1:
        return long[:, 0] <= NEAR**2
    scale = ((n - 1) / n) ** 0.5
    along = scale * (seen.inside(m, i, nodes) @ m.turn).abs()  # both signs at once
    off = long + scale**2 * m.turn.square().sum(0) - 2 * along
    return torch.cat([long, off], dim=1).amin(1) <= NEAR**2


def _areas(seen: _Seen, m: _Message, i: int, nodes: Tensor, member: np.ndarray) -> list[float]:
    """AUC by the mean, by the sketch, and by both, over the nodes of one client and class."""
    off, within = seen.off(m, i, nodes), seen.inside(m, i, nodes).square().sum(1)
    scores = (score.cpu().numpy().round(DIGITS) for score in (-off, within / off, within - off))
    return [roc_area(score[member], score[~member]) for score in scores]


def _mean(areas: list[list[float]], weights: list[int]) -> list[float]:
    """Of every column the mean over labelled nodes, where there is somebody to be told from."""
    table = np.array(areas).reshape(-1, 6)
    known = ~np.isnan(table).any(axis=1)
    if not known.any():
        return [float("nan")] * 6
    return np.average(table[known], axis=0, weights=np.array(weights)[known]).tolist()


def _seen(sums: Sums, m: _Message, edges: bool) -> _Seen:
    near, along = _products(sums, m.means, edges), _products(sums, m.span, edges)
    if not edges:
        return _Seen(torch.ones_like(near[:, 0]), near, along)  # by cosine, as exposure.py
    key, needs = ("lengths", *sums.key), INDICATOR | {"x"}
    return _Seen(sums.partition.kept.get(key, needs, lambda: _lengths(sums), most=1), near, along)


def _products(sums: Sums, rows: Tensor, edges: bool) -> Tensor:
    """Every node's products with some rows (r, F), smoothed as its client does or not, (N, r)."""
    found = sums.partition.graph.project(rows.float())
    if edges and len(rows):
        found = sums.smooth(sums.partition.operator, found.contiguous())
    return found.double()


def _lengths(sums: Sums) -> Tensor:
    """‖z‖² of every node's smoothed row, (N)."""
    width, device = sums.partition.graph.num_features, sums.partition.owner.device
    total = torch.zeros(sums.partition.graph.num_nodes, dtype=torch.float64, device=device)
    for some in torch.arange(width, device=device).split(BLOCK):
        unit = torch.zeros(len(some), width, device=device)
        unit[torch.arange(len(some), device=device), some] = 1
        total += _products(sums, unit, True).square().sum(1)
    return total
