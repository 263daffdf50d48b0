"""Figures of SPEAR beside the trained methods."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spear_core.baselines.training import METHODS
from spear_core.baselines.views import Summary
from spear_core.figures.common import BLUE, ORANGE, layout
from spear_core.palette import class_colours

Spread = tuple[float, float]  # mean and standard deviation, in percent


def _name(found: Summary) -> str:
    also = "" if found.recipe == "default" else ", weight decay"
    return f"{METHODS[found.method]}{also}"


def colours(rows: Sequence[Summary]) -> dict[str, str]:
    """A colour for every method that is the same on every figure."""
    palette = class_colours(len(METHODS) + 1)[1:]
    by_method = dict(zip(METHODS, palette, strict=True))
    return {_name(row): by_method[row.method] for row in rows}


def accuracies(rows: Sequence[Summary], spear: Spread, printed: dict[str, float]) -> go.Figure:
    """Accuracy of every method with its spread, what the paper prints, and SPEAR's line."""
    figure = go.Figure()
    names = [_name(row) for row in rows]
    figure.add_bar(
        x=names,
        y=[100 * row.accuracy for row in rows],
        error_y={"array": [100 * row.spread for row in rows], "thickness": 1, "width": 3},
        marker_color=list(colours(rows).values()) if len(set(names)) == len(names) else BLUE,
        name="measured",
        showlegend=False,
    )
    shown = [(name, printed[name]) for name in names if name in printed]
    figure.add_scatter(
        x=[name for name, _ in shown],
        y=[value for _, value in shown],
        mode="markers",
        name="printed in the paper",
        marker={"symbol": "x", "size": 10, "color": ORANGE},
    )
    figure.add_hline(spear[0], line={"color": BLUE, "width": 2}, annotation_text="SPEAR, one shot")
    figure.add_hrect(spear[0] - spear[1], spear[0] + spear[1], fillcolor=BLUE, opacity=0.15)
    figure.update_yaxes(title="accuracy, %", rangemode="tozero")
    return layout(figure, 380)


def over_rounds(rows: Sequence[Summary], spear: Spread) -> go.Figure:
    """Mean accuracy after every round, and the line that SPEAR reaches without any."""
    figure, found = go.Figure(), colours(rows)
    for row in rows:
        figure.add_scatter(
            x=list(range(1, len(row.curve) + 1)),
            y=[100 * a for a in row.curve],
            mode="lines",
            name=_name(row),
            line={
                "color": found[_name(row)],
                "dash": "solid" if row.recipe == "default" else "dot",
            },
        )
    figure.add_hline(spear[0], line={"color": BLUE, "width": 2}, annotation_text="SPEAR, one shot")
    figure.update_xaxes(title="round")
    figure.update_yaxes(title="accuracy, %", rangemode="tozero")
    return layout(figure, 420)


def pareto(rows: Sequence[Summary], spear: tuple[float, float, int]) -> go.Figure:
    """Seconds against accuracy, on a logarithmic axis; a bubble is as large as its clients."""
    figure, found = go.Figure(), colours(rows)
    for row in rows:
        figure.add_scatter(
            x=[row.seconds],
            y=[100 * row.accuracy],
            mode="markers+text",
            text=[_name(row)],
            textposition="top center",
            name=_name(row),
            marker={"size": 8 + 2 * row.clients**0.5, "color": found[_name(row)]},
            hovertemplate=f"{_name(row)}: %{{y:.1f}} % in %{{x:.3g}} s<extra></extra>",
        )
    seconds, accuracy, clients = spear
    figure.add_scatter(
        x=[seconds],
        y=[accuracy],
        mode="markers+text",
        text=["SPEAR"],
        textposition="top center",
        name="SPEAR",
        marker={"size": 8 + 2 * clients**0.5, "color": BLUE, "symbol": "star"},
        hovertemplate="SPEAR: %{y:.1f} % in %{x:.3g} s<extra></extra>",
    )
    figure.update_xaxes(title="seconds of clients and server, log scale", type="log")
    figure.update_yaxes(title="accuracy, %")
    return layout(figure, 420, showlegend=False)


def boundary(
    trends: dict[str, list[Summary]], spear: dict[str, list[tuple[float, float, float]]]
) -> go.Figure:
    """Accuracy over β: SPEAR at two α, (β, mean, spread), and trained methods."""
    figure = go.Figure()
    for (name, points), dash in zip(spear.items(), ("solid", "dash"), strict=False):
        figure.add_scatter(
            x=[p[0] for p in points],
            y=[p[1] for p in points],
            error_y={"array": [p[2] for p in points], "thickness": 1, "width": 3},
            mode="lines+markers",
            name=name,
            line={"color": BLUE, "dash": dash},
        )
    for (name, rows), colour in zip(trends.items(), class_colours(8)[1:], strict=False):
        figure.add_scatter(
            x=[row.beta for row in rows],
            y=[100 * row.accuracy for row in rows],
            error_y={"array": [100 * row.spread for row in rows], "thickness": 1, "width": 3},
            mode="lines+markers",
            name=name,
            line={"color": colour},
        )
    ticks = [0.05, 0.1, 0.3, 0.5, 1.0]
    figure.update_xaxes(title="β, label skew", type="log", tickvals=ticks)
    figure.update_yaxes(title="accuracy, %")
    return layout(figure, 420)


def representations(
    panels: dict[str, tuple[np.ndarray, float | None]], label: np.ndarray, names: Sequence[str]
) -> go.Figure:
    """A map of the same nodes in each representation; its silhouette stands above."""
    titles = [
        f"{name}<br>silhouette {'–' if score is None else f'{score:.3f}'}"
        for name, (_, score) in panels.items()
    ]
    columns = 3
    height = -(-len(panels) // columns)
    figure = make_subplots(rows=height, cols=columns, subplot_titles=titles)
    palette = class_colours(len(names))
    for i, (xy, _) in enumerate(panels.values()):
        for c, name in enumerate(names):
            some = label == c
            figure.add_scattergl(
                x=xy[some, 0],
                y=xy[some, 1],
                mode="markers",
                marker={"size": 4, "color": palette[c]},
                name=name,
                legendgroup=name,
                showlegend=i == 0,
                row=i // columns + 1,
                col=i % columns + 1,
                hoverinfo="name",
            )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return layout(figure, 330 * height).update_layout(margin_t=80, legend_y=-0.05)
