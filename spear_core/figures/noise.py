"""Figures of noise: accuracy over a rate, what smoothing gives, the rules tried for the paper."""

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import BLUE, GREEN, GREY, ORANGE, PINNED, layout
from spear_core.paper.perturbation import DATASETS, Row, by_fit
from spear_core.settings import equation, named, written
from spear_core.studies.noise_curve import Curve

BANDS = {BLUE: "rgba(0,114,178,0.18)", GREY: "rgba(138,138,138,0.22)", GREEN: "rgba(0,158,115,0.2)"}
MARKS = dict(zip(DATASETS, ((BLUE, "circle"), (ORANGE, "diamond"), (GREEN, "square")), strict=True))


def over_rate(
    found: Curve, here: tuple[float, float] | None = None, pinned: Curve | None = None
) -> go.Figure:
    """Accuracy with smoothing and without over the rate; bands are one standard deviation."""
    figure = go.Figure()
    runs = found.smoothed.shape[1]
    _band(figure, found, found.raw, "α = 0, no smoothing", GREY, "dot")
    if pinned:
        _line(figure, pinned, pinned.smoothed.mean(1), "pinned", PINNED, "dash")
    smoothed = equation("alpha", found.settings.alpha)
    _band(figure, found, found.smoothed, f"{smoothed}, mean of {runs}", BLUE)
    if here:
        figure.add_scatter(
            x=_places(found, [here[0]]),
            y=[here[1]],
            mode="markers",
            name="you are here",
            marker={"color": ORANGE, "size": 13},
            hovertemplate="this seed and draw: %{y:.2f} %<extra></extra>",
        )
    _axes(figure, found, "accuracy", " %")
    return layout(figure, 360)


def smoothing_gain(found: Curve) -> go.Figure:
    """What smoothing gives over the rate, in points, taken run by run."""
    figure = go.Figure()
    _band(figure, found, found.gain, "SPEAR minus α = 0", GREEN)
    figure.add_hline(y=0, line={"color": GREY, "width": 1})
    _axes(figure, found, "points that smoothing gives", "")
    return layout(figure, 360, showlegend=True)


def rules(rows: list[Row], kind: str, most: int = 9) -> go.Figure:
    """How far each rule is from the print, best first; bars are two standard errors."""
    order = [rule for rule, _, _ in by_fit(rows, kind)][:most]
    figure = go.Figure()
    for shift, (dataset, (colour, symbol)) in enumerate(MARKS.items()):
        mine = {row.rule: row for row in rows if (row.kind, row.dataset) == (kind, dataset)}
        figure.add_scatter(
            x=[mine[rule].gap for rule in order],
            y=[i + 0.18 * (shift - 1) for i in range(len(order))],
            error_x={
                "type": "data",
                "array": [2 * mine[rule].standard_error for rule in order],
                "thickness": 1.5,
                "width": 3,
            },
            mode="markers",
            name=dataset,
            marker={"color": colour, "symbol": symbol, "size": 9},
            text=[
                f"{rule}<br>{dataset}: {mine[rule].mean:.2f} ± {mine[rule].standard_error:.2f}, "
                f"printed {mine[rule].printed:.2f}"
                for rule in order
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    figure.add_vline(x=0, line={"color": GREY, "width": 1})
    figure.update_xaxes(title="measured minus printed, points", zeroline=False)
    figure.update_yaxes(
        tickvals=list(range(len(order))),
        ticktext=[_wrapped(rule) for rule in order],
        range=[len(order) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    return layout(figure, 90 + 42 * len(order))


def _band(
    figure: go.Figure, found: Curve, each: np.ndarray, name: str, colour: str, dash: str = "solid"
) -> None:
    x, mean, std = _places(found, found.values), each.mean(1), each.std(1)
    figure.add_scatter(
        x=[*x, *x[::-1]],
        y=[*(mean + std), *(mean - std)[::-1]],
        fill="toself",
        mode="lines",
        line={"width": 0},
        fillcolor=BANDS[colour],
        hoverinfo="skip",
        showlegend=False,
    )
    _line(figure, found, mean, name, colour, dash, std)


def _line(
    figure: go.Figure,
    found: Curve,
    mean: np.ndarray,
    name: str,
    colour: str,
    dash: str,
    std: np.ndarray | None = None,
) -> None:
    spread = [""] * len(mean) if std is None else [f" ± {s:.2f}" for s in std]
    figure.add_scatter(
        x=_places(found, found.values),
        y=mean,
        mode="lines+markers",
        name=name,
        line={"color": colour, "dash": dash, "width": 2},
        marker={"size": 6},
        text=[f"{at}: {m:.2f}{s}" for at, m, s in zip(found.ticks, mean, spread, strict=True)],
        hovertemplate="%{text}<extra>" + name + "</extra>",
    )


def _places(found: Curve, values: object) -> list:
    """Where values stand on the axis: by their size, or by name for numbers of labels."""
    if found.knob != "labels_per_class":
        return list(values)  # type: ignore[call-overload]
    return [written(found.knob, value) for value in values]  # type: ignore[attr-defined]


def _axes(figure: go.Figure, found: Curve, title: str, suffix: str) -> None:
    if found.knob == "labels_per_class":
        figure.update_xaxes(type="category", categoryorder="array", categoryarray=found.ticks)
    figure.update_xaxes(title=named(found.knob), zeroline=False)
    figure.update_yaxes(title=title, ticksuffix=suffix, zeroline=False)


def _wrapped(text: str, most: int = 30) -> str:
    """A long name in two lines."""
    if len(text) <= most:
        return text
    cut = text.rfind(" ", 0, len(text) // 2 + 6)
    return f"{text[:cut]}<br>{text[cut + 1 :]}"
