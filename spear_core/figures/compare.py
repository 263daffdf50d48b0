"""Figures of SPEAR beside the trained methods."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from spear_core.baselines.methods import METHODS
from spear_core.baselines.spaces import Space
from spear_core.baselines.views import Summary
from spear_core.figures.common import ACCURACY, layout, log_ticks
from spear_core.figures.palette import BLUE, GREEN, GREY, ORANGE, class_colours, class_symbols
from spear_core.figures.traces import Trace, best_of_each, best_trace, dot_trace, hover

Spread = tuple[float, float]  # mean and standard deviation, in percent
Bubble = tuple[float, float, int]  # seconds, accuracy in percent, clients

BARS = {"thickness": 1, "width": 3, "color": GREY}
DECAYED = "with weight decay 5e-4"
OURS = "SPEAR"  # unless another estimator is chosen


def accuracies(
    rows: Sequence[Summary],
    spear: Spread,
    printed: dict[str, float],
    missing: Sequence[str] = (),
    ours: str = OURS,
) -> go.Figure:
    """A bar for every method with its spread, ours first and as a line, and what the paper prints.

    Methods that are not measured have a row of their own that says so.
    """
    figure = go.Figure()
    figure.add_bar(
        y=[ours],
        x=[spear[0]],
        error_x=BARS | {"array": [spear[1]]},
        hovertemplate=f"{ours}: %{{x:.1f}} %, once<extra></extra>",
        orientation="h",
        marker_color=BLUE,
        offsetgroup="default",
        name=one_shot(ours),
        showlegend=False,  # its line is there
    )
    for recipe, name in (("default", "measured"), ("literature", DECAYED)):
        some = [row for row in rows if row.recipe == recipe]
        figure.add_bar(
            y=[METHODS[row.method].title for row in some],
            x=[100 * row.accuracy for row in some],
            error_x=BARS | {"array": [100 * row.spread for row in some]},
            customdata=[(row.rounds, len(row.seeds)) for row in some],
            hovertemplate="%{y}: %{x:.1f} %, %{customdata[0]} rounds, %{customdata[1]} seeds",
            orientation="h",
            offsetgroup=recipe,
            marker_color=GREEN,
            opacity=0.85 if recipe == "default" else 0.35,
            name=name,
            visible=bool(some),
        )
    had = {row.method for row in rows}
    names = [ours, *(m.title for m in METHODS.values() if m.name in had), *missing]
    shown = [(name, printed.get(name, 0.0)) for name in names if name in printed or name in missing]
    sizes = [9 if name in printed else 0 for name, _ in shown]
    marker = {"symbol": "x", "size": sizes, "color": ORANGE, "opacity": 1.0}
    look: Trace = {"mode": "markers+text", "textposition": "middle right"}
    look |= {"textfont": {"color": GREY}, "visible": bool(shown), "showlegend": bool(printed)}
    look["text"] = ["  not measured" if name in missing else "" for name, _ in shown]
    x, y = [value for _, value in shown], [name for name, _ in shown]
    said = "%{y}: %{x:.2f} % printed"
    figure.add_trace(dot_trace(x, y, "printed in the paper", marker, said, **look))
    _spear(figure, spear, ours, vertical=True)
    figure.update_xaxes(**ACCURACY, rangemode="tozero")
    order = {"categoryorder": "array", "categoryarray": names, "autorange": "reversed"}
    figure.update_yaxes(automargin=True, **order)
    return layout(figure, 110 + 34 * len(names), barmode="group", legend_itemsizing="constant")


def over_rounds(rows: Sequence[Summary], spear: Spread, ours: str = OURS) -> go.Figure:
    """Mean accuracy after every round, and the line that ours reaches without any."""
    figure = go.Figure()
    for row in rows:
        method, plain = METHODS[row.method], row.recipe == "default"
        line = {"color": method.colour, "dash": "solid" if plain else "dot"}
        dots = "markers" if len(row.curve) == 1 else "lines"  # of a one-shot method
        look: Trace = {"mode": dots, "line": line, "legendgroup": row.method}
        look |= {"marker": {"color": method.colour, "size": 9}}
        look |= {"name": method.title, "showlegend": plain}
        said = hover(f"{method.title}, round %{{x}}: %{{y:.1f}} %")
        x, y = list(range(1, len(row.curve) + 1)), [100 * a for a in row.curve]
        figure.add_scatter(x=x, y=y, **look, **said)
    best_of_each(figure)
    if any(row.recipe == "literature" for row in rows):
        grey = {"color": GREY, "dash": "dot"}
        figure.add_scatter(x=[None], y=[None], mode="lines", name=DECAYED, line=grey)
    _spear(figure, spear, ours)
    figure.update_xaxes(title="round")
    figure.update_yaxes(**ACCURACY, rangemode="tozero")
    return layout(figure, 460)


def live(
    rounds: Sequence[int],
    percent: Sequence[float],
    most: int,
    spear: float,
    ours: str = OURS,
    stage: str = "round",
) -> go.Figure:
    """The curve of a run as far as it is, in the frame of all its rounds or server steps."""
    figure = go.Figure()
    look: Trace = {"mode": "lines+markers", "line": {"color": ORANGE}}
    said, dot = f"{stage} %{{x}}: %{{y:.1f}} %", {"size": 4}
    name = f"after each {stage}"
    figure.add_trace(dot_trace(list(rounds), list(percent), name, dot, said, **look))
    words = [f"{stage} {at}, {y:.1f} %" for at, y in zip(rounds, percent, strict=True)]
    figure.add_trace(best_trace(rounds, percent, words, ORANGE))
    _spear(figure, (spear, 0.0), ours)
    figure.update_xaxes(title=stage, range=[0.5, most + 0.5])
    figure.update_yaxes(**ACCURACY, range=[0, 103])
    return layout(figure, 280)


def pareto(rows: Sequence[Summary], spear: Sequence[Bubble], ours: str = OURS) -> go.Figure:
    """Seconds against accuracy, on a logarithmic axis; a bubble grows with its clients."""
    figure = go.Figure()
    for method in METHODS.values():
        some = [row for row in rows if row.method == method.name]
        if some:
            shapes = ["circle" if r.recipe == "default" else "circle-open" for r in some]
            marker = {"color": method.colour, "symbol": shapes, "opacity": 0.85}
            points = [(row.seconds, 100 * row.accuracy, row.clients) for row in some]
            figure.add_trace(_bubbles(points, method.title, marker))
    text = [ours if i == 0 else "" for i in range(len(spear))]
    look = {"mode": "markers+text", "text": text, "textposition": "bottom center"}
    figure.add_trace(_bubbles(spear, ours, {"color": BLUE, "opacity": 0.7}) | look)
    seconds = [*(row.seconds for row in rows), *(s for s, _, _ in spear)]
    figure.update_xaxes(title="seconds of clients and server", **log_ticks(np.array(seconds)))
    figure.update_yaxes(**ACCURACY, rangemode="tozero")
    return layout(figure, 460, legend_itemsizing="constant")


def _bubbles(points: Sequence[Bubble], name: str, marker: dict) -> Trace:
    """Dots that grow with the number of clients."""
    x, y, clients = ([point[i] for point in points] for i in range(3))
    said = f"{name}, K = %{{customdata}}: %{{y:.1f}} % in %{{x:.3g}} s"
    sized = {**marker, "size": [8 + 2 * k**0.5 for k in clients]}
    return dot_trace(x, y, name, sized, said, customdata=clients)


def boundary(
    trends: dict[str, list[Summary]], spear: dict[str, list[tuple[float, float, float]]]
) -> go.Figure:
    """Accuracy over β: SPEAR at two α, (β, mean, spread), and trained methods."""
    figure = go.Figure()
    for (name, points), dash in zip(spear.items(), ("solid", "dash"), strict=False):
        _over_beta(figure, points, name, BLUE, dash)
    for (name, rows), dash in zip(trends.items(), ("solid", "dot"), strict=False):
        points = [(row.beta, 100 * row.accuracy, 100 * row.spread) for row in rows]
        _over_beta(figure, points, name, METHODS["fedavg"].colour, dash)
    betas = sorted({x for trace in figure.data for x in trace.x})
    ticks = {"tickvals": betas, "ticktext": [f"{b:g}" for b in betas]}
    figure.update_traces(hovertemplate="β = %{x}: %{y:.1f} %")
    best_of_each(figure)
    figure.update_xaxes(title="β: each client one class … all alike", type="log", **ticks)
    figure.update_yaxes(**ACCURACY, rangemode="tozero")
    return layout(figure, 460)


def _over_beta(
    figure: go.Figure, points: list[tuple[float, float, float]], name: str, colour: str, dash: str
) -> None:
    x, y, spread = ([point[i] for point in points] for i in range(3))
    look = {"mode": "lines+markers", "line": {"color": colour, "dash": dash}}
    figure.add_scatter(x=x, y=y, name=name, error_y=BARS | {"array": spread}, **look)


def space(shown: Space, label: np.ndarray, names: Sequence[str]) -> go.Figure:
    """A map of nodes in one representation, coloured by class."""
    figure = go.Figure()
    looks = zip(names, class_colours(len(names)), class_symbols(len(names)), strict=True)
    for c, (name, colour, symbol) in enumerate(looks):
        some = label == c
        marker = {"size": 4, "color": colour, "symbol": symbol}
        look = {"mode": "markers", "marker": marker, "hoverinfo": "name"}
        figure.add_scatter(x=shown.xy[some, 0], y=shown.xy[some, 1], name=name, **look)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    return layout(figure, 300, showlegend=False)


def one_shot(ours: str) -> str:
    """What the line of our own estimator is called."""
    return f"{ours}, one shot"


def _spear(figure: go.Figure, spear: Spread, ours: str, vertical: bool = False) -> None:
    """Our accuracy as a line across the figure, with its spread as a band."""
    line = {"color": BLUE, "width": 2}
    low, high = spear[0] - spear[1], spear[0] + spear[1]
    band = {"fillcolor": BLUE, "opacity": 0.15, "line_width": 0}
    if vertical:
        figure.add_vline(spear[0], line=line)
        figure.add_vrect(low, high, **band)
    else:
        figure.add_hline(spear[0], line=line)
        figure.add_hrect(low, high, **band)
    figure.add_scatter(x=[None], y=[None], mode="lines", name=one_shot(ours), line=line)
