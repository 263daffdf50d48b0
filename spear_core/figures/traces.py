"""Plain traces, as plotly takes them: lines, dots, bars, bands, and what a click finds."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

Trace = dict[str, Any]  # as plotly takes it
Said = str | Sequence[str] | np.ndarray  # what points say on hover: one template, or a text each


def line_trace(
    x: object, y: object, name: str, colour: str, dash: str = "solid", **more: object
) -> Trace:
    """A plain line without a hover."""
    line = {"color": colour, "width": 2, "dash": dash}
    look = {"type": "scatter", "mode": "lines", "line": line, "hoverinfo": "skip"}
    return {**look, **_placed(x, y, name), **more}


def dot_trace(
    x: object, y: object, name: str, marker: dict, said: Said | None = None, **more: object
) -> Trace:
    """Markers that say something on hover, their value where nothing else is given."""
    look = {"type": "scatter", "mode": "markers", "marker": marker}
    words = hover(said if said is not None else f"{name}: %{{y:.4g}}")
    return {**look, **_placed(x, y, name), **words, **more}


def bar_trace(
    x: object, y: object, name: str, colour: object, said: Said | None = None, **more: object
) -> Trace:
    """Bars that say something on hover."""
    words = hover(said) if said is not None else {}
    look = {"type": "bar", "marker": {"color": colour}}
    return {**look, **_placed(x, y, name), **words, **more}


def band_trace(x: Sequence[Any], low: Any, high: Any, fill: str, name: str = "") -> Trace:
    """The area between two curves; without a name the legend leaves it out."""
    key = {"name": name} if name else {"showlegend": False}
    look = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    edge = {"x": [*x, *x[::-1]], "y": [*high, *low[::-1]]}
    return {**look, **edge, "fill": "toself", "fillcolor": fill, **key}


def click_trace(x: object, y: object, said: Said, data: object, size: int = 18) -> Trace:
    """Unseen points over the cells of a heat map, which itself cannot be clicked in Streamlit."""
    look = {"symbol": "square", "size": size, "opacity": 0}
    return dot_trace(x, y, "", look, said, customdata=data, showlegend=False)


def best_trace(
    x: Sequence[Any], y: Sequence[Any], words: Sequence[str], colour: str, **more: object
) -> Trace:
    """The best point of a curve, of equal ones the first: a triangle that the legend puts in words.

    `words` say every point of the curve.
    """
    heights = np.array(y, dtype=float)
    if not np.isfinite(heights).any():
        return {"type": "scatter", "x": [], "y": [], "showlegend": False}
    at = int(np.nanargmax(heights))
    marker = {"symbol": "triangle-down", "size": 12, "color": colour}
    marker["line"] = {"color": "white", "width": 1}
    name = f"best: {words[at]}"
    return dot_trace([x[at]], [heights[at]], name, marker, name, **more)


def best_of_each(figure: go.Figure) -> None:
    """The best point of every line of a figure so far, under one word in the legend."""
    tops = []
    for line in figure.data:
        heights = np.array([np.nan if y is None else y for y in line.y], dtype=float)
        if len(heights) > 1 and np.isfinite(heights).any():
            at = int(np.nanargmax(heights))
            tops.append((line.x[at], heights[at], line.line.color, f"best of {line.name}"))
    if tops:
        x, y, colours, names = map(list, zip(*tops, strict=True))
        marker = {"symbol": "triangle-down", "size": 11, "color": colours}
        marker["line"] = {"color": "white", "width": 1}
        said = [f"{name}: {height:.1f} %" for name, height in zip(names, y, strict=True)]
        figure.add_trace(dot_trace(x, y, "best of each", marker, said))


def _placed(x: object, y: object, name: str) -> Trace:
    return {"x": x, "y": y} | ({"name": name} if name else {})


def hover(said: Said) -> Trace:
    """What points say on hover."""
    if isinstance(said, str):
        return {"hovertemplate": f"{said}<extra></extra>"}
    return {"text": said, "hovertemplate": "%{text}<extra></extra>"}


def cell_frame(column: int, row: int, colour: str, **line: object) -> dict[str, Any]:
    """A shape: the frame of one cell of a heat map."""
    box = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", **box, "line": {"color": colour, "width": 3, **line}}
