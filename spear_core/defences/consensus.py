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
from spear_core.propagate import propagate

if TYPE_CHECKING:
    from spear_core.client import Uploads
    from spear_core.graph import Graph

ALPHA, STEPS = 0.9, 10  # scores are smoothed far over the graph, to reach a whole community
DOUBT = 0.5  # of the median client's part in the consensus: below it a client is left out


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
    """How far every two clients agree on what the classes are, (K, K); zero with oneself."""
    alike = likeness(uploads, graph)  # (P, P)
    same = uploads.label[:, None] == uploads.label[None]
    others = max(len(uploads.label.unique()) - 1, 1)
    evidence = torch.where(same, alike, -alike / others)
    root = weight.double().sqrt()
    of = torch.zeros(uploads.clients, len(root), dtype=root.dtype, device=root.device)
    of[uploads.client, torch.arange(len(root), device=root.device)] = root  # (K, P)
    of = torch.nn.functional.normalize(of, dim=1)  # so that every client has the same voice
    return (of @ evidence @ of.t()).fill_diagonal_(0)


def likeness(uploads: "Uploads", graph: "Graph | None") -> Tensor:
    """Correlation of every two uploads' scores over the nodes of the graph, (P, P).

    What all classes have in common, the mean over the classes, is taken out first. Without a
    graph the prototypes themselves are compared.
    """
    unit = torch.nn.functional.normalize(uploads.prototypes, dim=1)
    scores = unit.t() if graph is None else graph.project(unit)  # (N, P)
    if graph is not None:
        scores = propagate(graph.operator, scores, ALPHA, STEPS)
    scores = torch.nn.functional.normalize(scores - scores.mean(0), dim=0)
    classes = uploads.label.unique()
    by_class = torch.stack([scores[:, uploads.label == c].mean(1) for c in classes])
    scores = torch.nn.functional.normalize(scores - by_class.mean(0)[:, None], dim=0)
    return (scores.t() @ scores).double()
