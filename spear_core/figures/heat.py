"""Heat maps client × class, alone or beside those of a pinned run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import ORANGE, class_names, clip, layout
from spear_core.run import Result

NO_PAIR = "rgba(128,128,128,0.10)"  # behind cells without a value
FEW = 20  # rows and columns up to which a number fits into a cell


@dataclass(frozen=True, eq=False)
class Table:
    """A value for each client and class, NaN where there is none, and what to say of it."""

    values: np.ndarray  # (K, C)
    words: np.ndarray  # (K, C), for the hover
    clients: Sequence[int]  # who stands in each row

    def said(self, names: Sequence[str]) -> np.ndarray:
        """The words with the client and the class before them."""
        who = [[f"client {k}, class {name}: " for name in names] for k in self.clients]
        return np.array(who, dtype=object).reshape(self.words.shape) + self.words


def weights(
    result: Result, chosen: tuple[int, int] | None = None, pinned: Result | None = None
) -> go.Figure:
    """λ of every client and class: near 1 is pulled to the peers, near 0 stands for itself.

    `chosen` = (client, class) puts a frame round one cell; `pinned` is a run on the same graph.
    """
    figure, hover = heat(
        class_names(result),
        _weights(result),
        _weights(pinned) if pinned else None,
        title="λ",
        scale="Cividis",
        top=1.0,
    )
    client, label = np.nonzero(result.partition.train_counts.cpu().numpy())
    figure.add_trace(  # a heat map cannot be clicked in Streamlit, points over its cells can
        go.Scatter(
            x=label,
            y=client,
            mode="markers",
            marker={"symbol": "square", "size": 18, "opacity": 0},
            text=hover[client, label],
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


def heat(
    names: Sequence[str], now: Table, then: Table | None, title: str, scale: str, top: float
) -> tuple[go.Figure, np.ndarray]:
    """The heat map, and what each cell says on hover.

    With a pinned table every cell is divided, now above and pinned below; where there are too many
    cells for that, the pinned table stands to the right.
    """
    columns = len(names)
    rows = max(len(now.values), len(then.values) if then else 0)
    few = rows <= FEW and columns <= FEW
    hover, z, x, y = now.said(names), now.values, np.arange(columns), np.arange(len(now.values))
    if then and few:
        z = _woven(now.values, then.values, np.nan)
        below = _padded(then.words, rows, "no such client")
        hover = _padded(hover, rows, "no such client") + "<br>pinned: " + below
        text = np.repeat(hover, 3, axis=0)
        y = np.add.outer(np.arange(rows), [-0.47, 0.05, 0.47]).ravel()  # edges, not middles
        y = np.append(y, rows - 0.47)
    elif then:
        gap = np.full((rows, 1), np.nan)
        z = np.hstack([_padded(now.values, rows, np.nan), gap, _padded(then.values, rows, np.nan)])
        hover = _padded(hover, rows, "no such client")
        beside = _padded("pinned: " + then.said(names), rows, "no such client")
        text = np.hstack([hover, np.full((rows, 1), "", dtype=object), beside])
        x = np.arange(2 * columns + 1)
    else:
        text = hover
    figure = go.Figure(
        go.Heatmap(
            z=z,
            x=x,
            y=y,
            text=_short(z) if few else None,
            texttemplate="%{text}" if few else None,
            textfont={"size": 11},
            customdata=text,
            hovertemplate="%{customdata}<extra></extra>",
            colorscale=scale,
            zmin=0,
            zmax=top,
            xgap=1 if columns <= 40 else 0,
            ygap=1 if rows <= 40 else 0,
            colorbar={"title": title, "thickness": 10},
            hoverongaps=True,
        )
    )
    step = 1 if max(map(len, names), default=0) > 3 else max(1, columns // 20)
    shown = list(range(0, columns, step))
    beside = [c + columns + 1 for c in shown] if then and not few else []
    figure.update_xaxes(
        title="class",
        tickvals=shown + beside,
        ticktext=[clip(names[c]) for c in shown] * (2 if beside else 1),
        range=[-0.5, len(z[0]) - 0.5],
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
    if then:
        words = "each cell: now above, pinned below" if few else "left: now, right: pinned"
        figure.add_annotation(
            text=words, x=0, xanchor="left", y=1, yanchor="bottom", xref="paper", yref="paper",
            yshift=2, showarrow=False, font={"size": 12},
        )  # fmt: skip
    each = 36 if then and few else 26
    return layout(figure, min(700, 130 + each * rows)).update_layout(plot_bgcolor=NO_PAIR), hover


def _weights(result: Result) -> Table:
    counts = result.partition.train_counts.cpu().numpy()
    lam = result.estimate.weights.cpu().numpy()
    lone = ((counts > 0).sum(axis=0) == 1).tolist()
    words = [
        [
            "no training node"
            if n == 0
            else f"n = {n}, λ = {lam[k, c]:.2f}" + ", but no peers: not pulled" * lone[c]
            for c, n in enumerate(row)
        ]
        for k, row in enumerate(counts.tolist())
    ]
    values = np.where(counts > 0, lam, np.nan)
    return Table(values, np.array(words, dtype=object), range(len(counts)))


def _padded(table: np.ndarray, rows: int, fill: object) -> np.ndarray:
    """The table with so many rows."""
    more = np.full((rows - len(table), table.shape[1]), fill, dtype=table.dtype)
    return np.concatenate([table, more])


def _woven(now: np.ndarray, then: np.ndarray, fill: object) -> np.ndarray:
    """Row by row: now, pinned, and an empty one between clients. (3 K, C)"""
    rows = max(len(now), len(then))
    one, two = _padded(now, rows, fill), _padded(then, rows, fill)
    return np.stack([one, two, np.full_like(one, fill)], axis=1).reshape(3 * rows, -1)


def _short(values: np.ndarray) -> np.ndarray:
    """Numbers as they fit into a cell: 0.40 as .40, and whole ones without a point."""

    def one(v: float) -> str:
        return "" if np.isnan(v) else f"{v:.0f}" if v == round(v) else f"{v:.2f}".lstrip("0")

    return np.vectorize(one, otypes=[object])(values)
