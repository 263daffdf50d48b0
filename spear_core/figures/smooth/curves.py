"""Accuracy over α and T with "you are here", and whom smoothing helps."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import torch

from spear_core.figures.common import ACCURACY, layout
from spear_core.figures.palette import BLUE, BLUE_BAND, GREY, ORANGE, PINNED
from spear_core.figures.traces import Trace, band_trace, bar_trace, best_trace, dot_trace
from spear_core.measures.homophily import node_homophily
from spear_core.run import Result
from spear_core.settings import named, symbol

BINS = ("none", "under half", "half or more", "all")  # of a node's neighbours
HERE = {"color": ORANGE, "width": 2, "dash": "dot"}


def curve(
    x: Sequence[float],
    seeds: Sequence[Sequence[float]],
    here: tuple[float, float | None],
    knob: str,
    height: str = "accuracy",
    pinned: Sequence[float] | None = None,
    level: tuple[str, float | None] | None = None,
) -> go.Figure:
    """One line over a setting (the first of `seeds`), the range of the others, and where we are.

    Accuracies are in percent.
    """
    figure = go.Figure()
    if len(seeds) > 1:
        low, high = np.min(seeds, axis=0), np.max(seeds, axis=0)
        name = "range over the paper's five seeds"
        figure.add_trace(band_trace(x, low, high, BLUE_BAND, name))
    if pinned is not None:
        figure.add_scatter(
            x=x, y=pinned, mode="lines", name="pinned", line={"color": PINNED, "dash": "dash"}
        )
    small, line = {"size": 5}, {"color": BLUE, "width": 2}
    form, unit = (".1f", " %") if height == "accuracy" else (".3f", "")
    look: Trace = {"mode": "lines+markers", "line": line}
    words = [
        f"{symbol(knob)} = {at:g}, {y:{form}}{unit}" for at, y in zip(x, seeds[0], strict=True)
    ]
    figure.add_trace(dot_trace(x, seeds[0], height, small, words, **look))
    if level and level[1] is not None:
        figure.add_hline(y=level[1], line={"color": GREY, "dash": "dash"}, annotation_text=level[0])
    if here[1] is not None:
        figure.add_vline(x=here[0], line=HERE)
        name = f"you are here: {here[1]:{form}}{unit}"
        marker = {"color": ORANGE, "size": 13, "symbol": "diamond"}
        figure.add_trace(dot_trace([here[0]], [here[1]], name, marker, name))
    figure.add_trace(best_trace(x, seeds[0], words, BLUE))
    figure.update_xaxes(title=named(knob))
    figure.update_yaxes(**ACCURACY if unit else {"title": height})
    return layout(figure, 360)


def by_homophily(result: Result, plain: Result, pinned: Result | None = None) -> go.Figure:
    """Accuracy of test nodes by the share of their neighbours that are alike, with and without."""
    number, _ = _by_share(result)
    figure = go.Figure()
    runs = [("α = 0", plain, GREY), ("smoothed", result, BLUE)]
    runs += [("pinned", pinned, PINNED)] if pinned else []
    for name, one, colour in runs:
        x = [f"{word}<br>{n:,} nodes" for word, n in zip(BINS, number, strict=True)]
        said = {"hovertemplate": "%{x}: %{y:.1f} %<extra>" + name + "</extra>"}
        figure.add_trace(bar_trace(x, _by_share(one)[1], name, colour, **said))
    figure.update_xaxes(title="neighbours of the node's own class")
    figure.update_yaxes(**ACCURACY, range=[0, 100])
    return layout(figure, 360, barmode="group")


def _by_share(result: Result) -> tuple[list[int], list[float | None]]:
    """How many test nodes fall into each bin, and how many percent of them are right."""
    nodes = result.prediction.nodes
    share = node_homophily(result.graph)[nodes]
    group = torch.where(share == 0, 0, torch.where(share < 0.5, 1, torch.where(share < 1, 2, 3)))
    group = group.masked_fill(share.isnan(), len(BINS))
    right = result.prediction.labels == result.graph.y[nodes]
    number, hits = (
        torch.bincount(g, minlength=len(BINS) + 1)[:-1].tolist() for g in (group, group[right])
    )
    return number, [100 * h / n if n else None for h, n in zip(hits, number, strict=True)]
