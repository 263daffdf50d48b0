"""What the server makes of the uploads: shrink towards the peers, average by count, normalise."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from spear_core.client import Uploads
from spear_core.defences import defend, robust_mean
from spear_core.exact import unit
from spear_core.graph import Graph
from spear_core.lance.ridge import Cells, Ridge, solve
from spear_core.memory.kept import Kept, made_from
from spear_core.settings import Settings

LET_GO = (
    "The defence let go of energies and sketches: the cosine with the prototypes decides, not the "
    "ridge head."
)
UNTOLD = (
    "What all other training rows say of a row does not hold for it: the cosine with the "
    "prototypes decides, not the ridge head."
)


@dataclass(frozen=True, eq=False)
class Estimate:
    """The global prototypes and the steps that led to them.

    Shapes: `weights` λ (K, C), 0 where a client lacks the class; `omega` ω (P), what every upload
    weighs in the end; `prototypes` (C, F), unit rows, zero for a class nobody holds; `seen` (C);
    `peer_share` (P, P), row k's weights on its peers.
    """

    uploads: Uploads
    weights: Tensor
    omega: Tensor
    prototypes: Tensor
    seen: Tensor
    peer_share: Tensor | None = None  # None: every other holder weighs the same
    ridge: Ridge | None = None  # what scores a node where it is not the cosine with a prototype
    summed: Tensor | None = None  # Σ ω p (C, F), where the prototypes were made from that
    kept: Kept = field(default_factory=Kept, init=False, repr=False)  # what is computed when read

    @made_from()
    def peers(self) -> Tensor:
        """What each upload is pulled towards, (P, F): the mean of the other holders (eq. 3)."""
        up = self.uploads
        if self.peer_share is not None:
            return self.peer_share @ up.prototypes
        holders = _holders(up)[up.label, None]
        ones = torch.ones(len(up.label), device=up.label.device)
        others = (up.summed(ones)[up.label] - up.prototypes) / (holders - 1).clamp_min(1)
        return torch.where(holders > 1, others, up.prototypes)

    @made_from()
    def shrunk(self) -> Tensor:
        """The calibrated prototypes, (P, F): (1 - λ) own + λ peers (eq. 4)."""
        lam = self.weights[self.uploads.client, self.uploads.label][:, None]
        return (1 - lam) * self.uploads.prototypes + lam * self.peers

    @property
    def changed(self) -> bool:
        """Whether the prototypes are anything but Σ ω p, also where they were changed in place."""
        return self.summed is None or not torch.equal(self.prototypes, _unit(self.summed))

    def exact(self, labels: Tensor) -> Tensor:
        """Unit prototypes of some classes in float64, (L, F), for ties that float32 cannot tell.

        Where they are still Σ ω p of what our own clients computed, those say it in float64; any
        others, or changed ones, are taken as they are.
        """
        source = self.uploads.source
        if source is None or source.mix or self.changed:
            return unit(self.prototypes)[labels]
        return unit(source.combine_exactly(self.omega, labels))


def estimate(
    uploads: Uploads,
    settings: Settings,
    graph: Graph | None = None,
    liars: tuple[int, ...] = (),
) -> Estimate:
    """Global prototypes g_c = Norm(Σ_k n_kc p̃_kc) (eq. 6), written as one weighted sum.

    Every p̃ is a mixture of uploads, so g_c = Norm(Σ_k ω_kc p_kc) with
    ω_kc = n_kc (1 - λ_kc) + Σ_{j≠k} n_jc λ_jc a_jk, where a_jk is peer k's share in j's peer mean,
    1 / (|S_c| - 1) by default. A class that only one client holds is its own peer: ω = n.
    A defence may look at the test graph, whose labels the server does not know; only the oracle,
    which is a yardstick, is told who lies. Where a defence lets go of the residuals, or rows tell
    nothing of one that is left out, the ridge head has nothing to stand on: the cosine with the
    prototypes decides.
    """
    sent, uploads = uploads, defend(uploads, settings, graph, liars)
    lam, omega, share = mixture(uploads, settings)
    robust = robust_mean(uploads, settings)
    total = uploads.combine(omega) if robust is None else _filled(robust, uploads, omega)
    seen = torch.zeros(uploads.classes, dtype=torch.bool, device=total.device)
    seen[uploads.label] = True
    prototypes, summed = _unit(total), total if robust is None else None
    table = uploads.table(lam)
    let_go = sent.residuals is not None and uploads.residuals is None
    cosine = settings.head == "cosine" or let_go
    head = None if cosine else _ridge(sent, uploads, total, robust, settings)
    return Estimate(uploads, table, omega, prototypes, seen, share, head, summed)


def head_notes(made: Estimate, settings: Settings) -> list[str]:
    """Why the ridge head that was asked for does not decide, if so."""
    if settings.head == "cosine" or made.ridge is not None:
        return []
    return [LET_GO if made.uploads.residuals is None else UNTOLD]


def _unit(rows: Tensor) -> Tensor:
    """Rows of length 1; a zero row stays zero."""
    return torch.nn.functional.normalize(rows, dim=1, eps=1e-30)


def _ridge(
    sent: Uploads, uploads: Uploads, total: Tensor, robust: Tensor | None, settings: Settings
) -> Ridge | None:
    """The ridge head if it is to be believed; a robust mean is the only cell of its class."""
    if robust is None:
        cells = Cells(uploads.prototypes, uploads.counts, uploads.label, uploads.client)
    else:
        held = uploads.label.unique()
        counts = torch.bincount(uploads.label, uploads.counts.double(), minlength=len(total))
        cells = Cells(total[held], counts[held], held, torch.full_like(held, -1))
    head = solve(cells, sent, uploads, settings.ridge)
    return head if head.believed else None


def _filled(robust: Tensor, uploads: Uploads, omega: Tensor) -> Tensor:
    """Robust means with the weighted mean where one is zero in every coordinate, (C, F).

    A median of sparse features can be; so no class is lost to a defence.
    """
    empty = ~robust.any(dim=1, keepdim=True)
    return torch.where(empty, uploads.combine(omega), robust) if bool(empty.any()) else robust


def mixture(
    uploads: Uploads, settings: Settings, gamma: float | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """λ and ω of every row, (P), and the peers' shares where they are not all alike, (P, P).

    `gamma` stands in for the settings' own.
    """
    trust = _trust(uploads, settings)
    lam = _shrinkage(trust, settings.gamma if gamma is None else gamma, settings.shrinkage)
    weight = trust if settings.count_weights else torch.ones_like(trust)
    given = weight * lam  # what every row hands to its peers
    if settings.peers == "semantic":
        share = semantic_peers(uploads)
        return lam, weight - given + share.t() @ given, share
    handed = torch.zeros(uploads.classes, dtype=given.dtype, device=given.device)
    handed.index_add_(0, uploads.label, given)
    holders = _holders(uploads)[uploads.label]
    received = (handed[uploads.label] - given) / (holders - 1).clamp_min(1)
    received = torch.where(holders > 1, received, given)  # a lone holder is its own peer
    return lam, weight - given + received, None


def semantic_peers(uploads: Uploads) -> Tensor:
    """Equal weight on the more similar half (rounded up) of the other holders, (P, P).

    The paper names the idea without a formula; this one is ours. Similarity is the cosine of the
    two prototypes, ties go to the client with the lower number.
    """
    unit = torch.nn.functional.normalize(uploads.prototypes, dim=1)
    share = torch.zeros(len(unit), len(unit), device=unit.device)
    for rows in uploads.by_class():
        if len(rows) == 1:
            share[rows, rows] = 1
            continue
        near = unit[rows] @ unit[rows].t()
        near.fill_diagonal_(-2)
        kept = len(rows) // 2  # half of the |S_c| - 1 peers, rounded up
        chosen = near.argsort(dim=1, descending=True, stable=True)[:, :kept]
        share[rows[:, None], rows[chosen]] = 1 / kept
    return share


def _trust(uploads: Uploads, settings: Settings) -> Tensor:
    """What stands for the sample size: n, or n (1 + log(1 + d̄)) with the client's mean degree d̄.

    The paper names "degree reliability" without a formula; this one is ours.
    """
    n = uploads.counts.to(torch.float32)
    if settings.reliability == "count":
        return n
    if uploads.degree is None:
        raise ValueError("reliability = degree needs uploads made with the same setting.")
    mean = uploads.degree.double()[uploads.client]  # processors differ in float32 logarithms
    return (n * (1 + torch.log1p(mean))).to(n.dtype)


def _shrinkage(trust: Tensor, gamma: float, shrinkage: bool) -> Tensor:
    """λ = 1 / (1 + γ n) for every row (eq. 5); γ = ∞ gives 0."""
    return 1 / (1 + gamma * trust) if shrinkage else torch.zeros_like(trust)


def _holders(uploads: Uploads) -> Tensor:
    """|S_c|: how many clients hold each class, (C)."""
    return torch.bincount(uploads.label, minlength=uploads.classes)
