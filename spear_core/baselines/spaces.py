"""Five representations of the same nodes, each as a map with its silhouette.

Raw features, SPEAR's smoothed features, and the hidden layer that FedAvg, FedProto and FedGTA end
with: do trained clients pull the classes apart?
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from spear_core.baselines.loop import Point, train
from spear_core.baselines.methods import METHODS
from spear_core.baselines.training import defaults
from spear_core.baselines.views import silhouette_of
from spear_core.datasets.store import Progress
from spear_core.embed.background import cosines, smoothed
from spear_core.embed.fitting import layout
from spear_core.errors import SpearError
from spear_core.graph import Graph
from spear_core.measures.silhouette import silhouette
from spear_core.run import Result

RAW, SMOOTHED = "raw features", "SPEAR, smoothed"
TRAINED = ("fedavg", "fedproto", "fedgta")
MOST = 1000  # nodes on a map


@dataclass(frozen=True, eq=False)
class Space:
    """One representation."""

    name: str
    xy: np.ndarray  # (M, 2): UMAP of the mapped nodes
    silhouette: float | None  # of all test nodes, by cosine


def mapped(graph: Graph) -> Tensor:
    """The test nodes that are drawn: all, or evenly spaced ones."""
    return graph.test_nodes[:: max(1, -(-len(graph.test_nodes) // MOST))]


def spaces(result: Result, rounds: int = 50, progress: Progress | None = None) -> list[Space]:
    """The five, from the untrained to the trained; a run that was made before is read."""
    s, graph = result.settings, result.graph
    say = progress or (lambda sentence, fraction: None)
    nodes = mapped(graph)
    made: list[Space] = []

    def add(name: str, near: Tensor, score: float | None) -> None:
        patience = "" if made else ", which takes about 20 s the first time"
        say(f"A map of {name}{patience}", 0.75 + 0.05 * len(made))
        made.append(Space(name, places(near), score))

    hidden = {}
    for i, method in enumerate(TRAINED):

        def told(point: Point, i: int = i, title: str = METHODS[method].title) -> None:
            part = (i + point.round / point.rounds) / 4
            say(f"Training {title}, round {point.round} of {point.rounds}", part)

        hidden[METHODS[method].title] = train(s, defaults(method, rounds=rounds), told).hidden
    for name, alpha, steps in ((RAW, 0.0, 0), (SMOOTHED, s.alpha, s.steps)):
        rows = smoothed(graph, nodes, alpha, steps)
        near = cosines(graph, nodes, rows, alpha, steps)[0]
        add(name, near, silhouette(graph, alpha, steps))
    for name, h in hidden.items():
        unit = normalize(h[nodes], dim=1, eps=1e-30)
        add(name, unit @ unit.t(), silhouette_of(h, graph))
    return made


def places(near: Tensor) -> np.ndarray:
    """Where UMAP puts nodes, (M, 2), by their cosines (M, M); begun at the principal components."""
    middle = near - near.mean(0) - near.mean(1, keepdim=True) + near.mean()  # of centred rows
    value, vector = torch.linalg.eigh(middle)
    start = (vector * value.clamp_min(0).sqrt())[:, -2:].flip(1)
    if len(near) < 5:  # nothing to fit
        return start.cpu().numpy()
    try:
        return layout(near, start, lambda sentence, fraction: None)
    except RuntimeError as error:  # of the process that fits
        raise SpearError(f"UMAP could not be fitted: {error}. Ask for the maps again.") from error
