"""The gate: who smooths harder, by the affinity of what each can see.

Every client looks at its own nodes and edges, inference at the full graph, and trusts what it sees
the less the fewer edges there are. With a finite privacy
budget nobody looks: a client's choice would tell of its features, so α and T hold for all.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.lance.affinity import affinity, client_affinity
from spear_core.partition import Partition
from spear_core.propagate import enough_steps
from spear_core.settings import Settings


@dataclass(frozen=True, eq=False)
class Mix:
    """Clients that do not all smooth alike: α of every step for each.

    Whoever takes fewer steps waits first: α is 0 there, which leaves Z = X.
    """

    alphas: Tensor  # (T, K)
    key: tuple[float | int | bool, ...]  # what they depend on, beside the partition


def asked(settings: Settings) -> bool:
    """Whether anybody looks at affinities."""
    return settings.smoothing == "gated" and settings.epsilon == math.inf


def open_gates(partition: Partition, settings: Settings) -> Tensor:
    """The clients whose affinity lies above the gate, (K)."""
    return client_affinity(partition).trusted > settings.gate


def client_smoothing(partition: Partition, settings: Settings) -> tuple[float, int, Mix | None]:
    """α and T of the clients that send anything, and the mixture where they differ."""
    below = settings.alpha, settings.steps
    if not asked(settings):
        return *below, None
    gates = open_gates(partition, settings)
    theirs = gates[partition.train_counts.any(dim=1)]
    if not bool(theirs.any()):
        return *below, None
    above = settings.gate_alpha, settings.gate_steps
    if bool(theirs.all()) or above == below:
        return *above, None
    both = [(alpha, enough_steps(alpha, steps)) for alpha, steps in (below, above)]
    most = max(steps for _, steps in both)
    each = [[0.0] * (most - steps) + [alpha] * steps for alpha, steps in both]
    table = torch.tensor(each, device=gates.device).view(2, most)
    return *below, Mix(table[gates.long()].t(), (*above, *gates.tolist()))


def at_test(graph: Graph, settings: Settings) -> Settings:
    """The settings with inference's own α and T; themselves where those are the clients'."""
    alpha, steps = settings.alpha, settings.steps
    if asked(settings) and float(affinity(graph).trusted) > settings.gate:
        alpha, steps = settings.gate_alpha, settings.gate_steps
    alpha = settings.test_alpha if settings.test_alpha >= 0 else alpha
    steps = settings.test_steps if settings.test_steps >= 0 else steps
    if (alpha, steps) == (settings.alpha, settings.steps):
        return settings
    return _smoothed(settings, alpha, steps)


@lru_cache(maxsize=256)
def _smoothed(settings: Settings, alpha: float, steps: int) -> Settings:
    """The settings with another α and T, made once: checking all takes a fifth of a small run."""
    return replace(settings, alpha=alpha, steps=steps)


def private_notes(settings: Settings) -> list[str]:
    """What of LANCE a finite privacy budget leaves out, one sentence each."""
    if settings.epsilon == math.inf:
        return []
    said = []
    if settings.smoothing == "gated":
        said.append("With a finite ε nobody asks the gate: α and T hold for every client.")
    if settings.head == "ridge" and settings.sketch > 0:
        said.append("With a finite ε clients refuse to send a sketch; set ε = ∞ to have one.")
    return said
