"""Our own defence: clients vote on each other over all classes, and the odd ones out are left out.

One class has too few holders to outvote a liar, but a client that calls its classes by wrong names
disagrees with nearly everybody: its class c looks like the class c - 1 of the others. What an
upload looks like is asked of the server's own unlabelled graph: two uploads are alike if they
attract the same nodes. Comparing the prototypes themselves was measured to do nearly as well.

The vote of two clients is a sum over the pairs of their uploads, of the correlation of the two
scores over the nodes, times 1 for the same class and -1/(C - 1) for different ones: zero on average
if either had named its classes by chance. The leading eigenvector of all votes tells how
far each client belongs to the largest group that agrees with itself, whether the others disagree
with each other or have agreed on their lie.

It needs witnesses: only a client that shares a class with at least half of the others is judged.
With two holders a class, as at β = 0.05, most clients are not, and nothing is gained.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from spear_core.defences.caps import median_cap
from spear_core.propagate import propagate_blocks, select_rows

if TYPE_CHECKING:
    from spear_core.client import Uploads
    from spear_core.graph import Graph

ALPHA, STEPS = 0.9, 10  # scores are smoothed far over the graph, to reach a whole community
DOUBT = 0.5  # of the median client's part in the consensus: below it a client is left out
ROOM = 40_000_000  # scores held at once, 160 MB: with more nodes times uploads, nodes are drawn


def consensus(uploads: "Uploads", graph: "Graph | None") -> "Uploads":
    """The uploads of the clients that the others bear out; lies about counts buy no votes."""
    return uploads.keep(borne_out(uploads, median_cap(uploads), graph))


def borne_out(uploads: "Uploads", weight: Tensor, graph: "Graph | None") -> Tensor:
    """Rows of the clients that the others bear out, (P); `weight` is a trusted count a row, (P).

    A class whose holders are all in doubt keeps them: a poor prototype is better than none.
    """
    if len(uploads.client) == 0:
        return torch.ones(0, dtype=torch.bool, device=uploads.client.device)
    trusted = trust(uploads, weight, graph)[uploads.client] >= DOUBT
    held = torch.zeros(uploads.classes, dtype=torch.bool, device=trusted.device)
    held[uploads.label[trusted]] = True
    return trusted | ~held[uploads.label]


def trust(uploads: "Uploads", weight: Tensor, graph: "Graph | None") -> Tensor:
    """Every client's part in the consensus, (K), in units of the median client's.

    1 for all where there is no majority, and at least 1 for a client without enough witnesses.
    """
    held = (uploads.table(torch.ones_like(weight)) > 0).double()  # (K, C)
    there = held.sum(1) > 0
    witnesses = (held @ held.t() > 0).sum(1) - there.long()
    judged = 2 * witnesses >= there.sum() - 1
    part = torch.linalg.eigh(votes(uploads, weight, graph)).eigenvectors[:, -1]
    middle = _middle(part[there])
    if abs(middle) < 1e-6:
        return torch.ones_like(part)
    part = part / middle
    return torch.where(judged, part, part.clamp_min(1))


def _middle(parts: Tensor) -> float:
    """The median, the one nearer to zero where two are in the middle, whatever the sign."""
    low, high = float(parts.median()), -float((-parts).median())
    return min(low, high, key=abs) if low * high > 0 else 0.0


def votes(uploads: "Uploads", weight: Tensor, graph: "Graph | None") -> Tensor:
    """How far every two clients agree on what the classes are, (K, K); zero with oneself.

    A correlation counts 1 within a class and -1/(C - 1) between two, so the sum over all pairs
    is made of sums over the pairs of each class and over all: no (P, P) table is needed.
    """
    scores, clients = looks(uploads, graph), uploads.clients  # (M, P)
    weight = weight.double()
    own = torch.zeros(clients, dtype=weight.dtype, device=weight.device)
    own.index_add_(0, uploads.client, weight)
    voice = (weight / own[uploads.client].clamp_min(1e-12)).sqrt()  # the same in all for a client
    every = torch.zeros(len(scores), clients, dtype=weight.dtype, device=weight.device)
    within = torch.zeros(clients, clients, dtype=weight.dtype, device=weight.device)
    classes = uploads.by_class()
    for rows in classes:
        who, part = uploads.client[rows], scores[:, rows].double() * voice[rows]
        every.index_add_(1, who, part)
        within.index_put_((who[:, None], who[None]), part.t() @ part, accumulate=True)
    others = max(len(classes) - 1, 1)
    return ((1 + 1 / others) * within - every.t() @ every / others).fill_diagonal_(0)


def looks(uploads: "Uploads", graph: "Graph | None") -> Tensor:
    """Every upload's scores at the nodes, of mean 0 and length 1, (M, P).

    What all classes have in common, the mean over the classes, is taken out first. M is N, or
    what `ROOM` allows: then the same nodes for all, drawn at random. Without a graph the
    prototypes themselves are compared.
    """
    unit = torch.nn.functional.normalize(uploads.prototypes, dim=1)
    scores = unit.t() if graph is None else _scores(unit, graph)
    scores = torch.nn.functional.normalize(scores - scores.mean(0), dim=0)
    by_class = torch.stack([scores[:, rows].mean(1) for rows in uploads.by_class()])
    return torch.nn.functional.normalize(scores - by_class.mean(0)[:, None], dim=0)


def _scores(unit: Tensor, graph: "Graph") -> Tensor:
    """Products of smoothed nodes with the rows of `unit`, (M, P), a few columns at a time."""
    operator, most, rows = graph.operator, max(2, ROOM // len(unit)), None
    if graph.num_nodes > most:
        drawn = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(0))
        nodes = drawn[:most].sort().values.to(unit.device)
        rows = nodes, select_rows(operator, nodes)
    return propagate_blocks(
        operator, lambda block: graph.project(unit[block]), len(unit), ALPHA, STEPS, rows
    )
