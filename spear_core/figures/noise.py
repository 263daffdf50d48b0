"""Figures of noise: accuracy over a rate, what smoothing gives, the rules tried for the paper."""

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import layout
from spear_core.figures.palette import BLUE, BLUE_BAND, GREEN, GREY, ORANGE, PINNED
from spear_core.figures.traces import band_trace, best_trace, dot_trace
from spear_core.measures.spread import with_spread
from spear_core.paper.perturbation import DATASETS, Row, by_fit
from spear_core.settings import equation, named, written
from spear_core.studies.noise_curve import Curve

BANDS = {BLUE: BLUE_BAND, GREY: "rgba(138,138,138,0.22)", GREEN: "rgba(0,158,115,0.2)"}
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
    places, mean = _places(found, found.values), found.smoothed.mean(1)
    words = [f"{at}, {m:.1f} %" for at, m in zip(found.ticks, mean, strict=True)]
    figure.add_trace(best_trace(places, mean, words, BLUE))
    if here:
        x, said = _places(found, [here[0]]), "this seed and draw: %{y:.1f} %"
        marker = {"color": ORANGE, "size": 13}
        figure.add_trace(dot_trace(x, [here[1]], "you are here", marker, said))
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
    figure, at = go.Figure(), list(range(len(order)))
    for shift, (dataset, (colour, symbol)) in enumerate(MARKS.items()):
        mine = {row.rule: row for row in rows if (row.kind, row.dataset) == (kind, dataset)}
        each = [mine[rule] for rule in order]
        error = [2 * row.standard_error for row in each]
        bars = {"type": "data", "array": error, "thickness": 1.5, "width": 3}
        marker = {"color": colour, "symbol": symbol, "size": 9}
        text = [
            f"{row.rule}<br>{dataset}: {with_spread(row.mean, row.standard_error, 2)}, "
            f"printed {row.printed:.2f}"
            for row in each
        ]
        gaps, heights = [row.gap for row in each], [i + 0.18 * (shift - 1) for i in at]
        figure.add_trace(dot_trace(gaps, heights, dataset, marker, text, error_x=bars))
    figure.add_vline(x=0, line={"color": GREY, "width": 1})
    figure.update_xaxes(title="measured minus printed, points", zeroline=False)
    names, ends = [_wrapped(rule) for rule in order], [len(order) - 0.5, -0.5]
    figure.update_yaxes(tickvals=at, ticktext=names, range=ends, showgrid=False, zeroline=False)
    return layout(figure, 90 + 42 * len(order))


def _band(
    figure: go.Figure, found: Curve, each: np.ndarray, name: str, colour: str, dash: str = "solid"
) -> None:
    x, mean, std = _places(found, found.values), each.mean(1), each.std(1)
    figure.add_trace(band_trace(x, mean - std, mean + std, BANDS[colour]))
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
    words = [f"{m:.1f}" for m in mean] if std is None else list(map(with_spread, mean, std))
    figure.add_scatter(
        x=_places(found, found.values),
        y=mean,
        mode="lines+markers",
        name=name,
        line={"color": colour, "dash": dash, "width": 2},
        marker={"size": 6},
        text=[f"{at}: {said}" for at, said in zip(found.ticks, words, strict=True)],
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
