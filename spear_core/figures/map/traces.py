"""What is drawn on a map, as plain plotly traces: the nodes, the prototypes, the centroids."""

from typing import Any

import numpy as np
import torch

from spear_core.embed import Map
from spear_core.figures.common import clip
from spear_core.figures.map.labels import named
from spear_core.figures.map.nodes import LEGEND_MOST, groups, in_order
from spear_core.figures.map.places import Places, array, distances
from spear_core.figures.palette import RIGHT, WRONG, class_colours, class_symbols
from spear_core.run import Result

# where a page does not put the colour of its text instead (meta = "ink", meta = "outlined")
GREY, OUTLINE = "#8C8C8C", "#4D4D4D"
NAMED_MOST = 20  # classes whose names are written on the map


def background(plane: Map, result: Result, colour: str) -> list[dict[str, Any]]:
    """The nodes: a trace for each group if there are few, so that the legend can hide one."""
    xy = array(plane.xy) / plane.radius
    group, colours, names = groups(plane, result, colour)
    same = {"type": "scattergl", "mode": "markers", "hoverinfo": "skip", "meta": "nodes"}
    look = {"size": 5 if len(xy) < 1000 else 4, "opacity": 0.55}
    rows = in_order(group, colours)
    if len(rows) < len(colours):
        steps = [(step / len(colours), c) for i, c in enumerate(colours) for step in (i, i + 1)]
        limits = {"cmin": -0.5, "cmax": len(colours) - 0.5}
        marker = {**look, "color": group, "colorscale": steps, **limits}
        return [{**same, "x": xy[:, 0], "y": xy[:, 1], "marker": marker, "showlegend": False}]
    room = len(colours) + 4 <= LEGEND_MOST  # four more entries say what the shapes are
    symbols = class_symbols(len(colours))
    return [
        {
            **same,
            "x": xy[some, 0],
            "y": xy[some, 1],
            "marker": {**look, "color": colours[g], "symbol": symbols[g]},
            "name": names[g],
            "showlegend": room,
        }
        for g, some in enumerate(rows)
    ]


def local(plane: Map, result: Result, places: Places, colour: str) -> dict[str, Any]:
    up, names = result.uploads, result.graph.names
    client, label, n = (v.tolist() for v in (up.client, up.label, up.counts))
    lam = result.estimate.weights.tolist()
    most = max(n, default=1)
    hover = [
        f"<b>client {k}, class {names[c]}</b><br>n = {count}, λ = {lam[k][c]:.2f}"
        + _similar(cosine, plane)
        for k, c, count, cosine in zip(client, label, n, places.local_cosine, strict=True)
    ]
    marker = {
        "symbol": _symbols("diamond", places.local_cosine, plane),
        "size": [8 + 12 * (count / most) ** 0.5 for count in n],
        "color": _local_colours(result, colour),
        "line": _line(places.local_cosine, plane),
    }
    return {
        **_points("local", places.local, hover, marker),
        "type": "scatter" if len(n) <= 400 else "scattergl",
        "customdata": [{"client": k, "label": c} for k, c in zip(client, label, strict=True)],
        "meta": "outlined",
    }


def glob(plane: Map, result: Result, places: Places, colour: str) -> dict[str, Any]:
    names, colours = result.graph.names, class_colours(result.graph.classes)
    far = distances(result)["global"]
    hover = [
        f"<b>global prototype of class {names[c]}</b>" + _centre(far[c]) + _similar(cosine, plane)
        for c, cosine in zip(places.classes, places.glob_cosine, strict=True)
    ]
    marker = {
        "symbol": _symbols("star", places.glob_cosine, plane),
        "size": 17,
        "color": [colours[c] for c in places.classes] if colour == "class" else GREY,
        "line": _line(places.glob_cosine, plane),
    }
    meta = "outlined" if colour == "class" else "ink"
    classes = [{"class": int(c)} for c in places.classes]
    trace = _points("global", places.glob, hover, marker)
    return {**trace, "meta": meta, "customdata": classes}


def centroids(plane: Map, result: Result, places: Places) -> dict[str, Any]:
    names = result.graph.names
    words: list[tuple[str, str]] = []
    if result.graph.classes <= NAMED_MOST:
        spans = np.ptp(array(plane.xy) / plane.radius, axis=0).clip(1e-9).tolist()
        words = named(places.centroid, [clip(names[c]) for c in places.tested], spans)
    hover = [f"<b>true centroid of class {names[c]}</b>" for c in places.tested]
    marker = {"symbol": "x-thin", "size": 10, "color": GREY, "line": ink_line(2)}
    return {
        **_points("true centroids", places.centroid, hover, marker),
        "mode": "markers+text" if words else "markers",
        "text": [text for text, _ in words] or None,
        "textposition": [side for _, side in words] or None,
        "textfont": {"size": 13},
        "customdata": [{"class": int(c)} for c in places.tested],
        "meta": "ink",
    }


def _points(name: str, xy: np.ndarray, hover: list[str], marker: dict[str, Any]) -> dict[str, Any]:
    """Markers of one kind; the legend has an entry of its own for them."""
    trace = {"type": "scatter", "mode": "markers", "name": name, "legendgroup": name}
    place = {"x": xy[:, 0], "y": xy[:, 1], "hovertext": hover, "showlegend": False}
    said = {"hovertemplate": "%{hovertext}<extra></extra>"}
    return {**trace, **place, **said, "marker": marker}


def _local_colours(result: Result, colour: str) -> list[str]:
    up = result.uploads
    if colour == "client":
        colours = class_colours(up.clients)
        return [colours[k] for k in up.client.tolist()]
    if colour == "right or wrong":  # is the nearest global prototype that of its own class?
        scores = up.prototypes @ result.estimate.prototypes.t()
        nearest = scores.masked_fill(~result.estimate.seen, -torch.inf).argmax(1)
        return [RIGHT if right else WRONG for right in (nearest == up.label).tolist()]
    colours = class_colours(up.classes)
    return [colours[c] for c in up.label.tolist()]


def _similar(cosine: float, plane: Map) -> str:
    words = f"<br>best cosine to a node {cosine:.2f}"
    if cosine >= plane.hollow_below:
        return words
    return words + f", unusually low:<br>95 % of the nodes reach {plane.hollow_below:.2f} or more"


def _centre(far: float) -> str:
    return "" if np.isnan(far) else f"<br>cosine distance to the true centroid {far:.3f}"


def _symbols(filled: str, cosine: np.ndarray, plane: Map) -> list[str]:
    return [filled + "-open" * bool(c < plane.hollow_below) for c in cosine]


def _line(cosine: np.ndarray, plane: Map) -> dict[str, Any]:
    """Thin dark outlines, thicker where a hollow marker is nothing but its outline."""
    return {"color": OUTLINE, "width": [2.5 if c < plane.hollow_below else 1 for c in cosine]}


def ink_line(width: float) -> dict[str, Any]:
    return {"color": GREY, "width": width}
