"""What every figure shares: margins and axes."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from spear_core.figures.palette import GREY


def as_json(figure: go.Figure) -> str:
    """The figure as a live map or chart takes it: without a template, for the host has its look."""
    drawn = figure.to_dict()
    drawn["layout"].pop("template", None)
    return to_json_plotly(drawn)


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


ACCURACY = {"title": "accuracy", "ticksuffix": " %", "zeroline": False}  # of every such axis


def note(words: str, size: int, **more: object) -> dict[str, Any]:
    """An annotation above the left end of a figure."""
    place = {"xref": "paper", "x": 0, "xanchor": "left"}
    place |= {"yref": "paper", "y": 1, "yanchor": "bottom"}
    return {"text": words, **place, "showarrow": False, "font": {"size": size}, **more}


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


def log_axis(figure: go.Figure, title: str, low: float, high: float) -> None:
    """Give the figure a logarithmic x axis from `low` to `high`."""
    ends = [math.log10(low) - 0.05, math.log10(high)]
    figure.update_xaxes(title=title, range=ends, **log_ticks(np.array([low, high])))
