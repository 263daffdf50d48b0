"""Heat maps client × class: how many training nodes, how strong the pull to the peers."""

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import ORANGE, class_names
from spear_core.run import Result

NO_PAIR = "rgba(128,128,128,0.10)"  # behind cells without a prototype


def weights(result: Result, chosen: tuple[int, int] | None = None) -> go.Figure:
    """λ of every client and class: near 1 is pulled to the peers, near 0 stands for itself.

    `chosen` = (client, class) puts a frame round one cell.
    """
    counts = result.partition.train_counts.cpu().numpy()
    lam = result.estimate.weights.cpu().numpy()
    holders = (counts > 0).sum(axis=0)
    hover = [
        [_why(result, k, c, int(counts[k, c]), float(lam[k, c]), int(holders[c])) for c in cols]
        for k, cols in enumerate([range(counts.shape[1])] * counts.shape[0])
    ]
    shown = np.where(counts > 0, lam, np.nan)
    figure = _heat(result, shown, hover, "λ", "Cividis", (0.0, 1.0), ".2f")
    client, label = np.nonzero(counts)
    figure.add_trace(  # a heat map cannot be clicked in Streamlit, points over its cells can
        go.Scatter(
            x=label,
            y=client,
            mode="markers",
            marker={"symbol": "square", "size": 18, "opacity": 0},
            text=[hover[k][c] for k, c in zip(client, label, strict=True)],
            hovertemplate="%{text}<extra></extra>",
            customdata=np.stack([client, label], axis=1),
            showlegend=False,
        )
    )
    if chosen:
        k, c = chosen
        box = {"x0": c - 0.5, "x1": c + 0.5, "y0": k - 0.5, "y1": k + 0.5}
        figure.add_shape(type="rect", **box, line={"color": ORANGE, "width": 3})
    return figure


def counts(result: Result) -> go.Figure:
    """Training nodes of every client and class: the n that is sent with each prototype."""
    table = result.partition.train_counts.cpu().numpy()
    names = class_names(result)
    hover = [
        [f"client {k}, class {names[c]}: {n} training nodes" for c, n in enumerate(row)]
        for k, row in enumerate(table.tolist())
    ]
    shown = np.where(table > 0, table, np.nan)
    return _heat(result, shown, hover, "nodes", "Viridis", (0.0, max(1.0, table.max())), ".0f")


def _why(result: Result, k: int, c: int, n: int, lam: float, holders: int) -> str:
    name = class_names(result)[c]
    if n == 0:
        return f"client {k} holds no training node of class {name}"
    if holders == 1:
        return f"client {k} alone holds class {name}: no peers, so nothing is pulled"
    return f"client {k}, class {name}: n = {n}, λ = {lam:.2f}"


def _heat(
    result: Result,
    z: np.ndarray,
    hover: list[list[str]],
    title: str,
    scale: str,
    limits: tuple[float, float],
    number: str,
) -> go.Figure:
    rows, columns = z.shape
    few = rows <= 20 and columns <= 20
    figure = go.Figure(
        go.Heatmap(
            z=z,
            text=hover,
            hovertemplate="%{text}<extra></extra>",
            texttemplate=f"%{{z:{number}}}" if few else None,
            colorscale=scale,
            zmin=limits[0],
            zmax=limits[1],
            xgap=1,
            ygap=1,
            colorbar={"title": title, "thickness": 12},
            hoverongaps=True,
        )
    )
    figure.update_xaxes(
        title="class",
        tickmode="array",
        tickvals=list(range(columns)),
        ticktext=class_names(result),
        range=[-0.5, columns - 0.5],
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(
        title="client",
        range=[rows - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        dtick=max(1, rows // 10),
    )
    figure.update_layout(
        height=min(640, 120 + 26 * rows),
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        plot_bgcolor=NO_PAIR,
    )
    return figure
