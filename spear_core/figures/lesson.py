"""Figures of the lesson that no page has."""

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from spear_core.figures.common import BLUE, GREY, ORANGE, layout, log_ticks
from spear_core.figures.tiles import tiles
from spear_core.run import Result


def error_of_means(sizes: list[int], errors: list[float], now: int) -> go.Figure:
    """Squared error of a mean over how many nodes are in it, on logarithmic axes."""
    figure = go.Figure()
    figure.add_scatter(x=sizes, y=errors, mode="lines+markers", name="drawn", line={"color": BLUE})
    figure.add_scatter(
        x=sizes,
        y=[errors[0] / n for n in sizes],
        mode="lines",
        name="1/n",
        line={"color": GREY, "dash": "dash"},
    )
    at = [sizes.index(n) for n in (now, 4 * now)]
    figure.add_scatter(
        x=[sizes[i] for i in at],
        y=[errors[i] for i in at],
        mode="markers",
        name=f"n = {now} and {4 * now}",
        marker={"size": 13, "color": ORANGE, "symbol": "diamond"},
    )
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
        figure.add_scatter(
            x=[100 * v for v in values],
            y=[name] * len(values),
            mode="markers",
            name=name,
            marker={"size": 12, "color": colour, "opacity": 0.7},
            hovertemplate="%{x:.2f} %<extra></extra>",
        )
    figure.update_xaxes(title="accuracy of the five seeds, %")
    return layout(figure, 260, showlegend=False)


def picture(result: Result, row: Tensor) -> go.Figure:
    """One node's features as the picture they are."""
    return tiles(result, [[("", row)]]).update_layout(margin_t=28)
