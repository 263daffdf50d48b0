"""One run in two or three sentences with its own numbers: who sent what, and what came of it."""

import math

import torch

from spear_core.defences import DEFENCES
from spear_core.measures.spread import human_bytes, percent
from spear_core.run import Result
from spear_core.settings import Settings, equation

NUMBERS = ("no", "one", "two", "three")


def summary(result: Result, plain_mean: float | None = None) -> str:
    """Who sent how much, what was wrong with it, and what the server makes of it.

    `plain_mean` is the accuracy of a mean over the clients, every one alike.
    """
    return " ".join(lines(result, plain_mean))


def lines(result: Result, plain_mean: float | None = None) -> tuple[str, str]:
    """The same in two: what was sent, and what came of it."""
    sent = " ".join(filter(None, (_sent(result), _spoilt(result))))
    return sent, _named(result, plain_mean)


def _sent(result: Result) -> str:
    many = result.partition.clients
    who = "One client" if many == 1 else f"{many:,} clients"
    if not len(result.sent.client):
        return f"{who} had nothing to send."
    liars = len(result.attackers)
    lie = f" ({liars} of them {'lies' if liars == 1 else 'lie'})" if liars else ""
    sent = human_bytes(result.metrics.bytes_up_total)
    rest = result.sent.residuals
    rows = 0 if rest is None else len(rest.owner)
    more = f", {rows:,} row{'s' * (rows > 1)} of residuals among it" if rows else ""
    return f"{who}{lie}, {_held(result)}, sent {sent} in all, once{more}."


def _held(result: Result) -> str:
    """How many classes the clients have uploads of."""
    sent, classes = result.sent, result.graph.classes
    held = torch.bincount(sent.client, minlength=sent.clients)
    usual = int(held.mode().values)
    share = float((held == usual).double().mean())
    if share > 0.5:
        who = "all" if share == 1 and sent.clients > 1 else "most" if sent.clients > 1 else ""
        return f"{who} with {_count(usual)} of {classes} classes".strip()
    low, high = int(held.min()), int(held.max())
    return f"with {_count(low)} to {_count(high)} of {classes} classes each"


def _count(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def _spoilt(result: Result) -> str:
    """What differs from clean data and honest mail, and what the server dropped."""
    s, dropped = result.settings, len(result.rejected)
    noisy = [word for word, share in _noise(s).items() if share]
    said = [f"their {_listed(noisy)} are noisy"] if noisy else []
    if s.epsilon < math.inf:
        said.append(f"privacy noise ({equation('epsilon', s.epsilon)}) hides what they sent")
    if dropped:
        said.append(f"the server dropped {dropped} upload{'s' * (dropped > 1)} as impossible")
    line = _listed(said)
    return line[:1].upper() + line[1:] + "." if line else ""


def _noise(s: Settings) -> dict[str, float]:
    return {"edges": s.edge_noise, "features": s.feature_noise, "labels": s.label_noise}


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _named(result: Result, plain_mean: float | None) -> str:
    accuracy, s = result.metrics.accuracy, result.settings
    if accuracy is None:
        return "There is no test node, so nobody can say how many the server names right."
    guard = f", defended by {DEFENCES[s.defence].words}," if s.defence != "none" else ""
    here, there = percent(accuracy, 1), percent(plain_mean, 1)
    words = f"The server{guard} names {here} of the test nodes right"
    if plain_mean is None or result.partition.clients == 1:
        return f"{words}."
    if here == there:
        return f"{words}; so would a plain mean of the clients."
    return f"{words}; a plain mean of the clients would name {there}."
