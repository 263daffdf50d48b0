"""Heat maps client × class, alone or beside those of a pinned run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import clip, frame, note
from spear_core.figures.palette import ORANGE
from spear_core.figures.traces import cell_frame, click_trace
from spear_core.run import Result

NO_PAIR = "rgba(128,128,128,0.10)"  # behind cells without a value
QUIET = [(0.0, "rgba(76,91,212,0.10)"), (1.0, "rgba(76,91,212,1)")]  # dark is the story
DARK = 0.8  # λ from which white is read better
LEFT, SHORT = 48, 14  # pixels left of names that lean, and how many letters they have
FEW = 20  # rows and columns up to which a number fits into a cell


Arranged = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


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
    table, then = _weights(result), _weights(pinned) if pinned else None
    trace, look, hover = heat(result.graph.names, table, then, "λ", QUIET, 1.0)
    trace |= {"showscale": False, "hoverongaps": False}
    look |= {"height": 360 if then else 214, "showlegend": False}
    names = leaning(result.graph.names)
    room = LEFT if names["tickangle"] else 4  # or Plotly hides the first name
    look["margin"] = {"l": room, "r": 4, "t": 24 if then else 4, "b": 4}
    look["xaxis"] |= {"title": None, "tickfont": {"size": 11}, **names}
    look["xaxis"]["ticktext"] = [clip(name, SHORT) for name in look["xaxis"]["ticktext"]]
    look["yaxis"] |= {"title": None, "tickfont": {"size": 11}}
    client, label = np.nonzero(result.partition.train_counts.cpu().numpy())
    pairs = np.stack([client, label], axis=1)
    cells = click_trace(label, client, hover[client, label], pairs)
    if chosen:
        look["shapes"] = [cell_frame(chosen[1], chosen[0], ORANGE)]
    written = _written(trace, table.values) if then is None and trace["texttemplate"] else []
    return go.Figure([trace, *written, cells], look)


def leaning(names: Sequence[str]) -> dict[str, Any]:
    """How the names of classes stand under a narrow heat map: long ones lean to the left."""
    lean = max(map(len, names), default=0) * len(names) > 40
    return {"tickangle": -40 if lean else 0, "ticklabeloverflow": "allow"}


def _written(trace: dict[str, Any], values: np.ndarray) -> list[dict[str, Any]]:
    """The numbers of the cells: in the colour of the text, in white where the cell is dark."""
    text = trace["text"]
    trace |= {"texttemplate": None, "text": None}
    look = {"type": "scatter", "mode": "text", "hoverinfo": "skip"}
    out = []
    for where, font in ((values <= DARK, {}), (values > DARK, {"color": "#FFFFFF"})):
        y, x = np.nonzero(where)
        out.append({**look, "x": x, "y": y, "text": text[y, x], "textfont": {"size": 11, **font}})
    return out


def heat(
    names: Sequence[str], now: Table, then: Table | None, title: str, scale: Any, top: float
) -> tuple[dict[str, Any], dict[str, Any], np.ndarray]:
    """The trace and the layout of a heat map, and what each cell says on hover.

    With a pinned table every cell is divided, now above and pinned below; where there are too many
    cells for that, the pinned table stands to the right.
    """
    columns = len(names)
    rows = max(len(now.values), len(then.values) if then else 0)
    few = rows <= FEW and columns <= FEW
    if then is None:
        hover = text = now.said(names)
        z, x, y = now.values, np.arange(columns), np.arange(rows)
    else:
        hover, text, z, x, y = (_woven if few else _beside)(names, now, then, rows)
    trace = {
        "type": "heatmap",
        "z": z,
        "x": x,
        "y": y,
        "text": _short(z) if few else None,
        "texttemplate": "%{text}" if few else None,
        "textfont": {"size": 11},
        "customdata": text,
        "hovertemplate": "%{customdata}<extra></extra>",
        "colorscale": scale,
        "zmin": 0,
        "zmax": top,
        "xgap": 1 if columns <= 40 else 0,
        "ygap": 1 if rows <= 40 else 0,
        "colorbar": {"title": {"text": title}, "thickness": 10},
        "hoverongaps": True,
    }
    step = 1 if max(map(len, names), default=0) > 3 else max(1, columns // 20)
    shown = list(range(0, columns, step))
    beside = [c + columns + 1 for c in shown] if then and not few else []
    bare = {"showgrid": False, "zeroline": False}
    look = frame(490 if then and few else 390, named=False)
    look |= {
        "plot_bgcolor": NO_PAIR,
        "xaxis": {
            **bare,
            "title": {"text": "class"},
            "tickvals": shown + beside,
            "ticktext": [clip(names[c]) for c in shown] * (2 if beside else 1),
            "range": [-0.5, z.shape[1] - 0.5],
        },
        "yaxis": {
            **bare,
            "title": {"text": "client"},
            "range": [rows - 0.5, -0.5],
            "dtick": max(1, rows // 10),
        },
    }
    if then:
        words = "above B, now; below A, pinned" if few else "left B, now; right A, pinned"
        look["annotations"] = [note(words, 12, yshift=2)]
    return trace, look, hover


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


def _woven(names: Sequence[str], now: Table, then: Table, rows: int) -> Arranged:
    """Hover, its rows, values and edges: for each client now, pinned, and a gap to the next."""
    words = _padded(then.words, rows, "no such client")
    hover = _padded(now.said(names), rows, "no such client") + "<br>pinned: " + words
    one, two = _padded(now.values, rows, np.nan), _padded(then.values, rows, np.nan)
    z = np.stack([one, two, np.full_like(one, np.nan)], axis=1).reshape(3 * rows, -1)
    edges = np.add.outer(np.arange(rows), [-0.47, 0.05, 0.47]).ravel()
    return hover, hover.repeat(3, 0), z, np.arange(len(names)), np.append(edges, rows - 0.47)


def _beside(names: Sequence[str], now: Table, then: Table, rows: int) -> Arranged:
    """Hover, its rows, values and places: now, an empty column, pinned."""
    hover = _padded(now.said(names), rows, "no such client")
    theirs = _padded("pinned: " + then.said(names), rows, "no such client")
    text = np.hstack([hover, np.full((rows, 1), "", dtype=object), theirs])
    one, two = _padded(now.values, rows, np.nan), _padded(then.values, rows, np.nan)
    z = np.hstack([one, np.full((rows, 1), np.nan), two])
    return hover, text, z, np.arange(z.shape[1]), np.arange(rows)


def _padded(table: np.ndarray, rows: int, fill: object) -> np.ndarray:
    """The table with so many rows."""
    more = np.full((rows - len(table), table.shape[1]), fill, dtype=table.dtype)
    return np.concatenate([table, more])


def _short(values: np.ndarray) -> np.ndarray:
    """Numbers as they fit into a cell: 0.40 as .40, and whole ones without a point."""

    def one(v: float) -> str:
        return "" if np.isnan(v) else f"{v:.0f}" if v == round(v) else f"{v:.2f}".lstrip("0")

    return np.vectorize(one, otypes=[object])(values)
