"""How good a run is: accuracy beside its references, confusion, silhouettes, classes."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import BLUE, GREEN, GREY, ORANGE, class_names, layout
from spear_core.run import Result


def accuracy_strip(
    accuracy: float,
    seeds: Sequence[float] = (),
    references: Mapping[str, float] | None = None,
    pinned: float | None = None,
) -> go.Figure:
    """This run on a line of accuracy, with the other seeds, the references and the pinned run."""
    figure = go.Figure()
    for (name, value), symbol in zip(
        (references or {}).items(), ("x-thin", "cross-thin"), strict=False
    ):
        figure.add_trace(_mark(name, [value], symbol, GREY, 12))
    if seeds:
        figure.add_trace(_mark("five seeds", list(seeds), "line-ns-open", BLUE, 16))
    if pinned is not None:
        figure.add_trace(_mark("pinned", [pinned], "diamond-open", ORANGE, 13))
    figure.add_trace(_mark("this run", [accuracy], "circle", BLUE, 14))
    figure.update_xaxes(ticksuffix=" %", zeroline=False)
    figure.update_yaxes(visible=False, range=[-1, 1], fixedrange=True)
    return layout(figure, 130).update_layout(margin_t=48)


def _mark(name: str, values: list[float], symbol: str, colour: str, size: int) -> go.Scatter:
    return go.Scatter(
        x=[100 * v for v in values],
        y=[0] * len(values),
        mode="markers",
        name=name,
        marker={
            "symbol": symbol,
            "size": size,
            "color": colour,
            "line": {"width": 2, "color": colour},
        },
        hovertemplate=f"{name}: %{{x:.2f}} %<extra></extra>",
    )


def silhouettes(result: Result, pinned: Result | None = None) -> go.Figure:
    """Cosine silhouette of the test nodes, raw features against smoothed ones."""
    figure = go.Figure()
    for name, run, colour in (("this run", result, BLUE), ("pinned", pinned, ORANGE)):
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


def confusion(result: Result) -> go.Figure:
    """Test nodes by true class (rows) and predicted class (columns), as shares of the row."""
    table = result.metrics.confusion.cpu().numpy()
    total = table.sum(axis=1, keepdims=True)
    share = np.divide(table, total, out=np.full(table.shape, np.nan), where=total > 0)
    names = class_names(result)
    figure = go.Figure(
        go.Heatmap(
            z=100 * share,
            x=names,
            y=names,
            customdata=table,
            colorscale="Cividis",
            zmin=0,
            zmax=100,
            xgap=1,
            ygap=1,
            colorbar={"title": "%", "thickness": 12},
            texttemplate="%{customdata}" if len(names) <= 15 else None,
            hovertemplate=(
                "true class %{y}, predicted %{x}:<br>%{customdata} nodes, %{z:.0f} % of the class"
                "<extra></extra>"
            ),
        )
    )
    figure.update_xaxes(title="predicted class", type="category", showgrid=False)
    figure.update_yaxes(title="true class", type="category", autorange="reversed", showgrid=False)
    return layout(figure, 420)


def class_accuracy(result: Result, pinned: Result | None = None) -> go.Figure:
    """Accuracy of each class; a class without test nodes has no bar."""
    figure = go.Figure()
    for name, run, colour in (("this run", result, BLUE), ("pinned", pinned, ORANGE)):
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


def traffic(result: Result, fedavg: int) -> go.Figure:
    """Bytes by who sends: SPEAR up and down, counted, and FedAvg, by formula, on a log axis."""
    m = result.metrics
    names = ["SPEAR, up", "SPEAR, down (if sent back)", "FedAvg, both ways (by formula)"]
    values = [m.bytes_up_total, m.bytes_down_total, fedavg]
    figure = go.Figure(
        go.Bar(
            x=values,
            y=names,
            orientation="h",
            marker_color=[BLUE, GREEN, GREY],
            text=[human_bytes(v) for v in values],
            textposition="auto",
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )
    figure.update_xaxes(type="log", title="bytes, all clients together")
    figure.update_yaxes(autorange="reversed")
    return layout(figure, 220, showlegend=False)


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
