"""How good a run is: accuracy beside its references, confusion, silhouettes, classes."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import BLUE, GREY, ORANGE, PINNED, class_names, clip, frame, layout
from spear_core.run import Result

CHANGE = [(0.0, ORANGE), (0.5, "#DDDDDD"), (1.0, BLUE)]  # fewer, as many, more


def accuracy_strip(
    accuracy: float,
    seeds: Sequence[float] = (),
    references: Mapping[str, float] | None = None,
    pinned: float | None = None,
) -> go.Figure:
    """This run on a line of accuracy, with the other seeds, the references and the pinned run."""
    symbols = ("x-thin", "cross-thin")
    traces = [
        _mark(name, [value], symbol, GREY, 12)
        for (name, value), symbol in zip((references or {}).items(), symbols, strict=False)
    ]
    if seeds:
        traces.append(_mark("five seeds", list(seeds), "line-ns-open", BLUE, 16))
    if pinned is not None:
        traces.append(_mark("pinned", [pinned], "diamond-open", PINNED, 13))
    traces.append(_mark("this run", [accuracy], "circle", BLUE, 14))
    look = frame(130 if pinned is None else 150, named=True)
    look |= {
        "margin": {"l": 8, "r": 8, "t": 48, "b": 8},
        "xaxis": {"ticksuffix": " %", "zeroline": False},
        "yaxis": {"visible": False, "range": [-1, 1], "fixedrange": True},
    }
    return go.Figure(traces, look)


def _mark(name: str, values: list[float], symbol: str, colour: str, size: int) -> dict[str, object]:
    line = {"width": 2, "color": colour}
    return {
        "type": "scatter",
        "x": [100 * v for v in values],
        "y": [0] * len(values),
        "mode": "markers",
        "name": name,
        "marker": {"symbol": symbol, "size": size, "color": colour, "line": line},
        "hovertemplate": f"{name}: %{{x:.2f}} %<extra></extra>",
    }


def silhouettes(result: Result, pinned: Result | None = None) -> go.Figure:
    """Cosine silhouette of the test nodes, raw features against smoothed ones."""
    figure = go.Figure()
    for name, run, colour in (("this run", result, BLUE), ("pinned", pinned, PINNED)):
        if run is None:
            continue
        values = [run.metrics.silhouette_raw, run.metrics.silhouette_smoothed]
        figure.add_trace(
            go.Bar(
                x=["raw features", "smoothed"],
                y=values,
                name=name,
                marker_color=colour,
                text=["–" if v is None else f"{v:.4f}" for v in values],
                textposition="auto",
            )
        )
    figure.update_yaxes(title="silhouette")
    return layout(figure, 300, barmode="group", showlegend=pinned is not None)


def confusion(result: Result, pinned: Result | None = None) -> go.Figure:
    """Test nodes by true class (rows) and predicted class (columns), as shares of the row.

    With a pinned run on the same graph the colour is the change since then, in points.
    """
    table, share = _by_class(result)
    names = [clip(name) for name in class_names(result)]
    text = table.astype(str).astype(object)
    hover = _nodes(table, share)
    z, ends, title = share, (0.0, 100.0), "%"
    if pinned:
        old, old_share = _by_class(pinned)
        z, title = share - old_share, "points"
        far = max(5.0, float(np.nanmax(np.abs(z), initial=0)))
        ends = (-far, far)
        text += [[f"<br>{n:+d}" if n else "" for n in row] for row in (table - old).tolist()]
        hover += "<br>pinned: " + _nodes(old, old_share)
    figure = go.Figure(
        go.Heatmap(
            z=z,
            x=names,
            y=names,
            text=text,
            texttemplate="%{text}" if len(names) <= 15 else None,
            textfont={"size": 11},
            customdata=hover,
            hovertemplate="true class %{y}, predicted %{x}:<br>%{customdata}<extra></extra>",
            colorscale=CHANGE if pinned else "Cividis",
            zmin=ends[0],
            zmax=ends[1],
            xgap=1,
            ygap=1,
            colorbar={"title": title, "thickness": 10},
        )
    )
    figure.update_xaxes(title="predicted class", type="category", showgrid=False)
    figure.update_yaxes(title="true class", type="category", autorange="reversed", showgrid=False)
    return layout(figure, 440)


def _by_class(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Test nodes by true and predicted class, and their share of the true class in percent."""
    table = result.metrics.confusion.cpu().numpy()
    total = table.sum(axis=1, keepdims=True)
    share = np.divide(table, total, out=np.full(table.shape, np.nan), where=total > 0)
    return table, 100 * share


def _nodes(table: np.ndarray, share: np.ndarray) -> np.ndarray:
    words = [
        ["no test node" if np.isnan(s) else f"{n} nodes, {s:.0f} % of the class" for n, s in both]
        for both in (zip(*rows, strict=True) for rows in zip(table, share, strict=True))
    ]
    return np.array(words, dtype=object)


def class_accuracy(result: Result, pinned: Result | None = None) -> go.Figure:
    """Accuracy of each class; a class without test nodes has no bar."""
    figure = go.Figure()
    for name, run, colour in (("this run", result, BLUE), ("pinned", pinned, PINNED)):
        if run is None:
            continue
        values = [None if v is None else 100 * v for v in run.metrics.class_accuracy]
        figure.add_trace(
            go.Bar(
                x=class_names(run),
                y=values,
                name=name,
                marker_color=colour,
                hovertemplate="class %{x}: %{y:.1f} %<extra></extra>",
            )
        )
    figure.update_xaxes(title="class", type="category")
    figure.update_yaxes(title="accuracy", ticksuffix=" %", range=[0, 100])
    return layout(figure, 420, barmode="group", showlegend=pinned is not None)


def traffic(result: Result, pinned: Result | None = None) -> go.Figure:
    """Bytes by who sends: SPEAR up and down, counted, and FedAvg, by formula, on a log axis."""
    names = ["SPEAR, up", "SPEAR, down<br>(if sent back)", "FedAvg, both ways<br>(by formula)"]
    figure = go.Figure()
    for name, run, colour in (("this run", result, BLUE), ("pinned", pinned, PINNED)):
        if run is None:
            continue
        m = run.metrics
        values = [m.bytes_up_total, m.bytes_down_total, m.fedavg_bytes()]
        figure.add_trace(
            go.Bar(
                x=values,
                y=names,
                orientation="h",
                name=name,
                marker_color=[colour, colour, GREY],
                text=[human_bytes(v) for v in values],
                textposition="auto",
                hovertemplate=f"%{{y}}, {name}: %{{text}}<extra></extra>",
            )
        )
    figure.update_xaxes(type="log", title="bytes, all clients together")
    figure.update_yaxes(autorange="reversed")
    return layout(figure, 240, barmode="group", showlegend=pinned is not None)


def human_bytes(count: float) -> str:
    """A number of bytes as people say it.

    >>> human_bytes(7452), human_bytes(2.95e9)
    ('7.3 KiB', '2.7 GiB')
    """
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
