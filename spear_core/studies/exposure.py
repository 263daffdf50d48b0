"""The attack side of privacy: what a curious server reads from the uploads it was sent.

The server is taken to know the features of every node of the graph, the strongest case. It asks
which node lies nearest to an upload, and of two nodes of one class which one is in the mean.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from spear_core.run import Result

CHUNK = 20_000_000  # cosines held at once


@dataclass(frozen=True, eq=False)
class Exposure:
    """What every (client, class) pair with labelled nodes gives away; one entry a pair, (P)."""

    client: np.ndarray
    label: np.ndarray
    counts: np.ndarray  # n: how many nodes are really behind it
    cosine: np.ndarray  # of the upload to the node that is nearest to it; NaN if nothing was sent
    nearest: np.ndarray  # that node; -1 if nothing was sent
    found: np.ndarray  # whether that node is one of the n
    auc: np.ndarray  # of telling its n nodes from the client's others of that class; NaN: no others

    @property
    def alone(self) -> np.ndarray:
        """Which uploads stand for a single node."""
        return self.counts == 1

    @property
    def membership(self) -> float:
        """AUC of the membership attack, the mean over labelled nodes; 0.5 is a coin."""
        known = ~np.isnan(self.auc)
        if not known.any():
            return float("nan")
        return float(np.average(self.auc[known], weights=self.counts[known]))


def exposure(result: Result) -> Exposure:
    """How closely the uploads of a run reveal the nodes behind them."""
    held, sent = result.held, result.sent
    client, label = (part.cpu().numpy() for part in held.train_counts.nonzero(as_tuple=True))
    counts = held.train_counts.cpu().numpy()[client, label]
    cosine, auc = np.full(len(client), np.nan), np.full(len(client), np.nan)
    nearest, found = np.full(len(client), -1), np.zeros(len(client), dtype=bool)
    trained = held.graph.train.cpu().numpy()
    cells = groups(result)
    some = (sent.counts != 0).tolist()  # a row of none has nothing in it
    row_of = {pair: row for row, pair in enumerate(sent.pairs) if some[row]}
    where = [row_of.get(pair, -1) for pair in zip(client.tolist(), label.tolist(), strict=True)]
    for i, cosines in _cosines(result, where):
        nodes = cells[int(client[i]), int(label[i])]
        inside = trained[nodes]
        if cosines is None:  # nothing was sent: the server can only toss a coin
            auc[i] = 0.5 if not inside.all() else np.nan
            continue
        nearest[i] = cosines.argmax()
        cosine[i] = cosines[nearest[i]]
        found[i] = nearest[i] in nodes[inside]
        auc[i] = roc_area(cosines[nodes[inside]], cosines[nodes[~inside]])
    return Exposure(client, label, counts, cosine, nearest, found, auc)


def work(result: Result) -> int:
    """About how many multiplications `exposure` takes: every upload with every node's features."""
    features = result.held.graph.features
    sparse = features.layout == torch.sparse_csr
    numbers = features.values().numel() if sparse else features.numel()
    return int(result.held.train_counts.count_nonzero()) * (numbers + 50 * len(result.held.owner))


def roc_area(members: np.ndarray, others: np.ndarray) -> float:
    """Chance that a member scores above another node, ties counting half; NaN without a pair.

    >>> roc_area(np.array([0.9, 0.4]), np.array([0.4, 0.1]))
    0.875
    """
    if not len(members) or not len(others):
        return float("nan")
    ranked = np.sort(others)
    below = np.searchsorted(ranked, members, "left") + np.searchsorted(ranked, members, "right")
    return float(below.mean() / (2 * len(others)))


def _cosines(result: Result, where: Sequence[int]) -> Iterator[tuple[int, np.ndarray | None]]:
    """For every pair the cosine of its upload to every node, (N), or None if it was not sent."""
    graph, p = result.held.graph, result.sent.prototypes
    step = max(1, CHUNK // graph.num_nodes)
    sent = [i for i, row in enumerate(where) if row >= 0]
    for i in set(range(len(where))) - set(sent):
        yield i, None
    for first in range(0, len(sent), step):
        part = sent[first : first + step]
        rows = torch.tensor([where[i] for i in part], device=p.device)
        unit = torch.nn.functional.normalize(p[rows], dim=1)
        table = graph.project(unit).nan_to_num(-1.0).t().cpu().numpy()
        yield from zip(part, table, strict=True)


def groups(result: Result) -> dict[tuple[int, int], np.ndarray]:
    """The nodes of every (client, class) pair, labelled or not."""
    held = result.held
    cell = (held.owner * held.graph.classes + held.graph.y).cpu().numpy()
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    parts = np.split(order, starts[1:])
    classes = held.graph.classes
    return {(int(c) // classes, int(c) % classes): p for c, p in zip(cells, parts, strict=True)}
