"""Prototypes of digits as the pictures they are."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spear_core.figures.common import layout
from spear_core.run import Result

SIDE = 8


def pictures(result: Result, label: int, pinned: Result | None = None) -> go.Figure:
    """One class of `digits`: every local prototype, what shrinkage made of it, global and true."""
    up, estimate = result.uploads, result.estimate
    rows = (up.label == label).nonzero().squeeze(1).tolist()
    tiles = []
    for row in rows:
        k, n = int(up.client[row]), int(up.counts[row])
        lam = float(estimate.weights[k, label])
        tiles.append((f"client {k}<br>n = {n}", up.prototypes[row]))
        tiles.append((f"shrunk<br>λ = {lam:.2f}", estimate.shrunk[row]))
    if bool(estimate.seen[label]):
        tiles.append(("global<br>prototype", estimate.prototypes[label]))
    if pinned and bool(pinned.estimate.seen[label]):
        tiles.append(("global,<br>pinned", pinned.estimate.prototypes[label]))
    tiles.append(("true<br>centroid", result.metrics.centroids[label]))
    columns = min(8, len(tiles))
    lines = -(-len(tiles) // columns)
    figure = make_subplots(
        lines,
        columns,
        subplot_titles=[title for title, _ in tiles],
        horizontal_spacing=0.02,
        vertical_spacing=0.25 / lines,
    )
    for place, (title, values) in enumerate(tiles):
        picture = values.cpu().numpy().reshape(SIDE, SIDE)
        figure.add_trace(
            go.Heatmap(
                z=np.flipud(picture),
                colorscale="Greys",
                showscale=False,
                hovertemplate=title.replace("<br>", ", ") + "<extra></extra>",
            ),
            place // columns + 1,
            place % columns + 1,
        )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x", constrain="domain")
    figure.update_annotations(font_size=11)
    layout(figure, 40 + 150 * lines)
    return figure.update_layout(margin_t=44)
