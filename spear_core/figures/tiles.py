"""Feature vectors as the small pictures they are, for datasets whose entry gives their size."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from torch import Tensor

from spear_core.datasets.catalogue import CATALOGUE
from spear_core.errors import SettingError
from spear_core.figures.common import layout
from spear_core.figures.heat import NO_PAIR
from spear_core.figures.palette import ORANGE
from spear_core.run import Result

SIGNED = [(0.0, ORANGE), (0.5, "#FFFFFF"), (1.0, "#111111")]  # below zero, zero, above

ACROSS, DOWN = 8, 3  # pictures of one class; the clients with most nodes have room

Tile = tuple[str, Tensor | None]  # words above it, and a vector; None: there is none


def tiles(
    result: Result,
    rows: Sequence[Sequence[Tile]],
    signed: bool = False,
    high: int = 150,
    columns: int = 0,
) -> go.Figure:
    """Rows of pictures, each in its own range of grey, or signed: what is below zero is orange.

    There are as many columns as the longest row has pictures, unless told.
    """
    shape = size(result)
    columns = columns or max(len(row) for row in rows)
    titles = [row[i][0] if i < len(row) else "" for row in rows for i in range(columns)]
    figure = make_subplots(
        len(rows),
        columns,
        subplot_titles=titles,
        horizontal_spacing=0.16 / columns,
        vertical_spacing=0.25 / len(rows),
    )
    for line, row in enumerate(rows, start=1):
        for place, (words, vector) in enumerate(row, start=1):
            picture = np.zeros(shape) if vector is None else vector.cpu().numpy().reshape(shape)
            far = float(np.nanmax(np.abs(picture), initial=0)) or 1.0
            look: dict[str, Any] = {}
            if vector is None:
                look = {"colorscale": [(0, NO_PAIR), (1, NO_PAIR)]}
                middle = {"x": (shape[1] - 1) / 2, "y": (shape[0] - 1) / 2, "showarrow": False}
                figure.add_annotation(text="nothing", row=line, col=place, **middle)
            elif signed:
                look = {"colorscale": SIGNED, "zmin": -far, "zmax": far}
            else:
                look = {"colorscale": "Greys"}
            said = words.replace("<br>", ", ") + (": nothing" if vector is None else "")
            hover = {"hovertemplate": said + "<extra></extra>"}
            trace = go.Heatmap(z=np.flipud(picture), showscale=False, **look, **hover)
            figure.add_trace(trace, line, place)
    figure.update_xaxes(visible=False, constrain="domain")
    figure.update_yaxes(visible=False)
    for axis in figure.select_yaxes():  # square pixels: each y follows its own x
        axis.update(scaleanchor=axis.anchor, constrain="domain")
    figure.update_annotations(font_size=11)
    return layout(figure, 40 + high * len(rows), showlegend=False).update_layout(margin_t=44)


def size(result: Result) -> tuple[int, int]:
    """Rows and columns of the picture that a node's features are."""
    name = result.graph.name
    entry = CATALOGUE.get(name)
    if entry is None or entry.picture is None:
        raise SettingError(f"The features of {name} are no pictures; those of digits are.")
    return entry.picture


def pictures(result: Result, label: int, pinned: Result | None = None) -> go.Figure:
    """One class: local prototypes, what shrinkage made of each, global and true.

    The picture has one size: of many clients those with the most nodes are drawn.
    """
    up, estimate = result.uploads, result.estimate
    last: list[Tile] = []
    if bool(estimate.seen[label]):
        last.append(("global<br>prototype", estimate.prototypes[label]))
    if pinned and bool(pinned.estimate.seen[label]):
        last.append(("global,<br>pinned", pinned.estimate.prototypes[label]))
    last.append(("true<br>centroid", result.metrics.centroids[label]))
    holders = (up.label == label).nonzero().squeeze(1).tolist()
    room = (ACROSS * DOWN - len(last)) // 2
    largest = sorted(holders, key=lambda row: -float(up.counts[row]))[:room]
    made: list[Tile] = []
    for row in sorted(largest):
        k, n = int(up.client[row]), int(up.counts[row])
        lam = float(estimate.weights[k, label])
        made.append((f"client {k}<br>n = {n}", up.prototypes[row]))
        made.append((f"shrunk<br>λ = {lam:.2f}", estimate.shrunk[row]))
    made += last
    rows = [made[i : i + ACROSS] for i in range(0, ACROSS * DOWN, ACROSS)]
    return tiles(result, rows, columns=ACROSS)
