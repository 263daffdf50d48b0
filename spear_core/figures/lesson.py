"""Figures of the lesson that no page has: some show all but the answer."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from spear_core.figures.common import clip, layout, log_ticks
from spear_core.figures.palette import BLUE, GREY, ORANGE
from spear_core.figures.tiles import Tile, tiles
from spear_core.figures.traces import bar_trace, dot_trace
from spear_core.run import Result


def error_of_means(sizes: list[int], errors: list[float], now: int) -> go.Figure:
    """Squared error of a mean over how many nodes are in it, on logarithmic axes."""
    figure = go.Figure()
    figure.add_scatter(x=sizes, y=errors, mode="lines+markers", name="drawn", line={"color": BLUE})
    line = {"color": GREY, "dash": "dash"}
    figure.add_scatter(
        x=sizes, y=[errors[0] / n for n in sizes], mode="lines", name="1/n", line=line
    )
    at = [sizes.index(n) for n in (now, 4 * now)]
    x, y, name = [sizes[i] for i in at], [errors[i] for i in at], f"n = {now} and {4 * now}"
    marker = {"size": 13, "color": ORANGE, "symbol": "diamond"}
    figure.add_scatter(x=x, y=y, mode="markers", name=name, marker=marker)
    figure.update_xaxes(title="nodes in the mean", **log_ticks(np.array(sizes)))
    figure.update_yaxes(title="squared distance to the true mean", type="log")
    return layout(figure, 360)


def two_means(weighted: list[float], alike: list[float]) -> go.Figure:
    """Accuracy with count weights and without, a dot a seed."""
    figure = go.Figure()
    for name, values, colour in (
        ("weighed by counts", weighted, BLUE),
        ("every client alike", alike, ORANGE),
    ):
        x, y = [100 * v for v in values], [name] * len(values)
        marker = {"size": 12, "color": colour, "opacity": 0.7}
        figure.add_trace(dot_trace(x, y, name, marker, "%{x:.1f} %"))
    if not alike:  # what is asked keeps its row
        middle = [100 * sum(weighted) / len(weighted)] if weighted else [0]
        asked = {"mode": "text", "text": ["?"], "textfont": {"size": 20, "color": ORANGE}}
        figure.add_scatter(x=middle, y=["every client alike"], hoverinfo="skip", **asked)
    figure.update_xaxes(title="accuracy of the five seeds", ticksuffix=" %")
    return layout(figure, 260, showlegend=False)


def sums_and_means(
    betas: Sequence[float], mean: list[float], added: list[float], now: float
) -> go.Figure:
    """How far from all nodes in one place: the mean of regressions, and sums that are added.

    Without the second what is asked keeps its place.
    """
    figure = go.Figure()
    for name, values, colour in (
        ("mean of the clients' regressions", mean, BLUE),
        ("one regression over added sums", added, ORANGE),
    ):
        look = {"mode": "lines+markers", "line": {"color": colour}, "marker": {"size": 9}}
        said = "β = %{x:g}: %{y:.2f} % away"
        y = [100 * value for value in values]
        figure.add_scatter(x=list(betas), y=y, name=name, hovertemplate=said, **look)
    if not added:
        place = {"x": np.log10(now), "y": 100 * max(mean) / 3, "showarrow": False}
        figure.add_annotation(text="sums: ?", **place, font={"size": 20, "color": ORANGE})
    figure.update_xaxes(title="β, label skew: strong on the left", type="log", tickvals=list(betas))
    title = "distance to all nodes in one place"
    figure.update_yaxes(title=title, ticksuffix=" %", range=[-5 * max(mean), 110 * max(mean)])
    return layout(figure, 360)


def known_errors(sizes: list[int], errors: list[float], now: int) -> go.Figure:
    """The same up to `now` nodes in the mean; what follows is asked."""
    known = [(n, e) for n, e in zip(sizes, errors, strict=True) if n <= now]
    x, y = [n for n, _ in known], [e for _, e in known]
    look = {"mode": "lines+markers", "line": {"color": BLUE}, "marker": {"size": 10}}
    figure = go.Figure()
    figure.add_scatter(x=x, y=y, name="drawn", **look)
    ends = [np.log10(n) for n in (sizes[0], sizes[-1])]
    axis = log_ticks(np.array(sizes)) | {"range": [ends[0] - 0.1, ends[1] + 0.1]}
    figure.update_xaxes(title="nodes in the mean", **axis)
    low, high = np.log10(min(errors)), np.log10(max(errors))
    figure.update_yaxes(
        title="squared distance to the true mean", type="log", range=[low - 0.2, high + 0.2]
    )
    place = {"x": np.log10(4 * now), "y": (low + high) / 2, "showarrow": False}
    figure.add_annotation(text=f"? at {4 * now}", **place, font={"size": 20, "color": ORANGE})
    return layout(figure, 360, showlegend=False)


def holders(clients: Sequence[int], counts: Sequence[int], asked: int | None = None) -> go.Figure:
    """How many nodes of a class its clients have; the one that is asked about stands out."""
    colour = [ORANGE if k == asked else BLUE for k in clients]
    x, words = [f"client {k}" for k in clients], [str(n) for n in counts]
    figure = go.Figure(bar_trace(x, list(counts), "", colour, "%{x}: n = %{y}", text=words))
    figure.update_xaxes(title="who holds the class", type="category")
    figure.update_yaxes(title="n, training nodes of the class", rangemode="tozero")
    return layout(figure, 360, showlegend=False, bargap=0.4)


def raw_similarities(names: Sequence[str], values: Sequence[float], true: int | None) -> go.Figure:
    """Cosine of a node to each global prototype before it is smoothed."""
    label = [f"<b>{clip(c)} (true)</b>" if i == true else clip(c) for i, c in enumerate(names)]
    marker = {"color": GREY, "symbol": "circle-open", "size": 11, "line": {"width": 2}}
    said = "class %{y}: %{x:.3f} before smoothing"
    figure = go.Figure(dot_trace(list(values), label, "before smoothing", marker, said))
    figure.update_xaxes(title="cosine similarity before smoothing", nticks=6)
    figure.update_yaxes(title="class", type="category", autorange="reversed")
    return layout(figure, 360, showlegend=False)


def candidates(result: Result, row: Tensor, classes: Sequence[int]) -> go.Figure:
    """A node as a picture, beside it the prototypes it may be called after."""
    made: list[Tile] = [("the node", row)]
    made += [
        (f"prototype {clip(result.graph.names[c])}", result.estimate.prototypes[c]) for c in classes
    ]
    return tiles(result, [made[:2], made[2:4]])
