"""Predictions of a grid from smoothed dense features, in float32.

Where a second class is within the reach of its rounding, the float64 of exact.py decides, as it
does in a single run. On a large graph many points are alike (a large γ and a larger one, T = 4 and
5 with a small α), so one is scored and stands for the others: only nodes whose lead the difference
between two points could take are scored again for those.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import torch
from torch import Tensor

from spear_core.classify import MANY
from spear_core.exact import SMALLEST, exact_prototypes, exact_z, first_of_best, unit
from spear_core.graph import Graph
from spear_core.grids.alike import Plan, Smoothed, every_point, stand_ins
from spear_core.grids.basis import Basis
from spear_core.grids.scores import BLOCK, Put, powers_at_tests, winners

# Reach of rounding in the difference of two scores: over three times the most that was measured.
DENSE = 2.5e-6  # as a part of ‖z‖, for float32 scores of smoothed features
BASES = 2e-7  # the same when the float32 bases are recombined in float64
TOGETHER = 4_000_000  # numbers of a matrix of nodes while deciding exactly
ROWS = 8  # of w: features made at once
SOME = 64  # decisions made at once with bases

Leaders = dict[tuple[int, int], tuple[Tensor, Tensor]]  # (row of w, γ) -> winners, their leads (M)


def by_features(graph: Graph, w: Tensor, basis: Basis, put: Put) -> list[list[int]]:
    """Put the winners of every row of w (U, T + 1) and γ; the (row, γ) left out take single runs.

    Those are where so many nodes are in doubt that a run of its own is quicker.
    """
    powers = powers_at_tests(
        graph, graph.features, graph.operator, graph.test_operator, w.shape[1] - 1
    )
    sums = basis.by_client()
    scoring = _Scoring(Smoothed(powers, w), sums, basis.classes, put)
    near, close = scoring.run()
    amount = torch.zeros(len(w), basis.shape[1], dtype=torch.int64, device=graph.device)
    amount.index_put_((near[:, 0], near[:, 1]), torch.ones_like(near[:, 0]), accumulate=True)
    few = amount[near[:, 0], near[:, 1]] <= MANY
    winner = _settled(graph, w, basis, near[few], close[few], powers, sums)
    for (u, j, m), won in zip(near[few].tolist(), winner.tolist(), strict=True):
        put(u, j, m, won)
    return (amount > MANY).nonzero().tolist()


@dataclass(frozen=True, eq=False)
class _Scoring:
    """Scores in float32 of every point, or of some that stand for others."""

    smoothed: Smoothed
    sums: Tensor  # (T + 1, C', G, F)
    classes: Tensor  # (C')
    put: Put
    doubts: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    @cached_property
    def prototypes(self) -> Tensor:
        """Unit prototypes of every row of w, class and γ in float64, (U, C', G, F)."""
        return unit(torch.tensordot(self.smoothed.w, self.sums, 1))

    def of(self, u: int, which: list[int]) -> Tensor:
        """Those of one row of w and some γ in float32, (C' G', F)."""
        return self.prototypes[u][:, which].flatten(0, 1).float()

    @cached_property
    def size(self) -> Tensor:
        """‖z‖ for every row of w, (U, M)."""
        return self.smoothed.length(self.smoothed.w).clamp_min_(SMALLEST)

    def run(self) -> tuple[Tensor, Tensor]:
        """Put all winners; doubts (row of w, γ, node) as (L, 3), and the classes in question."""
        count, (rows, classes, gammas, _) = self.size.shape[1], self.prototypes.shape
        large = count * classes * gammas > BLOCK
        plan = stand_ins(self.smoothed, self.prototypes) if large else every_point(rows, gammas)
        height = max(1, BLOCK // classes // gammas)
        self.follow(plan, self.lead(plan, count, height), height)
        near, close = (torch.cat(part) for part in zip(*self.doubts, strict=True))
        return near, close

    def lead(self, plan: Plan, count: int, height: int) -> Leaders:
        """Score the points of the plan; winners and leads of those that stand for others."""
        leaders: Leaders = {
            (u, j): (self.classes.new_empty(count), self.size.new_empty(count))
            for u, here in enumerate(plan)
            for j, followers in here.items()
            if followers
        }
        scored = [(u, list(here), self.of(u, list(here))) for u, here in enumerate(plan) if here]
        lots = [scored[at : at + ROWS] for at in range(0, len(scored), ROWS)]
        for first, lot in product(range(0, count, height), lots):
            nodes = slice(first, min(first + height, count))
            every = self.smoothed.z([u for u, _, _ in lot], nodes)
            for z, (u, which, own) in zip(every, lot, strict=True):
                scores, best, won = self.score(u, which, own, z, nodes)
                for at, j in enumerate(which):
                    if (u, j) in leaders:
                        label, lead = leaders[u, j]
                        label[nodes] = won[at]
                        lead[nodes] = _lead(scores[:, at], best[at], won[at], self.classes)
        return leaders

    def follow(self, plan: Plan, leaders: Leaders, height: int) -> None:
        """Hand winners to the points that are stood for; score again where they may be others."""
        for (u, j), (label, lead) in leaders.items():
            for other in plan[u][j]:
                for gamma in other.gammas:
                    self.put(other.row, gamma, slice(0, len(label)), label)
                again = (lead <= self.at_stake(u, other.row, other.far)).nonzero().squeeze(1)
                own = self.of(other.row, other.gammas)
                for some in again.split(height):
                    (z,) = self.smoothed.z([other.row], some)
                    self.score(other.row, other.gammas, own, z, some)

    def score(
        self, u: int, which: list[int], own: Tensor, z: Tensor, nodes: slice | Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Put the winners of some γ: scores (C', G', M'), the best and who has it (G', M')."""
        scores = (own @ z.t()).unflatten(0, (-1, len(which)))
        best = scores.amax(0)
        least = best - DENSE * self.size[u, nodes]
        winner, near, close = winners(scores[None], least[None], self.classes)
        won = winner[0].long()
        for j, labels in zip(which, won, strict=True):
            self.put(u, j, nodes, labels)
        gamma = torch.tensor(which, device=own.device)[near[:, 1]]
        node = nodes[near[:, 2]] if isinstance(nodes, Tensor) else nodes.start + near[:, 2]
        self.doubts.append((torch.stack([near[:, 0] + u, gamma, node], dim=1), close))
        return scores, best, won

    def at_stake(self, u: int, v: int, far: float) -> Tensor:
        """The lead that row v and prototypes `far` away could take from row u's winners, (M).

        Unit prototypes are at most 2 apart, so a lead z·(g_a - g_b) loses at most 2 ‖δz‖ to other
        features and 2 ‖z‖ ‖δg‖ to other prototypes.
        """
        moved = self.smoothed.length(self.smoothed.w[v] - self.smoothed.w[u])
        rounding = DENSE * torch.maximum(self.size[u], self.size[v])
        return 2 * (moved + 1.001 * far * self.size[v] + rounding)


def _lead(scores: Tensor, best: Tensor, won: Tensor, classes: Tensor) -> Tensor:
    """How far the winner is ahead of the second, (M'); overwrites its scores (C', M')."""
    place = torch.searchsorted(classes, won)
    scores[place, torch.arange(len(won), device=won.device)] = -torch.inf
    return best - scores.amax(0)


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
        prototypes = exact_prototypes(basis.partition, omega, weights[tie], label)
        scores[here] = -torch.inf
        scores[here[tie], place] = (z[tie] * prototypes).sum(dim=1)
    return basis.classes[first_of_best(scores)]
