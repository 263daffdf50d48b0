"""Figures of the way from SPEAR to LANCE, its bytes, its gate, and where it loses."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import ACCURACY, layout, log_ticks
from spear_core.figures.palette import BLUE, GREEN, GREY, HUES, ORANGE, PINNED
from spear_core.figures.traces import dot_trace

Spread = tuple[float, float]
BARS = {"thickness": 1.5, "width": 5}
SIGNS = ("circle", "square", "diamond", "triangle-up", "x", "star")


def steps(found: Mapping[str, Sequence[float]]) -> go.Figure:
    """Every seed of every step as a dot, their means as bars across, in percent."""
    figure, names = go.Figure(), list(found)
    x, y = zip(*((v, name) for name in names for v in found[name]), strict=True)
    small = {"color": GREY, "size": 8, "opacity": 0.7}
    figure.add_trace(dot_trace(x, y, "one seed", small, "%{y}: %{x:.1f} %"))
    mean = [float(np.mean(found[name])) for name in names]
    bar = {"symbol": "line-ns", "size": 26, "color": BLUE, "line": {"width": 4, "color": BLUE}}
    words = [f"{v:.1f}" for v in mean]
    more = {"mode": "markers+text", "text": words, "textposition": "top center"}
    figure.add_trace(dot_trace(mean, names, "mean", bar, "%{y}: mean %{x:.1f} %", **more))
    figure.update_xaxes(**ACCURACY)
    order = {"categoryorder": "array", "categoryarray": names}
    ends = [len(names) - 0.5, -0.8]  # the first has room for its number above it
    figure.update_yaxes(type="category", automargin=True, range=ends, **order)
    return layout(figure, 120 + 52 * len(names))


def spreads(
    found: Mapping[str, Mapping[str, Spread]], axis: str, zero: bool = False, suffix: str = " %"
) -> go.Figure:
    """Means with their spread: a colour and a sign for each series, a line for each dataset."""
    figure = go.Figure()
    colours = (GREY, HUES[4], BLUE, ORANGE, GREEN, PINNED)
    order = list(dict.fromkeys(name for series in found.values() for name in series))
    for i, (label, series) in enumerate(found.items()):
        colour = colours[i % len(colours)]
        marker = {"color": colour, "symbol": SIGNS[i % len(SIGNS)], "size": 10}
        error = {**BARS, "color": colour, "type": "data", "array": [s for _, s in series.values()]}
        said = f"%{{y}}, {label}: %{{x:.1f}}{suffix}"
        x, y = [m for m, _ in series.values()], list(series)
        figure.add_trace(dot_trace(x, y, label, marker, said, error_x=error))
    figure.update_xaxes(title=axis, ticksuffix=suffix, zeroline=zero)
    if zero:
        figure.add_vline(x=0, line={"color": GREY, "width": 2})
    lines = {"categoryorder": "array", "categoryarray": order, "autorange": "reversed"}
    figure.update_yaxes(type="category", automargin=True, **lines)
    return layout(figure, 150 + 38 * len(order), legend_itemsizing="constant")


def bytes_against_accuracy(lines: Mapping[str, Sequence[tuple[str, float, float]]]) -> go.Figure:
    """Accuracy over KiB a client: a line for each dataset, a dot for each (variant, KiB, %)."""
    figure = go.Figure()
    for i, (name, points) in enumerate(lines.items()):
        x, y = [p[1] for p in points], [p[2] for p in points]
        said = [f"{name}, {p[0]}: {p[2]:.1f} % for {p[1]:.1f} KiB" for p in points]
        marker = {"color": HUES[i % 10], "symbol": SIGNS[i % len(SIGNS)], "size": 9}
        look = {"mode": "lines+markers", "line": {"color": HUES[i % 10], "width": 2}}
        figure.add_trace(dot_trace(x, y, name, marker, said, **look))
    every = np.array([p[1] for points in lines.values() for p in points])
    figure.update_xaxes(title="KiB a client sends, once", **log_ticks(every))
    figure.update_yaxes(**ACCURACY)
    return layout(figure, 430)


def affinities(found: Mapping[str, float], gate: float, here: tuple[str, float]) -> go.Figure:
    """Every dataset on one axis, the gate as a line, the present graph as a star."""
    order = sorted(found, key=lambda name: found[name])
    figure = go.Figure()
    x = [found[name] for name in order]
    colour = [BLUE if value > gate else ORANGE for value in x]
    marker = {"color": colour, "size": 12}
    figure.add_trace(dot_trace(x, order, "stored", marker, "%{y}: affinity %{x:.3f}"))
    star = {"color": GREEN, "size": 16, "symbol": "star"}
    said = f"{here[0]}, as it is now: affinity %{{x:.3f}}"
    figure.add_trace(dot_trace([here[1]], [here[0]], "the present graph", star, said))
    figure.add_vline(x=gate, line={"color": GREY, "dash": "dash", "width": 2})
    words = {"text": f"gate {gate:g}: smooth harder to the right", "xanchor": "left", "y": 1.0}
    figure.add_annotation(x=gate, yref="paper", yanchor="bottom", showarrow=False, **words)
    figure.update_xaxes(title="affinity: are neighbours more alike than strangers?")
    lines = {"categoryorder": "array", "categoryarray": [*order, here[0]]}
    figure.update_yaxes(type="category", automargin=True, **lines)
    return layout(figure, 400, showlegend=False)
