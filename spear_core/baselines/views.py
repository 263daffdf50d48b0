"""What pages and notebooks show of trained and stored runs: tables, trends, representations."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from spear_core.baselines.methods import METHODS
from spear_core.baselines.results import NOISE, Row
from spear_core.baselines.training import Training, defaults, literature
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.graph import Graph
from spear_core.measures.silhouette import silhouette
from spear_core.measures.spread import mean_and_spread
from spear_core.settings import Settings

USUAL = Settings()


@dataclass(frozen=True)
class Summary:
    """One method at one dataset, K and β over its seeds: means, with the spread of the accuracy."""

    method: str
    recipe: str  # one of RECIPES
    dataset: str
    clients: int
    beta: float
    rounds: int
    seeds: tuple[int, ...]
    accuracy: float
    spread: float
    best_accuracy: float  # at the round of the best validation accuracy
    constant: tuple[str, ...]  # the classes of the seeds that ended as a constant predictor
    largest: float  # share of the test nodes that get the class predicted most
    bytes_up: float
    bytes_down: float
    seconds: float  # processor time of clients and server
    curve: tuple[float, ...]  # mean test accuracy after every round


RECIPES = {"default": defaults, "literature": literature}  # how a method was trained


def recipe_of(training: Training) -> str | None:
    """Which recipe a training is, whatever its rounds; nothing where it is none."""
    for name, recipe in RECIPES.items():
        if training.used() == recipe(training.method, rounds=training.rounds).used():
            return name
    return None


def summaries(rows: list[Row], like: Settings = USUAL) -> list[Summary]:
    """Finished rows of a known recipe over their seeds; of each group those of most rounds.

    Only those whose nodes are split and labelled as `like` says, with its noise, and a synthetic
    graph of its shape; dataset, K and β may be any.
    """
    groups: dict[tuple[str, str, str, int, float], list[Row]] = {}
    for row in rows:
        s, t = row.settings, row.training
        ended = row.rounds_done == t.rounds and row.accuracy is not None
        recipe = None if row.unknown else recipe_of(t)
        if _alike(s, like) and recipe and ended:
            groups.setdefault((recipe, t.method, s.dataset, s.clients, s.beta), []).append(row)
    out = []
    for group in groups.values():
        most = max(row.training.rounds for row in group)
        out.append(_summary([row for row in group if row.training.rounds == most]))
    order = list(METHODS)
    return sorted(
        out, key=lambda s: (s.dataset, s.clients, s.beta, s.recipe, order.index(s.method))
    )


def beta_trend(
    rows: list[Row],
    dataset: str,
    method: str,
    clients: int = 10,
    recipe: str = "default",
    like: Settings = USUAL,
) -> list[Summary]:
    """The summaries of one method on one dataset, from the strongest skew to the weakest."""
    chosen = [
        s
        for s in summaries(rows, like)
        if (s.dataset, s.method, s.clients, s.recipe) == (dataset, method.lower(), clients, recipe)
    ]
    return sorted(chosen, key=lambda s: s.beta)


def silhouette_of(representation: Tensor, graph: Graph) -> float | None:
    """Mean cosine silhouette of the test nodes by class, of any representation (N, H)."""
    return silhouette(graph.replace(x=representation), alpha=0.0, steps=0)


def _alike(one: Settings, other: Settings) -> bool:
    names = ("partition", "labels_per_class", "split", *CATALOGUE[one.dataset].knobs, *NOISE)
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _summary(rows: list[Row]) -> Summary:
    rows = sorted({row.settings.seed: row for row in rows}.values(), key=lambda r: r.settings.seed)
    first = rows[0]
    accuracy, spread = mean_and_spread(row.accuracy or 0.0 for row in rows)
    return Summary(
        method=first.training.method,
        recipe=recipe_of(first.training) or "",
        dataset=first.settings.dataset,
        clients=first.settings.clients,
        beta=first.settings.beta,
        rounds=first.training.rounds,
        seeds=tuple(row.settings.seed for row in rows),
        accuracy=accuracy,
        spread=spread,
        best_accuracy=mean_and_spread(row.best_accuracy or 0.0 for row in rows)[0],
        constant=tuple(row.constant for row in rows if row.constant),
        largest=mean_and_spread(max(r.histogram) / max(sum(r.histogram), 1) for r in rows)[0],
        bytes_up=mean_and_spread(row.bytes_up for row in rows)[0],
        bytes_down=mean_and_spread(row.bytes_down for row in rows)[0],
        seconds=mean_and_spread(r.cpu_seconds_client + r.cpu_seconds_server for r in rows)[0],
        curve=tuple(np.mean([row.curve for row in rows], axis=0).tolist()),
    )
