"""A node that was asked: a ring round it on the map, its neighbours, and the nodes most like it."""

from typing import Any

import numpy as np
import torch

from spear_core import embed
from spear_core.embed import Map
from spear_core.explain.node import View
from spear_core.figures.map.places import array
from spear_core.figures.map.traces import GREY, ink_line
from spear_core.run import Result

MOST = 300  # lines to neighbours


def around_node(plane: Map, result: Result, view: View) -> list[dict[str, Any]]:
    """Lines to the neighbours that are on the map, rings round the node and those most like it."""
    xy = array(plane.xy) / plane.radius
    own = place_of(plane, result, view)
    near = xy[places(plane, view.neighbours)][:MOST]
    alike = xy[places(plane, torch.tensor([n for n, _ in similar(plane, result, view)]))]
    same = {"type": "scatter", "hoverinfo": "skip", "showlegend": False, "meta": "ink"}
    x, y = ([v for to in near for v in (float(own[i]), float(to[i]), None)] for i in (0, 1))
    line = {"mode": "lines", "x": x, "y": y, "line": ink_line(1.2), "opacity": 0.7}
    return [
        {**same, "name": "neighbours", **line},
        {**same, "name": "alike", **_rings(alike, 9, 1.2)},
        {**same, "name": "asked", **_rings(own[None], 16, 3)},
    ]


def place_of(plane: Map, result: Result, view: View) -> np.ndarray:
    """Where a node lies, (2); one that is not drawn is placed as prototypes are."""
    here = (plane.nodes == view.node).nonzero().flatten()
    if len(here):
        return array(plane.xy[here[0]]) / plane.radius
    return array(embed.refine(plane, _smoothed(result, view))[0][0]) / plane.radius


def places(plane: Map, nodes: torch.Tensor) -> np.ndarray:
    """Those of the named nodes that are on the map, by their place on it."""
    return array(torch.isin(plane.nodes, nodes.to(plane.nodes.device)).nonzero().flatten())


def similar(plane: Map, result: Result, view: View, most: int = 5) -> list[tuple[int, float]]:
    """The drawn nodes most like a node after smoothing, each with its cosine."""
    cosine = embed.similarity(plane, _smoothed(result, view))[0]
    cosine = cosine.masked_fill(plane.nodes == view.node, -torch.inf)
    best, at = cosine.topk(min(most, len(cosine)))
    found = zip(plane.nodes[at].tolist(), best.tolist(), strict=True)
    return [(node, value) for node, value in found if value > -torch.inf]


def _smoothed(result: Result, view: View) -> torch.Tensor:
    """The node's row of Z, (1, F)."""
    return result.graph.collect(view.rows[-1][:, None].contiguous())


def _rings(xy: np.ndarray, size: int, width: float) -> dict[str, Any]:
    shape = {"symbol": "circle-open", "size": size, "color": GREY, "line": ink_line(width)}
    return {"mode": "markers", "x": xy[:, 0], "y": xy[:, 1], "marker": shape}
