"""What figures share: class names, colours, margins, plain traces and logarithmic axes."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from spear_core.run import Result

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8A8A8A"  # colour-blind safe
PINNED = "#CC79A7"  # the pinned run, on every figure


def class_names(result: Result) -> list[str]:
    """A name for every class: its own, or its number."""
    graph = result.graph
    return list(graph.class_names) or [str(c) for c in range(graph.classes)]


def layout(figure: go.Figure, height: int, **more: object) -> go.Figure:
    """The figure with narrow margins, a legend above it, and a transparent ground."""
    named = bool(more.get("showlegend", len(figure.data) > 1))
    return figure.update_layout(frame(height, named), **more)


def frame(height: int, named: bool) -> dict[str, Any]:
    """The layout that all figures share.

    Plotly's buttons get a place of their own: right of a legend, or above where there is none.
    """
    clear = "rgba(0,0,0,0)"
    return {
        "height": height,
        "margin": {"l": 8, "r": 36 if named else 8, "t": 28, "b": 8},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "modebar": {"orientation": "v" if named else "h", "bgcolor": clear, "color": GREY},
        "paper_bgcolor": clear,
        "plot_bgcolor": clear,
    }


def clip(name: str, most: int = 18) -> str:
    """The name, cut where it is too long for an axis or a legend."""
    return name if len(name) <= most else name[: most - 1] + "…"


def log_ticks(values: np.ndarray) -> dict[str, object]:
    """A logarithmic axis with plain numbers at 1, 2 and 5, or at powers of ten if it is long."""
    good = values[values > 0]
    low, high = (math.floor(math.log10(v)) for v in (good.min(initial=1), good.max(initial=1)))
    steps = (1, 2, 5) if high - low <= 2 else (1,)
    ticks = [step * 10.0**e for e in range(low - 1, high + 2) for step in steps]
    text = [f"{t:g}" for t in ticks]
    return {"type": "log", "tickvals": ticks, "ticktext": text, "zeroline": False}


def line_trace(x: object, y: object, name: str, colour: str, dash: str = "solid") -> go.Scatter:
    """A line that says nothing when it is pointed at."""
    line = {"color": colour, "width": 2, "dash": dash}
    return go.Scatter(x=x, y=y, mode="lines", name=name, line=line, hoverinfo="skip")


def dot_trace(
    x: object, y: object, name: str, marker: dict, text: Sequence[str] | None = None
) -> go.Scatter:
    """Dots that say their text, or else their name and height."""
    hover = "%{text}<extra></extra>" if text is not None else f"{name}: %{{y:.4g}}<extra></extra>"
    return go.Scatter(
        x=x, y=y, mode="markers", name=name, marker=marker, text=text, hovertemplate=hover
    )


def log_axis(figure: go.Figure, title: str, low: float, high: float) -> None:
    """Make x logarithmic from low to high."""
    ends = [math.log10(low) - 0.05, math.log10(high)]
    figure.update_xaxes(title=title, range=ends, **log_ticks(np.array([low, high])))
