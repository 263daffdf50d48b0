"""What a map can tell of each of its nodes, in arrays small enough to travel with the figure."""

from typing import Any

import numpy as np
import torch

from spear_core import embed
from spear_core.embed import Map
from spear_core.embed.nodes import WIDE
from spear_core.explain.classes import share_right
from spear_core.figures.common import clip
from spear_core.figures.map.places import MAPS, array
from spear_core.figures.palette import RIGHT, WRONG, class_colours
from spear_core.run import Result

SCALE = 10_000  # cosines travel as whole numbers
NONE = -32768  # no second class has a prototype
LEGEND_MOST = 12  # entries, and so traces
ROLES = ("", "training", "test", "validation")

Best = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def groups(plane: Map, result: Result, colour: str) -> tuple[np.ndarray, list[str], list[str]]:
    """The group of each node by what colours it, and each group's colour and name."""
    nodes = plane.nodes
    if colour == "client":
        colours = class_colours(result.partition.clients)
        names = [f"client {k}" for k in range(len(colours))]
        return array(result.partition.owner[nodes]), colours, names
    if colour == "right or wrong":
        guess = result.every_prediction.labels[nodes]
        wrong = (guess != result.graph.y[nodes]).long()
        return array(wrong), [RIGHT, WRONG], ["right", "wrong"]
    names = [clip(name) for name in result.graph.names]
    return array(result.graph.y[nodes]), class_colours(result.graph.classes), names


def in_order(group: np.ndarray, colours: list[str]) -> list[np.ndarray]:
    """The nodes of each trace, by their place on the map; many groups are one trace."""
    if len(colours) > LEGEND_MOST:
        return [np.arange(len(group))]
    return [np.flatnonzero(group == g) for g in range(len(colours))]


def told(plane: Map, result: Result, colour: str) -> dict[str, Any]:
    """What is known of the nodes, in the order in which the traces draw them.

    Of each: its id, class, role and client, the class it is named and the runner-up, and the
    cosines to both. `about` says that the cosines are good to some percent only.
    """
    graph, nodes = result.graph, plane.nodes
    order = np.concatenate(in_order(*groups(plane, result, colour)[:2]))
    named, rival, best, second = best_two(plane, result)
    role = sum(mask[nodes].long() * i for i, mask in enumerate(_masks(result), 1))
    columns = {
        "id": array(nodes),
        "label": array(graph.y[nodes]),
        "role": array(torch.as_tensor(role)),
        "client": array(result.partition.owner[nodes]),
        "named": named,
        "rival": rival,
        "best": best,
        "second": second,
    }
    return {
        **{name: _small(values[order]) for name, values in columns.items()},
        "names": [clip(name) for name in graph.names],
        "roles": list(ROLES),
        "scale": SCALE,
        "about": graph.num_features > WIDE and not plane.fitted,
        "shares": [share_right(result, c) for c in range(graph.classes)],
        "by": colour,
    }


def drawn(plane: Map) -> str:
    """How many nodes the map has: "2,943 of 169,343 nodes" where it is a sample."""
    some, every = len(plane.nodes), plane.graph.num_nodes
    return f"{some:,} nodes" if some == every else f"{some:,} of {every:,} nodes"


def best_two(plane: Map, result: Result) -> Best:
    """The class each node is named, the runner-up, and the cosines to both, made once a map."""
    key = ("map_best_two", plane.key, plane.kind)
    return result.kept.get(key, frozenset(), lambda: _best_two(plane, result), most=MAPS)


def _best_two(plane: Map, result: Result) -> Best:
    cosine = embed.similarity(plane, result.estimate.prototypes).t()  # (M, C)
    cosine = cosine.masked_fill(~result.estimate.seen, -torch.inf)
    named = cosine.argmax(1)
    said = torch.full((result.graph.num_nodes,), -1, device=named.device)
    said[result.prediction.nodes] = result.prediction.labels
    said = said[plane.nodes]  # what the run itself said, also where two classes tie
    named = torch.where(said >= 0, said, named)
    best = cosine.gather(1, named[:, None])
    second, rival = cosine.scatter(1, named[:, None], -torch.inf).max(1)
    return array(named), array(rival), _whole(best[:, 0]), _whole(second)


def _masks(result: Result) -> tuple[torch.Tensor, ...]:
    graph = result.graph
    return graph.train, graph.test & ~graph.train, graph.val & ~graph.train & ~graph.test


def _whole(cosine: torch.Tensor) -> np.ndarray:
    return array((cosine * SCALE).round().nan_to_num(neginf=NONE))


def _small(values: np.ndarray) -> np.ndarray:
    """The whole numbers in as few bytes as hold them all."""
    kinds = ("u1", "i2", "u2", "i4")
    low, high = values.min(initial=0), values.max(initial=0)
    fits = (k for k in kinds if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
    return values.astype(next(fits))
