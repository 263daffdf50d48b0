"""Smoothing step by step: the whole of a small graph, or a node's picture."""

import math

import plotly.graph_objects as go

from spear_core.explain.neighbourhood import Place, sample_places
from spear_core.explain.node import View
from spear_core.figures.common import layout
from spear_core.figures.palette import class_colours
from spear_core.figures.smooth.node import FAINT
from spear_core.figures.split import bare_axes, lines
from spear_core.figures.tiles import Tile, tiles
from spear_core.measures.spread import percent
from spear_core.run import Result

PANELS = 6  # steps drawn side by side at most: the first ones and the last
FADED = "rgba(128,128,128,0.6)"


def panels(steps: int, most: int = PANELS) -> list[int]:
    """Which steps to draw: all of them, or the first ones and the last.

    >>> panels(2), panels(9, most=4)
    ([0, 1, 2], [0, 1, 2, 9])
    """
    return list(range(steps + 1)) if steps < most else [*range(most - 1), steps]


def spread(result: Result, view: View) -> go.Figure:
    """The whole of a small graph after each step: a node's area is its weight in the vector."""
    part, at = sample_places(result.graph)
    steps = panels(len(view.rows) - 1, most=4)
    colours = class_colours(result.graph.classes)
    label = result.graph.y[part.nodes].tolist()
    figure = go.Figure()
    places: list[Place] = []
    edges, colour, size, hover = [], [], [], []
    for panel, t in enumerate(steps):  # one drawing beside the other on the same axes
        right, first = 2.3 * panel, len(places)
        places += [(x + right, y) for x, y in at]
        edges += [(first + i, first + j) for i, j in part.edges]
        weight = view.rows[t][part.nodes].tolist()
        colour += [colours[c] if w > 0 else FADED for c, w in zip(label, weight, strict=True)]
        size += [3 + 30 * math.sqrt(w) for w in weight]
        hover += list(zip(part.nodes, weight, strict=True))
        figure.add_annotation(x=right, y=1.15, text=f"t = {t}", showarrow=False)
    xs, ys = lines(edges, places)
    figure.add_scatter(x=xs, y=ys, mode="lines", line=FAINT, hoverinfo="skip")
    figure.add_scatter(
        x=[x for x, _ in places],
        y=[y for _, y in places],
        mode="markers",
        marker={"color": colour, "size": size, "line": {"width": 0}, "opacity": 1},
        customdata=hover,
        hovertemplate="node %{customdata[0]}: weight %{customdata[1]:.3f}<extra></extra>",
    )
    bare_axes(figure)
    return layout(figure, 270, showlegend=False)


def pictures(result: Result, view: View) -> go.Figure:
    """The picture after each step and the two prototypes; below, who weighs most in it."""
    graph, steps = result.graph, panels(len(view.rows) - 1, PANELS - 2)
    names, g = result.graph.names, result.estimate.prototypes
    smoothed = graph.collect(view.rows[steps].t().contiguous())
    above: list[Tile] = [(f"t = {t}", image) for t, image in zip(steps, smoothed, strict=True)]
    above.append((f"prototype<br>{names[view.predicted]}", g[view.predicted]))
    if not view.right:
        above.append((f"prototype<br>{names[view.true]}", g[view.true]))
    below: list[Tile] = []
    weight = view.rows[-1].clone()
    weight[view.node] = 0
    for node in weight.topk(min(PANELS, len(weight))).indices.tolist():
        if weight[node] > 0:
            words = f"a {names[int(graph.y[node])]}<br>{percent(float(weight[node]), 1)}"
            below.append((words, graph.features[node]))
    return tiles(result, [above, below] if below else [above])
