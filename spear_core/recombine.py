"""Predictions of many α, γ and T at once, from one set of propagated bases.

Smoothing is a mixture of powers, Π = Σ_t w_t Â^t with weights that depend on α and T alone. So the
class sums of Â^s X̃ and the test rows of Â^t X̃, or of its products with those sums, are computed
once, and a point is a recombination of them. For sparse features all of it is float64. For dense
ones it is float32, and where a second class is within the reach of its rounding, the float64 of
exact.py decides, as it does in a single run.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from spear_core.classify import MANY
from spear_core.exact import (
    SMALLEST,
    TIE,
    as_double,
    exact_prototypes,
    exact_z,
    first_of_best,
    unit,
)
from spear_core.graph import Graph
from spear_core.grid_basis import Basis, make_basis
from spear_core.partition import Partition
from spear_core.propagate import block_width, mixing
from spear_core.settings import Settings

# Reach of rounding in the difference of two scores: over three times the most that was measured.
DENSE = 2.5e-6  # as a part of ‖z‖, for float32 scores of smoothed features
BASES = 2e-7  # the same when the float32 bases are recombined in float64
ALIKE = 0.04  # distance of unit prototypes up to which one γ stands for another, on large graphs
BLOCK = 500_000  # scores made at once: they stay in the cache
TOGETHER = 4_000_000  # numbers of a matrix of nodes while deciding exactly
SOME = 64  # decisions made at once with bases

Axes = tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]]


def recombine(
    partition: Partition, graph: Graph, settings: Settings, axes: Axes, labels: Tensor
) -> Tensor:
    """Fill in the labels (A, G, S, M); True for every point that takes a single run, (A, G, S)."""
    alphas, gammas, steps = axes
    top = max(steps)
    rows = [(*mixing(a, t), *[0.0] * (top - t)) for a in alphas for t in steps]
    place = {row: u for u, row in enumerate(dict.fromkeys(rows))}  # with α = 0 every T is alike
    w = torch.tensor(list(place), dtype=torch.float64, device=graph.device)  # (U, T + 1)
    points: list[list[tuple[int, int]]] = [[] for _ in place]
    for p, row in enumerate(rows):
        points[place[row]].append(divmod(p, len(steps)))
    narrow = graph.num_features <= graph.classes * len(gammas) * (top + 1)
    dense = torch.sparse_csr not in (graph.features.layout, partition.graph.features.layout)
    doubtful = torch.zeros(labels.shape[:3], dtype=torch.bool, device=graph.device)
    dtype = torch.float32 if narrow and dense else torch.float64
    basis = make_basis(partition, settings, gammas, top, dtype)
    if dtype == torch.float64:
        for nodes, scores in _by_products(graph, w, basis):
            best = scores.amax(dim=1)
            winner, _, _ = _winners(scores, best - TIE * best.clamp_min(SMALLEST), basis.classes)
            for won, here in zip(winner, points, strict=True):
                for i, k in here:
                    labels[i, :, k, nodes] = won
        return doubtful
    powers = _test_powers(graph, graph.features, graph.operator, graph.test_operator, top)
    sums = basis.by_client()
    found = []
    for u, which, at, scores, least, alike in _by_features(powers, w, sums):
        winner, near, close = _winners(scores, least, basis.classes)
        for i, k in points[u]:
            for j, won in zip(which, winner[0], strict=True):
                labels[i, j, k, at] = won.long()
            for j in alike:
                labels[i, j, k, at] = labels[i, which[0], k, at]
        gamma = torch.tensor(which, device=graph.device)[near[:, 1]]
        node = at[near[:, 2]] if isinstance(at, Tensor) else at.start + near[:, 2]
        found.append((torch.stack([near[:, 0] + u, gamma, node], dim=1), close))
    near, close = (torch.cat(part) for part in zip(*found, strict=True))
    amount = torch.zeros(len(w), len(gammas), dtype=torch.int64, device=graph.device)
    amount.index_put_((near[:, 0], near[:, 1]), torch.ones_like(near[:, 0]), accumulate=True)
    for u, j in (amount > MANY).nonzero().tolist():
        for i, k in points[u]:
            doubtful[i, j, k] = True
    few = amount[near[:, 0], near[:, 1]] <= MANY
    winner = _settled(graph, w, basis, near[few], close[few], powers, sums)
    for (u, j, m), won in zip(near[few].tolist(), winner.tolist(), strict=True):
        for i, k in points[u]:
            labels[i, j, k, m] = won
    return doubtful


def _by_features(
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


def _by_products(graph: Graph, w: Tensor, basis: Basis) -> Iterator[tuple[slice, Tensor]]:
    """Scores from smoothed products of features and class sums: test nodes, (U, C', G, M')."""
    columns, mix = basis.by_column()  # (F, T + 1, J)
    sums = basis.mixed(columns, mix)
    count, width = columns.shape[1:]
    pairs = (w[:, :, None] * w[:, None]).flatten(1)  # (U, (T + 1)²): w_t w_s
    gram = torch.einsum("tcgf,scgf->tscg", sums, sums).flatten(2).flatten(0, 1)
    scale = (pairs @ gram).clamp_min_(0).sqrt_().clamp_min_(1e-30).reciprocal_()[..., None]
    scaled = scale if mix is None else scale * mix  # (U, C' G, 1 or J)
    start = as_double(graph.features) @ columns.flatten(1)
    operators = as_double(graph.operator), as_double(graph.test_operator)
    powers = _test_powers(graph, start, *operators, count - 1)
    height = max(1, BLOCK // (max(len(w), count * count) * width))
    for first in range(0, len(graph.test_nodes), height):
        nodes = slice(first, first + height)
        some = powers[:, nodes].unflatten(2, (count, -1)).permute(0, 2, 3, 1)
        some = some.reshape(count * count, -1)  # ((T + 1)², J M')
        mixed = (pairs @ some).view(len(w), width, -1)
        scores = scaled @ mixed if mix is not None else mixed.mul_(scaled)
        yield nodes, scores.unflatten(1, basis.shape)


def _test_powers(
    graph: Graph, x: Tensor, operator: Tensor, test_operator: Tensor, top: int
) -> Tensor:
    """The test rows of x, Â x, …, Â^T x, (T + 1, M, width); a few columns at a time, as runs do."""
    nodes, width = graph.test_nodes, x.shape[1]
    powers = x.new_empty(top + 1, len(nodes), width)
    step = block_width(graph.num_nodes, graph.device)
    for first in range(0, width, step):
        columns = slice(first, first + step)
        power = x[:, columns].contiguous()
        powers[0, :, columns] = power.index_select(0, nodes)
        for t in range(1, top):
            power = operator @ power
            powers[t, :, columns] = power.index_select(0, nodes)
        if top:
            powers[top, :, columns] = test_operator @ power
    return powers


def _winners(scores: Tensor, least: Tensor, classes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The first class over dimension 1 that reaches `least`, where others do too, and which do.

    Shapes (U', G, M'), (L, 3) and (L, C'). A comparison that gives 1.0 or 0.0 is quicker than one
    that gives a truth value, and one product then counts and names the classes that reach it.
    Where all scores are zero there is no doubt: the first class wins, whoever adds up.
    """
    reaching = torch.ge(scores, least[:, None], out=torch.empty_like(scores))
    tally = torch.stack([torch.ones_like(classes), classes]).to(scores.dtype)
    found = (tally @ reaching.flatten(2)).unflatten(2, scores.shape[2:])  # (U', 2, G, M')
    count, winner = found.unbind(1)
    u, j, m = (count > 1).nonzero(as_tuple=True)
    close = reaching[u, :, j, m] > 0
    winner[u, j, m] = classes[close.to(torch.uint8).argmax(dim=1)].to(winner.dtype)
    doubt = scores[u, :, j, m].any(dim=1)
    return winner, torch.stack([u, j, m], dim=1)[doubt], close[doubt]


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
