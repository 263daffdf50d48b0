"""Prototypes in words: the features that set each apart, by name where names are known."""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.run import Result

GLOBAL = -1  # the client of a global prototype


@dataclass(frozen=True)
class Terms:
    """One prototype: its class, its client (GLOBAL: all), and its strongest features."""

    client: int
    label: int
    words: tuple[str, ...]
    weights: tuple[float, ...]  # above the mean of the global prototypes


def strongest_terms(result: Result, most: int = 8, local: bool = True) -> list[Terms]:
    """The features in which every prototype lies furthest above the mean of the global ones.

    Prototypes have length 1. Features without a name are called by their number.
    """
    made, graph = result.estimate, result.graph
    seen = made.seen.nonzero().squeeze(1).tolist()
    mean = made.prototypes[made.seen].mean(0) if seen else made.prototypes.sum(0)
    names = graph.extra.lines("words")
    found = [_terms(GLOBAL, c, made.prototypes[c] - mean, names, most) for c in seen]
    if local:
        up = result.uploads
        for client, label, row in zip(
            up.client.tolist(), up.label.tolist(), up.prototypes, strict=True
        ):
            unit = torch.nn.functional.normalize(row, dim=0, eps=1e-30)
            found.append(_terms(client, label, unit - mean, names, most))
    return found


def _terms(client: int, label: int, above: Tensor, names: list[str], most: int) -> Terms:
    top = above.topk(min(most, len(above)))
    kept = [(i, v) for i, v in zip(top.indices.tolist(), top.values.tolist(), strict=True) if v > 0]
    words = tuple(names[i] if i < len(names) else f"feature {i}" for i, _ in kept)
    return Terms(client, label, words, tuple(v for _, v in kept))
