"""Sentences with the numbers of a run in them: what happened to a prototype or a node, and why."""

import math

import torch
from torch import Tensor

from spear_core.explain.node import View
from spear_core.explain.ridge_node import words as ridge_words
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


def explain(result: Result, view: View) -> str:
    """Why the node is right or wrong, in two or three sentences made from its numbers."""
    said = (_around(result, view), _decision(result, view), ridge_words(result, view), _turn(view))
    return " ".join(filter(None, said))


def _around(result: Result, view: View) -> str:
    y, d = result.graph.y[view.neighbours], len(view.neighbours)
    if d == 0:
        return "It has no neighbour, so smoothing leaves it as it is."
    if d == 1:
        return f"Its one neighbour is of class {result.graph.names[int(y)]}."
    own = int((y == view.true).sum())
    others = torch.bincount(y[y != view.true], minlength=result.graph.classes)
    other = int(others.argmax()) if view.right else view.predicted
    words = f"{own} of {d} neighbours {'is' if own == 1 else 'are'} of its own class "
    words += result.graph.names[view.true]
    n = int(others[other])
    return words + (f", {n} of class {result.graph.names[other]}." if n else ".")


def _decision(result: Result, view: View) -> str:
    graph, won = result.graph, view.predicted
    verdict = "right" if view.right else "wrong"
    winner = graph.names[won]
    if not bool(view.after.nan_to_num().any()):
        return f"It is similar to no prototype, so class {winner} wins by its place: {verdict}."
    rest = view.after.nan_to_num(-torch.inf).clone()
    rest[won] = -torch.inf
    rival = int(rest.argmax()) if view.right else view.true
    before, after, lost = (float(v) for v in (view.before[won], view.after[won], view.after[rival]))
    differ = (n for n in (2, 3, 4) if f"{after:.{n}f}" != f"{lost:.{n}f}")
    d = next(differ, 5)  # enough digits to tell the two apart
    measured = "score for" if view.measure == "score" else "similarity to"
    if view.moved:
        moved = f"Smoothing moved its {measured} class {winner} from {before:.{d}f} "
        moved += f"to {after:.{d}f}"
    else:
        moved = f"Its {measured} class {winner} is {after:.{d}f}"
    if rival != won and bool(result.estimate.seen[rival]):
        return f"{moved}, so it wins over {graph.names[rival]} ({lost:.{d}f}): {verdict}."
    if view.right:
        return f"{moved}; no other class has a prototype: {verdict}."
    return f"{moved}; class {graph.names[rival]} has no training node and cannot win: {verdict}."


def _turn(view: View) -> str:
    """What smoothing changed, where it did."""
    led = int(view.before.nan_to_num(-torch.inf).argmax())
    if led == view.predicted or not view.moved or not bool(view.before.nan_to_num().any()):
        return ""
    if view.right:
        return "Without smoothing it would be wrong: the neighbours put it right."
    if led == view.true:
        return "Without smoothing it would be right: the neighbours led it astray."
    return "Without smoothing it would be wrong too, with another class."
