"""The map as a plotly figure: nodes, local and global prototypes, true centroids; and in words."""

from typing import Any

import plotly.graph_objects as go

from spear_core.embed import Map
from spear_core.explain.node import View
from spear_core.figures.common import note
from spear_core.figures.map.asked import around_node
from spear_core.figures.map.moves import comparable, ring, trails
from spear_core.figures.map.nodes import drawn, told
from spear_core.figures.map.places import Places, distances, placed
from spear_core.figures.map.traces import GREY, background, centroids, glob, ink_line, local
from spear_core.run import Result

__all__ = ["GREY", "alt_text", "distances", "map_figure"]


RIDGE = (
    "The stars are class means; a node is scored by one regression over all that was sent, so the "
    "nearest star need not win."
)


def map_figure(
    plane: Map,
    result: Result,
    show: str = "both",
    colour: str = "class",
    before: Result | None = None,
    chosen: tuple[int, int] | None = None,
    view: View | None = None,
) -> go.Figure:
    """The map with the prototypes of a result.

    `show` is both, local or global; `colour` is class, client or right or wrong. `before` is an
    earlier result: thin trails lead from there. `chosen` = (client, class) gets a ring and a line
    to the mean of its peers; `view` is a node that was asked.
    """
    places = placed(plane, result)
    traces = background(plane, result, colour)
    if before is not None and comparable(before, result):
        traces.append(trails(placed(plane, before), before, places, result, show))
    if show != "global":
        traces.append(local(plane, result, places, colour))
    if show != "local":
        traces.append(glob(plane, result, places, colour))
    traces.append(centroids(plane, result, places))
    if chosen is not None and show != "global":
        traces += ring(plane, result, places, chosen)
    if view is not None:
        traces += around_node(plane, result, view)
    hollow = _hollow(plane, places, show)
    traces += _key(show, bool(hollow))
    return go.Figure(traces, _layout(plane, result, {"nodes": told(plane, result, colour)}))


def alt_text(plane: Map, result: Result) -> str:
    """The map in words and numbers."""
    places, graph = placed(plane, result), result.graph
    hollow = _hollow(plane, places, "both")
    words = [
        f"{plane.kind} of {len(plane.nodes):,} nodes of {graph.name} in {graph.classes} classes, "
        f"with {len(places.local)} local prototypes of {result.partition.clients} clients as "
        f"diamonds, {len(places.glob)} global prototypes as stars and the true class centroids as "
        "crosses."
    ]
    far = distances(result)[["local", "global"]].mean()
    if not far.isna().any():
        words.append(
            "In feature space the local prototypes lie at a mean cosine distance of "
            f"{far['local']:.3f} from the true centroids, the global ones at {far['global']:.3f}."
        )
    if result.estimate.ridge is not None:
        words.append(RIDGE)
    if hollow:
        one = hollow == 1
        words.append(
            f"{hollow} prototype{'' if one else 's'} {'is' if one else 'are'} drawn hollow: less "
            "similar to any node than nodes usually are to each other."
        )
    return " ".join(words)


def _hollow(plane: Map, places: Places, show: str) -> int:
    """How many of the shown prototypes are unlike any node."""
    shown = {"local": [places.local_cosine], "global": [places.glob_cosine]}
    cosines = shown.get(show, [places.local_cosine, places.glob_cosine])
    return sum(int((c < plane.hollow_below).sum()) for c in cosines)


def _key(show: str, hollow: bool) -> list[dict[str, Any]]:
    """Legend entries that say what the shapes mean; clicking one hides its points."""
    entries = [("true centroids", "x-thin", "true centroids")]
    if show != "global":
        entries.insert(0, ("local prototypes", "diamond", "local"))
    if show != "local":
        entries.insert(-1, ("global prototypes", "star", "global"))
    if hollow:
        entries.append(("hollow: unlike any node", "diamond-open", "hollow"))
    same = {"type": "scatter", "mode": "markers", "x": [None], "y": [None], "meta": "ink"}
    look = {"size": 11, "color": GREY, "line": ink_line(1.5)}
    return [
        {**same, "name": name, "legendgroup": group, "marker": {"symbol": symbol, **look}}
        for name, symbol, group in entries
    ]


def _layout(plane: Map, result: Result, meta: dict[str, Any]) -> dict[str, Any]:
    scored = " · scored by ridge, not by the nearest ★" * (result.estimate.ridge is not None)
    axis = {"visible": False, "zeroline": False, "showgrid": False}
    legend = {"orientation": "h", "x": 0, "y": 0, "yanchor": "top", "font": {"size": 12}}
    return {
        "uirevision": result.graph.name,  # zoom and legend survive everything but another graph
        "xaxis": axis | {"range": _reach(plane, 0)},
        "yaxis": axis | {"range": _reach(plane, 1)},
        "dragmode": "pan",
        "hovermode": "closest",
        "margin": {"l": 4, "r": 4, "t": 32, "b": 4},
        "legend": {**legend, "itemsizing": "constant"},
        "hoverdistance": 6,  # further off the nodes are asked
        "annotations": [note(f"{plane.kind} · {drawn(plane)}{scored}", 13)],
        "meta": meta,
    }


def _reach(plane: Map, side: int) -> list[float]:
    """From end to end of the nodes: the same whatever prototypes are drawn among them."""
    at = plane.xy[:, side] / plane.radius
    low, high = float(at.min()), float(at.max())
    room = 0.07 * (high - low) or 1.0
    return [low - room, high + room]
