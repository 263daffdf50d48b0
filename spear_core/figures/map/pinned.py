"""The prototypes of a pinned run on the map of the present one."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from spear_core.embed import Map
from spear_core.figures.map.places import placed
from spear_core.figures.map.traces import GREY, ink_line
from spear_core.run import Result

INK: dict[str, Any] = {"type": "scatter", "meta": "ink", "showlegend": False, "opacity": 0.75}
INK |= {"name": "pinned", "legendgroup": "pinned"}


def with_pinned(
    figure: go.Figure, plane: Map, result: Result, pinned: Result | None, show: str = "both"
) -> go.Figure:
    """The map with the prototypes of a run on the same graph as outlines with a dot in them.

    They lie under those of the result, so that only what has moved is seen, and a hover or a click
    on a prototype still finds it. Dotted lines lead from the pinned global prototypes to the
    present ones.
    """
    if pinned is None:
        return figure
    places, up, names = placed(plane, pinned), pinned.uploads, pinned.graph.names
    below: list[dict[str, Any]] = []
    above: list[dict[str, Any]] = []
    if show != "global":
        client, label, n = (v.tolist() for v in (up.client, up.label, up.counts))
        lam, most = pinned.estimate.weights.tolist(), max(n, default=1)
        words = [
            f"client {k}, class {names[c]}</b><br>n = {m}, λ = {lam[k][c]:.2f}"
            for k, c, m in zip(client, label, n, strict=True)
        ]
        size = [8 + 12 * (m / most) ** 0.5 for m in n]  # as on the map itself
        below.append(_outlines("diamond", places.local, words, size))
    if show != "local":
        words = [f"global prototype of class {names[c]}</b>" for c in places.classes]
        now = placed(plane, result)
        above.append(_lines(places.classes, places.glob, now.classes, now.glob))
        above.append(_outlines("star", places.glob, words, 17))
    key = {**_outlines("diamond", np.full((1, 2), np.nan), [""], 11), "showlegend": True}
    own = len(figure.data)
    figure.add_traces([*below, *above, key])
    mine, theirs = figure.data[:own], figure.data[own:]
    at = next((i for i, trace in enumerate(mine) if trace.name == "global"), own)
    figure.data = (*theirs[: len(below)], *mine[:at], *theirs[len(below) :], *mine[at:])
    return figure


def _outlines(symbol: str, xy: np.ndarray, words: list[str], size: Any) -> dict[str, Any]:
    shape = {"symbol": f"{symbol}-open-dot"}
    return {
        **INK,
        "mode": "markers",
        "x": xy[:, 0],
        "y": xy[:, 1],
        "hovertext": [f"<b>pinned: {said}" for said in words],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {**shape, "size": size, "color": GREY, "line": ink_line(1.5)},
    }


def _lines(
    old: np.ndarray, old_xy: np.ndarray, new: np.ndarray, new_xy: np.ndarray
) -> dict[str, Any]:
    now = dict(zip(new.tolist(), new_xy.tolist(), strict=True))
    ends = [(a, now[c]) for c, a in zip(old.tolist(), old_xy.tolist(), strict=True) if c in now]
    return {
        **INK,
        "mode": "lines",
        "x": [v for a, b in ends for v in (a[0], b[0], None)],
        "y": [v for a, b in ends for v in (a[1], b[1], None)],
        "hoverinfo": "skip",
        "line": {**ink_line(1.5), "dash": "dot"},
    }
