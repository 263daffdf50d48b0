"""Sentences with the numbers of a run in them: what happened to one prototype, and why."""

import math

from torch import Tensor

from spear_core.run import Result


def weight_formula(result: Result, client: int, label: int) -> str:
    """How λ of one prototype comes about, with its numbers.

    For n = 3 and γ = 0.5 this reads "λ = 1/(1 + 0.5·3) = 0.40".
    """
    s, up = result.settings, result.uploads
    n = float(up.table(up.counts)[client, label])  # as sent, and as the server believes it
    lam = float(result.estimate.weights[client, label])
    if n == 0:
        return "no λ, since the server kept no such upload"
    if not s.shrinkage:
        return "λ = 0, since shrinkage is off"
    if math.isinf(s.gamma):
        return "λ = 1/(1 + ∞) = 0"
    if s.reliability == "degree":
        trust = (1 / lam - 1) / s.gamma if s.gamma else math.nan
        words = f"{trust:.2f}" if s.gamma else "n(1 + log(1 + degree))"
        return f"λ = 1/(1 + {s.gamma:g}·{words}) = {lam:.2f}"
    return f"λ = 1/(1 + {s.gamma:g}·{_count(n)}) = {lam:.2f}"


def pulled_towards(result: Result, client: int, label: int) -> str:
    """What one prototype was pulled towards, and how far, in a sentence."""
    up = result.uploads
    row = ((up.client == client) & (up.label == label)).nonzero()
    if len(row) == 0:
        return f"There is no upload of client {client} for this class."
    mine = int(row[0, 0])
    peers = ((up.label == label) & (up.client != client)).nonzero().squeeze(1)
    if result.estimate.peer_share is not None:
        peers = (result.estimate.peer_share[mine] > 0).nonzero().squeeze(1)
        peers = peers[up.client[peers] != client]
    if len(peers) == 0:
        return "No other client holds this class: it has no peers and stays as it is."
    named = [f"client {int(up.client[p])} (n = {_count(float(up.counts[p]))})" for p in peers[:6]]
    more = f" and {len(peers) - 6} more" if len(peers) > 6 else ""
    own, shrunk = up.prototypes[mine], result.estimate.shrunk[mine]
    centre = result.metrics.centroids[label]
    before, after = _distance(own, centre), _distance(shrunk, centre)
    moved = "nearer to" if after < before else "further from"
    if not float(centre.abs().sum()):
        return f"Its peers are {', '.join(named)}{more}."
    return (
        f"Its peers are {', '.join(named)}{more}. The pull took it {moved} the true centroid: "
        f"cosine distance {before:.3f} before, {after:.3f} after."
    )


def _count(n: float) -> str:
    """A count without needless decimals: a capped one may have some."""
    return f"{n:.0f}" if n == round(n) else f"{n:.1f}"


def _distance(a: Tensor, b: Tensor) -> float:
    return float(1 - (a @ b) / (a.norm() * b.norm()).clamp_min(1e-30))
