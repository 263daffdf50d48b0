"""What depends on what: one-knob curves, two-knob heat maps and best values, from sweep tables."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from spear_core.figures.common import layout, log_ticks
from spear_core.figures.palette import ORANGE, class_colours
from spear_core.figures.traces import Trace, best_trace, cell_frame, click_trace, hover
from spear_core.settings import Settings, named, symbol, written

WORDS = {"macro_f1": "macro F1"}  # measures that are not called as in the table
PERCENT = ("accuracy", "macro_f1")
WIDE = 20  # from this ratio of largest to smallest on, an axis is logarithmic
HERE = "you are here"


def curve(
    table: pd.DataFrame,
    knob: str,
    measure: str = "accuracy",
    here: Settings | None = None,
    by: str = "dataset",
) -> go.Figure:
    """Mean over the seeds against one setting, a band of ± one standard deviation, a line a `by`.

    `here` marks the current setting where the table has it. Each point carries (`by`, knob) as
    customdata.
    """
    places = _Places(knob, _values(table[knob]))
    figure = go.Figure()
    marks: list[Trace | go.Scatter] = []
    groups = list(table.groupby(by, sort=False))
    for (name, part), colour in zip(groups, class_colours(len(groups)), strict=True):
        line = _over_seeds(part, [knob], measure).sort_values(knob)
        x = [places.of(value) for value in line[knob]]
        _band(figure, x, line, colour, str(name))
        each = [row for _, row in line.iterrows()]
        said = [f"{name}, {_both(knob, row)}: {_measured(row, measure)}" for row in each]
        data = [[name, value] for value in line[knob]]
        look: Trace = {"mode": "lines+markers", "name": str(name), "legendgroup": str(name)}
        look |= {"line": {"color": colour}, "customdata": data, **hover(said)}
        figure.add_scatter(x=x, y=line["mean"], **look)
        short = [f"{_symbol(knob, row)}, {_measured(row, measure, short=True)}" for row in each]
        top = best_trace(x, line["mean"], short, colour)
        if len(groups) > 1:  # one word in the legend for all of them
            top |= {"name": "best of each", "showlegend": not marks, "legendgroup": "best"}
        marks.append(top)
        if here and getattr(here, by) == name and (line[knob] == getattr(here, knob)).any():
            at = line[line[knob] == getattr(here, knob)]
            marks.append(_here([places.of(getattr(here, knob))], at["mean"]))
    figure.add_traces(marks)  # last, so that they lie above every line
    if here and getattr(here, knob) in places.values:
        at_knob = places.of(getattr(here, knob))
        figure.add_vline(at_knob, line={"color": ORANGE, "dash": "dot", "width": 1})
    figure.update_xaxes(title=named(knob), **places.axis)
    figure.update_yaxes(title=_word(measure), ticksuffix=" %" if measure in PERCENT else "")
    return layout(figure, 380, showlegend=len(groups) > 1 or here is not None)


def heat(
    table: pd.DataFrame, x: str, y: str, measure: str = "accuracy", here: Settings | None = None
) -> go.Figure:
    """Mean over the seeds for every pair of two settings; the spread is in the hover.

    `here` frames the current pair. Each cell carries its values (x, y) as customdata of an
    invisible point over it, since a heat map itself cannot be clicked in Streamlit.
    """
    across, up = _values(table[x]), _values(table[y])
    cells = _over_seeds(table, [x, y], measure)
    z = np.full((len(up), len(across)), np.nan)
    column, row = [across.index(v) for v in cells[x]], [up.index(v) for v in cells[y]]
    z[row, column] = cells["mean"]
    few = z.size <= 150
    suffix = " %" if measure in PERCENT else ""
    figure = go.Figure(
        go.Heatmap(
            z=z,
            colorscale="Cividis",
            colorbar={"title": _word(measure), "thickness": 12, "ticksuffix": suffix},
            texttemplate=("%{z:.1f}" if measure in PERCENT else "%{z:.3g}") if few else None,
            hoverinfo="skip",
            xgap=1,
            ygap=1,
        )
    )
    data = [[a, b] for a, b in zip(cells[x], cells[y], strict=True)]
    said = [
        f"{_both(x, r)}<br>{_both(y, r)}<br>{_measured(r, measure)}" for _, r in cells.iterrows()
    ]
    figure.add_trace(click_trace(column, row, said, data, size=22))
    if here and getattr(here, x) in across and getattr(here, y) in up:
        c, r = across.index(getattr(here, x)), up.index(getattr(here, y))
        figure.add_shape(**cell_frame(c, r, ORANGE))
        figure.add_annotation(
            x=c, y=r + 0.5, text=HERE, showarrow=False, yanchor="bottom", font={"color": ORANGE}
        )
    figure.update_xaxes(title=named(x), **_even(x, across), showgrid=False)
    figure.update_yaxes(title=named(y), **_even(y, up), showgrid=False)
    return layout(figure, 520)


def best(
    table: pd.DataFrame,
    knob: str = "alpha",
    against: str = "edge_homophily",
    measure: str = "accuracy",
) -> go.Figure:
    """For every dataset the value of a setting with the best mean, against a measure of it."""
    rows = []
    for name, part in table.groupby("dataset", sort=False):
        line = _over_seeds(part, [knob], measure)
        top = line.iloc[int(line["mean"].to_numpy().argmax())]
        rows.append((name, part[against].mean(), top))
    names, places, tops = zip(*rows, strict=True)
    best = [top[knob] for top in tops]
    data = [[name, value] for name, value in zip(names, best, strict=True)]
    said = [
        f"{name}: best at {written(knob, top[knob])}, {_measured(top, measure)}"
        for name, top in zip(names, tops, strict=True)
    ]
    look: Trace = {"mode": "markers+text", "textposition": "top center", "cliponaxis": False}
    look |= {"text": names, "hovertext": said, "hovertemplate": "%{hovertext}<extra></extra>"}
    marker = {"size": 12, "color": class_colours(len(names))}
    figure = go.Figure(go.Scatter(x=places, y=best, marker=marker, customdata=data, **look))
    words = "homophily: share of edges inside a class" if against == "edge_homophily" else against
    figure.update_xaxes(title=words, zeroline=False)
    figure.update_yaxes(title=f"best {named(knob)}", zeroline=False)
    return layout(figure, 380, showlegend=False)


class _Places:
    """Where the values of a setting stand on its axis: linear, logarithmic or evenly spaced."""

    def __init__(self, knob: str, values: Sequence[Any]) -> None:
        self.values = list(values)
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        finite = [v for v in numbers if math.isfinite(v)]
        low, high = min(finite, default=0), max(finite, default=0)
        least = min((v for v in finite if v > 0), default=high)
        wide = high >= WIDE * least > 0
        self.even = len(finite) < len(values) or (wide and low <= 0)
        if self.even:
            self.axis = _even(knob, self.values)
        else:
            self.axis = log_ticks(np.array(finite)) if wide else {"zeroline": False}

    def of(self, value: Any) -> Any:
        return self.values.index(value) if self.even else value


def _even(knob: str, values: Sequence[Any]) -> dict[str, Any]:
    """An axis with one place for each value."""
    ticks = {"tickmode": "array", "tickvals": list(range(len(values)))}
    ends = [-0.5, len(values) - 0.5]
    text = [written(knob, value) for value in values]
    return {**ticks, "ticktext": text, "range": ends, "zeroline": False}


def _values(column: pd.Series) -> list[Any]:
    """The values of a column, each once: numbers ascending, words as they come."""
    values = column.drop_duplicates().tolist()
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    return sorted(values) if numbers else values


def _over_seeds(table: pd.DataFrame, knobs: list[str], measure: str) -> pd.DataFrame:
    """Mean, population standard deviation and number of runs for every value of the knobs."""
    scale = 100 if measure in PERCENT else 1
    known = table[table[measure].notna()]
    groups = (known[measure].astype(float) * scale).groupby([known[k] for k in knobs], sort=False)
    parts = {"mean": groups.mean(), "spread": groups.std(ddof=0), "runs": groups.size()}
    return pd.DataFrame(parts).reset_index()


def _band(figure: go.Figure, x: list[Any], line: pd.DataFrame, colour: str, name: str) -> None:
    if (line["runs"] < 2).all():
        return
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    colour = f"rgba({red},{green},{blue},0.18)"
    for side in (-1, 1):
        look = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
        fill = {"fill": "tonexty" if side > 0 else None, "fillcolor": colour}
        y = line["mean"] + side * line["spread"]
        figure.add_scatter(x=x, y=y, legendgroup=name, **look, **fill)


def _here(x: list[Any], y: Any) -> go.Scatter:
    marker = {"size": 15, "color": "rgba(0,0,0,0)", "line": {"color": ORANGE, "width": 3}}
    return go.Scatter(x=x, y=y, mode="markers", name=HERE, marker=marker, hoverinfo="skip")


def _measured(row: pd.Series, measure: str, short: bool = False) -> str:
    digits, unit = (1, " %") if measure in PERCENT else (4, "")
    runs = int(row["runs"])
    spread = f" ± {row['spread']:.{digits}f}" if runs > 1 else ""
    over = "" if short else f" ({runs} seed{'s' * (runs > 1)})"
    return f"{row['mean']:.{digits}f}{spread}{unit}{over}"


def _word(measure: str) -> str:
    return WORDS.get(measure, measure.replace("_", " "))


def _symbol(knob: str, row: pd.Series) -> str:
    return f"{symbol(knob)} = {written(knob, row[knob])}"


def _both(knob: str, row: pd.Series) -> str:
    return f"{named(knob)} = {written(knob, row[knob])}"
