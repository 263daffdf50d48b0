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

It needs witnesses: only a client that shares, over all others, as many classes as there are others
is judged. With two holders a class, as at β = 0.05, most clients are not, and nothing is gained.

It abstains where its own vote is weak, all read off the votes: too few voters, classes that most
clients do not hold, an agreement that does not stand out, or clients whose own names for their
classes are not the ones that the others would give them. And a client in doubt is left out only
if other names for its classes fit the others far better than its own: an odd client has none.
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
DOUBT = 0.5  # of the median client's part in the consensus: below it a client is in doubt
# The margins were chosen on eight datasets and digits: docs/robustness.md has what they cost.
VOTERS = 8  # fewer clients have no majority that chance does not give
HOLDERS = 0.5  # of the clients must hold a class, on the average over the classes
OUTSTANDING = 1.75  # times the next eigenvalue: below it the agreement does not stand out
CLEAR = 0.9  # of the best fit: what own names must reach, and what a lie must miss it by
WEAK = 0.1  # a correlation: the fit of own names that is nothing
ROOM = 40_000_000  # scores held at once, 160 MB: with more nodes times uploads, nodes are drawn


def consensus(uploads: "Uploads", graph: "Graph | None") -> "Uploads":
    """The uploads of the clients that the others bear out; lies about counts buy no votes."""
    return uploads.keep(borne_out(uploads, median_cap(uploads), graph))


def borne_out(uploads: "Uploads", weight: Tensor, graph: "Graph | None") -> Tensor:
    """Rows of the clients that the others bear out, (P); `weight` is a trusted count a row, (P).

    Everybody where the vote is weak. A class whose holders are all left out keeps them: a poor
    prototype is better than none.
    """
    everybody = torch.ones_like(uploads.client, dtype=torch.bool)
    held = uploads.table(torch.ones_like(weight)) > 0  # (K, C)
    voters, classes = int(held.any(1).sum()), int(held.any(0).sum())
    if voters < VOTERS or int(held.sum()) <= HOLDERS * voters * classes:
        return everybody
    scores = looks(uploads, graph)
    values, vectors = torch.linalg.eigh(votes(uploads, weight, scores))
    if values[-1] < OUTSTANDING * max(-values[0], values[-2]):
        return everybody
    doubted = trust(vectors[:, -1], held) < DOUBT
    if not doubted.any():
        return everybody
    kept = ~misnamed(uploads, weight, scores, doubted)[uploads.client]
    stays = torch.zeros_like(held[0])
    stays[uploads.label[kept]] = True
    return kept | ~stays[uploads.label]


def trust(part: Tensor, held: Tensor) -> Tensor:
    """Every client's part in the consensus, (K), in units of the median client's.

    1 for all where there is no majority, and at least 1 for a client without enough witnesses:
    the classes of `held`, (K, C), that it shares with others are fewer than the others.
    """
    there = held.any(1)
    shared = (held.double() @ held.double().t()).fill_diagonal_(0).sum(1)
    middle = _middle(part[there])
    if abs(middle) < 1e-6:
        return torch.ones_like(part)
    part = part / middle
    return torch.where(shared >= there.sum() - 1, part, part.clamp_min(1))


def misnamed(uploads: "Uploads", weight: Tensor, scores: Tensor, doubted: Tensor) -> Tensor:
    """Which of the clients in doubt call their classes by names that others fit far better, (K).

    Nobody where the clients beyond doubt would not be named as they name themselves.
    """
    own, best = fits(uploads, weight, scores, ~doubted)
    sound = ~doubted & (torch.bincount(uploads.client, minlength=len(doubted)) > 0)
    usual = own[sound].quantile(0.5)
    named = (own / best.clamp_min(1e-12))[sound].quantile(0.5)
    if usual <= WEAK or named < CLEAR:
        return torch.zeros_like(doubted)
    return doubted & (best - own >= CLEAR * usual)


def fits(
    uploads: "Uploads", weight: Tensor, scores: Tensor, trusted: Tensor
) -> tuple[Tensor, Tensor]:
    """How well each client's names fit the trusted others, and the best names for it, (K) each.

    An upload fits a class by its mean correlation with the others' uploads of that class, less
    its mean over all classes; a class that nobody else holds fits by 0. Best of all ways to give
    a client's uploads different classes.
    """
    from scipy.optimize import linear_sum_assignment  # slow to load, and seldom needed

    clients, classes = uploads.clients, uploads.classes
    by = torch.zeros(len(scores), classes, dtype=torch.float64, device=scores.device)  # (M, C)
    holders = torch.zeros(classes, dtype=torch.float64, device=scores.device)
    for rows in uploads.by_class():
        c, rows = uploads.label[rows[0]], rows[trusted[uploads.client[rows]]]
        by[:, c], holders[c] = scores[:, rows].double().sum(1), len(rows)
    own, best = (torch.zeros(clients, dtype=torch.float64) for _ in range(2))
    for k in uploads.client.unique().tolist():
        mine = (uploads.client == k).nonzero().squeeze(1)
        label, look = uploads.label[mine], scores[:, mine].double()
        fit, others = look.t() @ by, holders.clone()  # (h, C), (C)
        if trusted[k]:
            fit[:, label] -= look.t() @ look
            others[label] -= 1
        known = others > 0
        fit = fit / others.clamp_min(1)
        fit = (fit - fit[:, known].mean(1, keepdim=True)) * known
        fit = fit * (weight[mine] / weight[mine].sum().clamp_min(1e-12))[:, None]
        fit = fit.nan_to_num().cpu()
        own[k] = fit.gather(1, label.cpu()[:, None]).sum()
        best[k] = fit[linear_sum_assignment(fit.numpy(), maximize=True)].sum()
    return own.to(scores.device), best.to(scores.device)


def _middle(parts: Tensor) -> float:
    """The median, the one nearer to zero where two are in the middle, whatever the sign."""
    low, high = float(parts.median()), -float((-parts).median())
    return min(low, high, key=abs) if low * high > 0 else 0.0


def votes(uploads: "Uploads", weight: Tensor, scores: Tensor) -> Tensor:
    """How far every two clients agree on what the classes are, (K, K); zero with oneself.

    `scores` are the looks of the uploads, (M, P).
    A correlation counts 1 within a class and -1/(C - 1) between two, so the sum over all pairs
    is made of sums over the pairs of each class and over all: no (P, P) table is needed.
    """
    clients = uploads.clients
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
