"""Our own defence of the ridge head: what a client says of its classes against what others say.

The regression of everybody but one client has a closed form: with H the block of the hat matrix
that belongs to the client's rows, the scores that the others give these rows are
(I − H)⁻¹ (fit − H D). So every class mean is scored by the others alone, and its margin is its
own class's score less the best other one's. It speaks with as many counts as others hold of the
class: a class that nobody else holds is not judged.

Dissent is how far clients with negative margins are contradicted, over all counts; it is asked of
the counts as sent and of counts of which no client has more than the median client, so that lies
about counts hide nothing. Honest clients had little on every graph that was tried, flipped labels
have much wherever clients share classes. Above a limit, the clients that are contradicted the most
are left out until the rest agree. Where too little is shared to tell who lies, nobody is left out,
but the cosine with the prototypes decides: flipped labels harm it less.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from spear_core.defences.caps import median_cap
from spear_core.lance.ridge import Cells, system

if TYPE_CHECKING:
    from spear_core.client import Uploads

# Chosen on eight datasets: docs/robustness.md has what they cost.
KAPPA = 0.5  # of the regression that judges
LIMIT = 0.01  # of dissent: below it nothing is done
FAIR_LIMIT = 0.025  # of dissent among counts that are capped, which honest clients have more of
AGREED = 0.005  # of dissent: below it the rest agree
SHARED = 0.9  # of all counts must be vouched for by others, or nobody can tell who lies
AT_ONCE = 10  # the part of the clients that may be left out in one step is 1 / AT_ONCE


def agreement(uploads: "Uploads") -> "Uploads":
    """The uploads of clients that agree; all of them without residuals where none can tell."""
    fair = uploads.replace(counts=median_cap(uploads))
    contradicted, shared = judged(uploads, fair)
    calm = dissent(fair, contradicted) <= FAIR_LIMIT
    if calm and dissent(uploads, judged(uploads, uploads)[0]) <= LIMIT:
        return uploads
    if shared <= SHARED:
        return uploads.replace(residuals=None)
    voters = len(uploads.client.unique())
    left = voters // 2
    while left > 0 and dissent(fair, contradicted) > AGREED:
        most = contradicted.topk(min(left, max(1, voters // AT_ONCE)))
        out = most.indices[most.values > 0]
        left -= len(out)
        fair = fair.keep(~torch.isin(fair.client, out))
        contradicted, _ = judged(uploads, fair)
    rows = torch.isin(uploads.client, fair.client)
    held = torch.isin(uploads.label, uploads.label[rows])
    return uploads.keep(rows | ~held)  # a poor prototype of a class is better than none


def dissent(uploads: "Uploads", contradicted: Tensor) -> float:
    """How far clients are contradicted, as a part of all counts."""
    return float(contradicted.clamp_min(0).sum() / uploads.counts.sum().clamp_min(1))


def judged(sent: "Uploads", uploads: "Uploads") -> tuple[Tensor, float]:
    """By how much the others contradict every client, in counts, (K), and the part vouched for."""
    n = uploads.counts.double()
    held = torch.zeros(uploads.classes, dtype=n.dtype, device=n.device)
    held.index_add_(0, uploads.label, n)
    each = torch.zeros(uploads.clients, uploads.classes, dtype=n.dtype, device=n.device)
    each.index_put_((uploads.client, uploads.label), n, accumulate=True)
    others = held - each  # (K, C)
    scores = scored_by_others(sent, uploads).masked_fill(others[uploads.client] <= 0, -torch.inf)
    own = scores.gather(1, uploads.label[:, None]).squeeze(1)
    best = scores.scatter(1, uploads.label[:, None], -torch.inf).amax(1)
    known = own.isfinite() & best.isfinite()
    weight = torch.where(known, torch.minimum(n, others[uploads.client, uploads.label]), 0.0)
    margin = torch.where(known, own - best, 0.0)
    contradicted = each.new_zeros(uploads.clients).index_add_(0, uploads.client, -weight * margin)
    return contradicted, float(weight.sum() / n.sum().clamp_min(1))


def scored_by_others(sent: "Uploads", uploads: "Uploads") -> Tensor:
    """Scores of every class mean by the regression of all other clients, (P, C)."""
    cells = Cells(uploads.prototypes, uploads.counts, uploads.label, uploads.client)
    s = system(cells, sent, uploads, KAPPA)
    if s.wide:
        inverse = torch.cholesky_inverse(s.factor)
        fit = s.d - s.penalty * (inverse @ s.d)
    else:
        turned = torch.linalg.solve_triangular(s.factor, s.a.t(), upper=False)  # (F, L)
        fit = turned.t() @ (turned @ s.d)
    scores = s.d.new_zeros(len(cells.label), uploads.classes)
    for k in cells.owner.unique():
        rows = (s.owner == k).nonzero().squeeze(1)
        eye = torch.eye(len(rows), dtype=s.d.dtype, device=s.d.device)
        if s.wide:
            rest = s.penalty * inverse[rows[:, None], rows]  # I - H
        else:
            rest = eye - turned[:, rows].t() @ turned[:, rows]
        said = torch.linalg.solve(rest, fit[rows] - (eye - rest) @ s.d[rows])
        mine = rows < len(scores)
        scores[rows[mine]] = said[mine]
    return scores / cells.counts.double().sqrt().clamp_min(1e-12)[:, None] + s.prior
