"""Sketches: the leading directions of every client's residuals, all clients at once.

E = (I − M) Π X̃ are the smoothed training rows less the mean of their client and class. It is never
made where that is dear: products with E and Eᵀ go a few columns at a time through the operator
and the (sparse) rows. Clients do not mix, so one (N, L) matrix holds the columns of all of them.
Of a client with few training rows E is made and decomposed exactly. Else r + 8 columns find the
range of E Eᵀ (one step of subspace iteration) and a few more, at random, estimate what lies outside
it. Which of the two is a matter of the client's own rows, so a client alone sends the same sketch.
"""

import torch
from torch import Tensor

from spear_core.client.residuals import Residuals
from spear_core.client.rows import Rows
from spear_core.client.sums import INDICATOR, Sums
from spear_core.propagate import squared
from spear_core.randomness import generator

MORE = 8  # columns beyond the rank
PROBES = 8  # columns for the energy outside the range
DROPPED = 1e-9  # rows below this part of a client's largest eigenvalue
KEPT = 2  # sketches kept with a partition


def residuals_of(
    sums: Sums, rank: float, capped: bool, seed: int, exactly: bool = False
) -> tuple[Residuals, Tensor | None]:
    """Every client's energy and sketch of at most `rank` rows, kept with the partition.

    `exactly` asks for an energy that is no estimate, however long it takes. Also the prototypes
    (P, F), where the training rows were all made: their means cost nothing then.
    """
    given = (rank, capped, seed, exactly)
    key, needs = ("residuals", *sums.key, *given), INDICATOR | {"x"}
    return sums.partition.kept.get(key, needs, lambda: _made(sums, *given), most=KEPT)


def _made(
    sums: Sums, rank: float, capped: bool, seed: int, exactly: bool
) -> tuple[Residuals, Tensor | None]:
    e = Rows(sums)
    most = e.amount - e.cells  # rows of an exact sketch, (K)
    asked = (most // 2 if capped else most).clamp(max=int(min(rank, 2**31)))
    longest, made = int(e.amount.max()), None
    if exactly or rank == torch.inf or longest <= _few(int(rank) + MORE):
        found, made = e.whole(longest)
        rest = torch.zeros_like(most, dtype=torch.float64)
    else:
        found, rest = _range(e, int(rank) + MORE, seed)
    rows, owner, size = _leading(found, asked)
    client, label = sums.partition.pairs
    counts = sums.partition.train_counts[client, label].double()
    means = counts * squared(sums.prototypes if made is None else made)
    between = torch.zeros(len(most), dtype=torch.float64, device=means.device)
    between.index_add_(0, client, means)
    length = Residuals(between, rows, owner).lengths()
    energy = between + torch.maximum(size + rest, length)
    return Residuals(torch.minimum(energy, e.amount.double()), rows, owner), made


def _leading(found: list[Tensor], asked: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The leading rows of S Vᵀ of every client's (L, F), at most as many as asked, (K).

    Also the client of each, and the energy of all rows, (K).
    """
    each = [_lead(e, rank) for e, rank in zip(found, asked.tolist(), strict=True)]
    rows = torch.cat([rows for rows, _ in each])
    amount = torch.tensor([len(rows) for rows, _ in each], device=asked.device)
    owner = torch.repeat_interleave(torch.arange(len(each), device=asked.device), amount)
    square = squared(rows)
    largest = square[(amount.cumsum(0) - amount)[owner]]
    kept = square > DROPPED * largest.clamp_min(1e-300)
    return rows[kept], owner[kept], torch.stack([energy for _, energy in each])


def _lead(e: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """The leading rows of one client's S Vᵀ, and the energy of all of E."""
    if rank == 0:
        return e[:0], squared(e).sum()
    tall = len(e) > e.shape[1]
    gram = (e.double().t() @ e.double()) if tall else (e @ e.t()).double()
    values, turn = torch.linalg.eigh(gram)
    lead = turn.flip(1)[:, :rank].t()
    if not tall:
        return lead.to(e.dtype) @ e, values.sum()
    return (values.flip(0)[:rank, None].clamp_min(0).sqrt() * lead).to(e.dtype), values.sum()


def _few(columns: int) -> int:
    """How many rows of E two passes make, of those that a range of so many columns takes."""
    return columns + PROBES + columns


def _range(e: Rows, columns: int, seed: int) -> tuple[list[Tensor], Tensor]:
    """Qᵀ E (K, L, F) with Q a basis of E Eᵀ Ω, and the energy outside, (K), from probes.

    Every client takes the same random numbers, so that its sketch depends on nobody else. The
    columns of clients with few rows pick those rows instead: for them the result is E itself.
    """
    drawn = generator(seed, "sketch").standard_normal((int(e.amount.max()), columns + PROBES))
    start = torch.as_tensor(drawn, dtype=torch.float32, device=e.owner.device)
    start[:, columns:].sign_()
    left = start.index_select(0, e.place)
    few = e.amount <= _few(columns)
    mine = few[e.owner]
    picks = torch.nn.functional.one_hot(e.place[mine], _few(columns)).to(left.dtype)
    left[mine] = picks[:, : columns + PROBES]
    down = e.down(left)
    q = e.basis(e.up(down[:, :columns]))
    q[mine] = picks[:, columns + PROBES :]
    found = e.down(q)
    probes = e.centred(left[:, columns:])
    inside = e.by_client(q).mT @ e.by_client(probes)  # (K, L, probes)
    outside = down[:, columns:] - inside.mT @ found
    rest = squared(outside).mean(1)
    if not len(picks):
        return list(found), rest
    each = zip(few.tolist(), e.amount.tolist(), down, found, strict=True)
    whole = [torch.cat([a, b])[:n] if own else b for own, n, a, b in each]
    return whole, torch.where(few, 0.0, rest)
