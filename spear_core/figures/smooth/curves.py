"""Accuracy over α and T with "you are here", and whom smoothing helps."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import torch

from spear_core.figures.common import BLUE, GREY, ORANGE, PINNED, layout
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
    """One line over a setting (the first of `seeds`), the range of the others, and where we are."""
    figure = go.Figure()
    if len(seeds) > 1:
        low, high = np.min(seeds, axis=0), np.max(seeds, axis=0)
        figure.add_scatter(
            x=[*x, *reversed(x)],
            y=[*high, *low[::-1]],
            fill="toself",
            fillcolor="rgba(0,114,178,0.18)",
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            name="range over the paper's five seeds",
        )
    if pinned is not None:
        figure.add_scatter(
            x=x, y=pinned, mode="lines", name="pinned", line={"color": PINNED, "dash": "dash"}
        )
    figure.add_scatter(
        x=x,
        y=seeds[0],
        mode="lines+markers",
        name=height,
        line={"color": BLUE, "width": 2},
        marker={"size": 5},
        hovertemplate=symbol(knob) + " = %{x:g}: %{y:.3f}<extra></extra>",
    )
    if level and level[1] is not None:
        figure.add_hline(y=level[1], line={"color": GREY, "dash": "dash"}, annotation_text=level[0])
    if here[1] is not None:
        figure.add_vline(x=here[0], line=HERE)
        figure.add_scatter(
            x=[here[0]],
            y=[here[1]],
            mode="markers",
            name=f"you are here: {here[1]:.3f}",
            marker={"color": ORANGE, "size": 13, "symbol": "diamond"},
            hovertemplate="you are here: %{y:.3f}<extra></extra>",
        )
    figure.update_xaxes(title=named(knob))
    figure.update_yaxes(title=height)
    return layout(figure, 360)


def by_homophily(result: Result, plain: Result, pinned: Result | None = None) -> go.Figure:
    """Accuracy of test nodes by the share of their neighbours that are alike, with and without."""
    number, _ = _by_share(result)
    figure = go.Figure()
    runs = [("α = 0", plain, GREY), ("smoothed", result, BLUE)]
    runs += [("pinned", pinned, PINNED)] if pinned else []
    for name, one, colour in runs:
        figure.add_bar(
            x=[f"{word}<br>{n:,} nodes" for word, n in zip(BINS, number, strict=True)],
            y=_by_share(one)[1],
            name=name,
            marker={"color": colour},
            hovertemplate="%{x}: %{y:.1%}<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title="neighbours of the node's own class")
    figure.update_yaxes(title="accuracy", tickformat=".0%", range=[0, 1])
    return layout(figure, 360, barmode="group")


def _by_share(result: Result) -> tuple[list[int], list[float | None]]:
    """How many test nodes fall into each bin, and the share of them that are right."""
    nodes = result.prediction.nodes
    share = node_homophily(result.graph)[nodes]
    group = torch.where(share == 0, 0, torch.where(share < 0.5, 1, torch.where(share < 1, 2, 3)))
    group = group.masked_fill(share.isnan(), len(BINS))
    right = result.prediction.labels == result.graph.y[nodes]
    number, hits = (
        torch.bincount(g, minlength=len(BINS) + 1)[:-1].tolist() for g in (group, group[right])
    )
    return number, [h / n if n else None for h, n in zip(hits, number, strict=True)]
