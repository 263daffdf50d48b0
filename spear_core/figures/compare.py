"""Figures of SPEAR beside the trained methods."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from spear_core.baselines.methods import METHODS
from spear_core.baselines.spaces import Space
from spear_core.baselines.views import Summary
from spear_core.figures.common import BLUE, GREEN, GREY, ORANGE, layout, log_ticks
from spear_core.figures.palette import class_colours

Spread = tuple[float, float]  # mean and standard deviation, in percent
Bubble = tuple[float, float, int]  # seconds, accuracy in percent, clients

BARS = {"thickness": 1, "width": 3, "color": GREY}
DECAYED = "with weight decay 5e-4"
ONE_SHOT = "SPEAR, one shot"


def accuracies(
    rows: Sequence[Summary], spear: Spread, printed: dict[str, float], missing: Sequence[str] = ()
) -> go.Figure:
    """A bar for every method with its spread, what the paper prints, and SPEAR's line.

    Methods that are not measured have a row of their own that says so.
    """
    figure = go.Figure()
    for recipe, name in (("default", "measured"), ("literature", DECAYED)):
        some = [row for row in rows if row.recipe == recipe]
        figure.add_bar(
            y=[METHODS[row.method].title for row in some],
            x=[100 * row.accuracy for row in some],
            error_x=BARS | {"array": [100 * row.spread for row in some]},
            customdata=[(row.rounds, len(row.seeds)) for row in some],
            hovertemplate="%{y}: %{x:.1f} %, %{customdata[0]} rounds, %{customdata[1]} seeds",
            orientation="h",
            marker_color=GREEN,
            opacity=0.85 if recipe == "default" else 0.35,
            name=name,
            visible=bool(some),
        )
    had = {row.method for row in rows}
    names = [m.title for m in METHODS.values() if m.name in had] + list(missing)
    shown = [(name, printed.get(name, 0.0)) for name in names if name in printed or name in missing]
    figure.add_scatter(
        y=[name for name, _ in shown],
        x=[value for _, value in shown],
        mode="markers+text",
        text=["  not measured" if name in missing else "" for name, _ in shown],
        textposition="middle right",
        textfont={"color": GREY},
        name="printed in the paper",
        marker={
            "symbol": "x",
            "size": [9 if name in printed else 0 for name, _ in shown],
            "color": ORANGE,
            "opacity": 1.0,
        },
        hovertemplate="%{y}: %{x:.2f} % printed<extra></extra>",
        visible=bool(shown),
        showlegend=bool(printed),
    )
    _spear(figure, spear, vertical=True)
    figure.update_xaxes(title="accuracy, %", rangemode="tozero")
    order = {"categoryorder": "array", "categoryarray": names, "autorange": "reversed"}
    figure.update_yaxes(automargin=True, **order)
    return layout(figure, 110 + 34 * len(names), barmode="group", legend_itemsizing="constant")


def over_rounds(rows: Sequence[Summary], spear: Spread) -> go.Figure:
    """Mean accuracy after every round, and the line that SPEAR reaches without any."""
    figure = go.Figure()
    for row in rows:
        method, plain = METHODS[row.method], row.recipe == "default"
        figure.add_scatter(
            x=list(range(1, len(row.curve) + 1)),
            y=[100 * a for a in row.curve],
            mode="lines",
            name=method.title,
            legendgroup=row.method,
            showlegend=plain,
            line={"color": method.colour, "dash": "solid" if plain else "dot"},
            hovertemplate=f"{method.title}, round %{{x}}: %{{y:.1f}} %<extra></extra>",
        )
    if any(row.recipe == "literature" for row in rows):
        grey = {"color": GREY, "dash": "dot"}
        figure.add_scatter(x=[None], y=[None], mode="lines", name=DECAYED, line=grey)
    _spear(figure, spear)
    figure.update_xaxes(title="round")
    figure.update_yaxes(title="accuracy, %", rangemode="tozero")
    return layout(figure, 460)


def live(rounds: Sequence[int], percent: Sequence[float], most: int, spear: float) -> go.Figure:
    """The curve of a run as far as it is, in the frame of all its rounds."""
    figure = go.Figure()
    figure.add_scatter(
        x=list(rounds),
        y=list(percent),
        mode="lines+markers",
        name="after each round",
        line={"color": ORANGE},
        marker={"size": 4},
        hovertemplate="round %{x}: %{y:.1f} %<extra></extra>",
    )
    _spear(figure, (spear, 0.0))
    figure.update_xaxes(title="round", range=[0.5, most + 0.5])
    figure.update_yaxes(title="accuracy, %", range=[0, 103])
    return layout(figure, 280)


def pareto(rows: Sequence[Summary], spear: Sequence[Bubble]) -> go.Figure:
    """Seconds against accuracy, on a logarithmic axis; a bubble grows with its clients."""
    figure = go.Figure()
    for method in METHODS.values():
        some = [row for row in rows if row.method == method.name]
        if some:
            figure.add_scatter(
                x=[row.seconds for row in some],
                y=[100 * row.accuracy for row in some],
                mode="markers",
                name=method.title,
                marker={
                    "size": [_size(row.clients) for row in some],
                    "color": method.colour,
                    "symbol": ["circle" if r.recipe == "default" else "circle-open" for r in some],
                    "opacity": 0.85,
                },
                customdata=[row.clients for row in some],
                hovertemplate=f"{method.title}, K = %{{customdata}}: %{{y:.1f}} % in %{{x:.3g}} s"
                "<extra></extra>",
            )
    figure.add_scatter(
        x=[seconds for seconds, _, _ in spear],
        y=[accuracy for _, accuracy, _ in spear],
        mode="markers+text",
        text=["SPEAR" if i == 0 else "" for i in range(len(spear))],
        textposition="bottom center",
        name="SPEAR",
        marker={"size": [_size(k) for _, _, k in spear], "color": BLUE, "opacity": 0.7},
        customdata=[k for _, _, k in spear],
        hovertemplate="SPEAR, K = %{customdata}: %{y:.1f} % in %{x:.3g} s<extra></extra>",
    )
    seconds = [*(row.seconds for row in rows), *(s for s, _, _ in spear)]
    figure.update_xaxes(title="seconds of clients and server", **log_ticks(np.array(seconds)))
    figure.update_yaxes(title="accuracy, %", rangemode="tozero")
    return layout(figure, 460, legend_itemsizing="constant")


def boundary(
    trends: dict[str, list[Summary]], spear: dict[str, list[tuple[float, float, float]]]
) -> go.Figure:
    """Accuracy over β: SPEAR at two α, (β, mean, spread), and trained methods."""
    figure = go.Figure()
    for (name, points), dash in zip(spear.items(), ("solid", "dash"), strict=False):
        figure.add_scatter(
            x=[p[0] for p in points],
            y=[p[1] for p in points],
            error_y=BARS | {"array": [p[2] for p in points]},
            mode="lines+markers",
            name=name,
            line={"color": BLUE, "dash": dash},
        )
    for (name, rows), dash in zip(trends.items(), ("solid", "dot"), strict=False):
        figure.add_scatter(
            x=[row.beta for row in rows],
            y=[100 * row.accuracy for row in rows],
            error_y=BARS | {"array": [100 * row.spread for row in rows]},
            mode="lines+markers",
            name=name,
            line={"color": METHODS["fedavg"].colour, "dash": dash},
        )
    betas = sorted({x for trace in figure.data for x in trace.x})
    ticks = {"tickvals": betas, "ticktext": [f"{b:g}" for b in betas]}
    figure.update_traces(hovertemplate="β = %{x}: %{y:.1f} %")
    figure.update_xaxes(title="β: each client one class … all alike", type="log", **ticks)
    figure.update_yaxes(title="accuracy, %", rangemode="tozero")
    return layout(figure, 460)


def space(shown: Space, label: np.ndarray, names: Sequence[str]) -> go.Figure:
    """A map of nodes in one representation, coloured by class."""
    figure = go.Figure()
    for c, (name, colour) in enumerate(zip(names, class_colours(len(names)), strict=True)):
        some = label == c
        figure.add_scattergl(
            x=shown.xy[some, 0],
            y=shown.xy[some, 1],
            mode="markers",
            marker={"size": 4, "color": colour},
            name=name,
            hoverinfo="name",
        )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    return layout(figure, 300, showlegend=False)


def _size(clients: int) -> float:
    return float(8 + 2 * clients**0.5)


def _spear(figure: go.Figure, spear: Spread, vertical: bool = False) -> None:
    """SPEAR's accuracy as a line across the figure, with its spread as a band."""
    line = {"color": BLUE, "width": 2}
    low, high = spear[0] - spear[1], spear[0] + spear[1]
    band = {"fillcolor": BLUE, "opacity": 0.15, "line_width": 0}
    if vertical:
        figure.add_vline(spear[0], line=line)
        figure.add_vrect(low, high, **band)
    else:
        figure.add_hline(spear[0], line=line)
        figure.add_hrect(low, high, **band)
    figure.add_scatter(x=[None], y=[None], mode="lines", name=ONE_SHOT, line=line)  # for the legend
