"""Predictions of a grid from smoothed dense features, in float32.

Where a second class is within the reach of its rounding, the float64 of exact.py decides, as it
does in a single run.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from spear_core.classify import MANY
from spear_core.exact import SMALLEST, exact_prototypes, exact_z, first_of_best, unit
from spear_core.graph import Graph
from spear_core.grid_basis import Basis
from spear_core.grid_scores import BLOCK, Put, powers_at_tests, winners

# Reach of rounding in the difference of two scores: over three times the most that was measured.
DENSE = 2.5e-6  # as a part of ‖z‖, for float32 scores of smoothed features
BASES = 2e-7  # the same when the float32 bases are recombined in float64
ALIKE = 0.04  # distance of unit prototypes up to which one γ stands for another, on large graphs
TOGETHER = 4_000_000  # numbers of a matrix of nodes while deciding exactly
SOME = 64  # decisions made at once with bases


def by_features(graph: Graph, w: Tensor, basis: Basis, put: Put) -> list[list[int]]:
    """Put the winners of every row of w (U, T + 1) and γ; the (row, γ) left out take single runs.

    Those are where so many nodes are in doubt that a run of its own is quicker.
    """
    powers = powers_at_tests(
        graph, graph.features, graph.operator, graph.test_operator, w.shape[1] - 1
    )
    sums = basis.by_client()
    found = []
    for u, which, at, scores, least, alike in _scores(powers, w, sums):
        winner, near, close = winners(scores, least, basis.classes)
        won = winner[0].long()
        for j, own in zip(which, won, strict=True):
            put(u, j, at, own)
        for j in alike:
            put(u, j, at, won[0])
        gamma = torch.tensor(which, device=graph.device)[near[:, 1]]
        node = at[near[:, 2]] if isinstance(at, Tensor) else at.start + near[:, 2]
        found.append((torch.stack([near[:, 0] + u, gamma, node], dim=1), close))
    near, close = (torch.cat(part) for part in zip(*found, strict=True))
    amount = torch.zeros(len(w), basis.shape[1], dtype=torch.int64, device=graph.device)
    amount.index_put_((near[:, 0], near[:, 1]), torch.ones_like(near[:, 0]), accumulate=True)
    few = amount[near[:, 0], near[:, 1]] <= MANY
    winner = _settled(graph, w, basis, near[few], close[few], powers, sums)
    for (u, j, m), one in zip(near[few].tolist(), winner.tolist(), strict=True):
        put(u, j, m, one)
    return (amount > MANY).nonzero().tolist()


def _scores(
    powers: Tensor, w: Tensor, sums: Tensor
) -> Iterator[tuple[int, list[int], slice | Tensor, Tensor, Tensor, list[int]]]:
    """Scores from smoothed features: row of w, some γ, test nodes, (1, C', G', M'), what may win.

    Last come the γ for which the winners of the first one stand as well: prototypes of large γ lie
    close together, so only nodes whose lead their distance could take are scored again for them.
    """
    pairs = (w[:, :, None] * w[:, None]).flatten(1)  # (U, (T + 1)²): w_t w_s
    gram = torch.einsum("tmf,smf->tsm", powers, powers).flatten(0, 1)
    length = (pairs.float() @ gram).clamp_min_(0).sqrt_().clamp_min_(SMALLEST)  # ‖z‖, (U, M)
    prototypes = unit(torch.tensordot(w, sums, 1)).float()  # (U, C', G, F)
    every = prototypes.flatten(0, 1)
    apart = torch.cdist(every, every, compute_mode="donot_use_mm_for_euclid_dist")
    farthest = apart.unflatten(0, prototypes.shape[:2]).amax(1).tolist()  # (U, G, G)
    limit = ALIKE if powers.shape[1] * every[0].shape[0] * sums.shape[1] > BLOCK else 0.0
    plans = [_plan(own, far, limit) for own, far in zip(prototypes, farthest, strict=True)]
    height = max(1, BLOCK // sums.shape[1] // max(len(plan[0]) for plan in plans))
    for first in range(0, powers.shape[1], height):
        nodes = slice(first, min(first + height, powers.shape[1]))
        for u, (which, own, alike, theirs, far) in enumerate(plans):
            z, size = torch.tensordot(w[u].float(), powers[:, nodes], 1), length[u, nodes]
            scores = (own @ z.t()).unflatten(0, (-1, len(which)))
            best = scores.amax(0)
            yield u, which, nodes, scores[None], (best - DENSE * size)[None], alike
            if alike:
                reaching = scores[:, 0] >= best[0] - 2 * (far + DENSE) * size
                left = (reaching.sum(0) > 1).nonzero().squeeze(1)
                scores = (theirs @ z[left].t()).unflatten(0, (-1, len(alike)))
                least = scores.amax(0) - DENSE * size[left]
                yield u, alike, first + left, scores[None], least[None], []


def _plan(
    own: Tensor, apart: list[list[float]], limit: float
) -> tuple[list[int], Tensor, list[int], Tensor, float]:
    """The γ to score and those close to the first of them, with prototypes; how far they are."""
    near = [
        [j for j, far in enumerate(row) if far < limit and j != i] for i, row in enumerate(apart)
    ]
    first = max(range(len(near)), key=lambda i: len(near[i]))
    alike = near[first]
    which = [first, *(j for j in range(len(apart)) if j != first and j not in alike)]
    far = 1.001 * max((apart[first][j] for j in alike), default=0.0)
    return which, own[:, which].flatten(0, 1), alike, own[:, alike].flatten(0, 1), far


def _settled(
    graph: Graph,
    w: Tensor,
    basis: Basis,
    near: Tensor,
    close: Tensor,
    powers: Tensor,
    sums: Tensor,
) -> Tensor:
    """The classes that win in exact arithmetic, (L).

    The bases recombined in float64 leave few to be done exactly.
    """
    u, j, m = near.t()
    scores = torch.empty(close.shape, dtype=torch.float64, device=graph.device)
    for first in range(0, len(near), SOME):
        some = slice(first, first + SOME)
        z = torch.einsum("lt,tlf->lf", w[u[some]], powers[:, m[some]].double())
        prototypes = unit(torch.einsum("lt,tclf->lcf", w[u[some]], sums[:, :, j[some]]))
        scores[some] = torch.einsum("lf,lcf->lc", z, prototypes)
        reach = BASES * z.norm(dim=1).clamp_min(SMALLEST)
        close[some] = scores[some] >= (scores[some].amax(dim=1) - reach)[:, None]
    longest = (w != 0).sum(dim=1)[u]  # T + 1
    left = (close.sum(dim=1) > 1).nonzero().squeeze(1)
    left = left[longest[left].argsort()]  # like T together
    height = max(16, TOGETHER // graph.num_nodes)
    for first in range(0, len(left), height):
        here = left[first : first + height]
        weights = w[u[here], : int(longest[here].max())]
        z = exact_z(graph, graph.test_nodes[m[here]], weights)
        tie, place = close[here].nonzero(as_tuple=True)
        omega, label = basis.omega[:, j[here][tie]], basis.classes[place]
        prototypes = exact_prototypes(basis.uploads, omega, weights[tie], label)
        scores[here] = -torch.inf
        scores[here[tie], place] = (z[tie] * prototypes).sum(dim=1)
    return basis.classes[first_of_best(scores)]
