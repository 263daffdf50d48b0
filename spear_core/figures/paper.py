"""Figures that set our measurement beside the paper's print."""

import math
import re

import plotly.graph_objects as go

from spear_core.figures.common import ACCURACY, layout
from spear_core.figures.palette import BLUE, GREEN, GREY, ORANGE, class_colours
from spear_core.figures.traces import best_trace, dot_trace
from spear_core.paper.findings import constant_predictors, like_for_like
from spear_core.paper.measured import Measured
from spear_core.paper.printed import claim, quoted

CROSS = {"symbol": "x", "size": 11, "color": ORANGE}  # a value of the paper


def curve(rows: list[Measured], table: str) -> go.Figure:
    """Accuracy over one knob with its spread, a line a dataset; quoted values are marked."""
    figure = go.Figure()
    names = list(dict.fromkeys(row.row for row in rows if row.table == table))
    for name, colour in zip(names, class_colours(len(names)), strict=True):
        points = _of(rows, table, name)
        if points:
            x = [row.column.split(" = ")[1] for row in points]
            words = {"name": name, "hovertemplate": "%{x}: %{y:.1f} ± %{error_y.array:.1f} %"}
            figure.add_scatter(
                x=x, mode="lines+markers", line={"color": colour}, **words, **_mean(points)
            )
            each = [f"{name}, {row.mean:.1f} % at {at}" for row, at in zip(points, x, strict=True)]
            figure.add_trace(best_trace(x, [row.mean for row in points], each, colour))
    for name, value, y in quoted(table):
        title, said = f"quoted in the text, {name}", f"the paper quotes {y:g}"
        figure.add_trace(dot_trace([f"{value:g}"], [y], title, CROSS, said))
    symbol = table.split()[0] if table != "boundary" else "β"
    figure.update_xaxes(title=symbol, type="category")
    figure.update_yaxes(**ACCURACY)
    return layout(figure, 420)


def ablation(rows: list[Measured]) -> go.Figure:
    """SPEAR, its plain mean and its count-weighted mean without shrinkage, with the print."""
    figure = go.Figure()
    for row, words, colour in (
        ("full", "SPEAR", BLUE),
        ("λ = 0, count weights kept", "no shrinkage, count weights kept", GREEN),
        ("without shrinkage", "no shrinkage, no count weights", GREY),
    ):
        points = _of(rows, "ablation", row)
        x = [r.column for r in points]
        figure.add_bar(x=x, name=words, marker_color=colour, **_mean(points))
    _crosses(figure, x, [r.printed for r in points], "printed as without shrinkage")
    figure.update_yaxes(**ACCURACY)
    return layout(figure, 380, barmode="group")


def steep(rows: list[Measured]) -> go.Figure:
    """Cora over α at two steps, the quoted value, and what one step gives."""
    points = _of(rows, "α curve", "Cora")
    one = [r for r in rows if r.row == "Cora, α = 0.8, T = 1" and r.mean is not None]
    figure = go.Figure()
    line = {"mode": "lines+markers", "name": "measured, T = 2", "line": {"color": BLUE}}
    figure.add_scatter(x=[_number(r.column) for r in points], **line, **_mean(points))
    square = {"symbol": "square", "size": 10, "color": GREEN}
    dot = {"mode": "markers", "name": "measured, T = 1", "marker": square}
    figure.add_scatter(x=[0.8 for _ in one], **dot, **_mean(one))
    _crosses(figure, [0.8], [claim("Cora alpha=0.80")], "quoted")
    figure.update_xaxes(title="α")
    figure.update_yaxes(**ACCURACY | {"title": "accuracy on Cora"})
    return layout(figure, 360)


def byzantine(rows: list[Measured]) -> go.Figure:
    """Three lying clients: what is printed for SPEAR, what we measure."""
    points = _of(rows, "byzantine", "SPEAR")
    x = [r.column.replace(" beta=", ", β = ") for r in points]
    figure = go.Figure()
    words = "measured, three random clients flip"
    figure.add_bar(x=x, name=words, marker_color=BLUE, **_mean(points))
    _crosses(figure, x, [r.printed for r in points], "printed")
    figure.update_yaxes(**ACCURACY)
    return layout(figure, 360)


def communication(rows: list[Measured]) -> go.Figure:
    """Bytes sent, counted in four ways; the paper compares the first with the last."""
    sent = like_for_like(rows)
    figure = go.Figure()
    for what, colour, pattern in (
        ("SPEAR, one client, up", BLUE, "/"),
        ("SPEAR, all clients, both ways", BLUE, ""),
        ("FedAvg, one client, both ways", GREY, "/"),
        ("FedAvg, all clients, both ways", GREY, ""),
    ):
        some = [one for one in sent if one.what == what]
        x, y = [one.dataset for one in some], [one.bytes for one in some]
        marker = {"color": colour, "pattern": {"shape": pattern}}
        words = "%{y:.3s}B<extra>" + what + "</extra>"
        figure.add_bar(x=x, y=y, name=what, marker=marker, hovertemplate=words)
    figure.update_yaxes(title="bytes, log scale", type="log", exponentformat="SI")
    return layout(figure, 380, barmode="group")


def constant() -> go.Figure:
    """Printed accuracies of rivals that are one class's share of the test set; the class beside."""
    hits = constant_predictors()
    figure = go.Figure()
    figure.add_scatter(
        x=[hit.printed for hit in hits],
        y=[f"{hit.method}, {hit.column}" for hit in hits],
        mode="markers+text",
        text=[f"class {hit.label}" for hit in hits],
        textposition="middle right",
        marker={"size": 10, "color": ORANGE},
        hovertemplate="%{y}: %{x} %<extra></extra>",
    )
    top = max((hit.printed for hit in hits), default=1)
    figure.update_xaxes(**ACCURACY | {"title": "printed accuracy"}, range=[0, top * 1.5])
    return layout(figure, 90 + 26 * len(hits), showlegend=False)


def _of(rows: list[Measured], table: str, row: str) -> list[Measured]:
    """What was measured for one row of a table."""
    return [r for r in rows if (r.table, r.row) == (table, row) and r.mean is not None]


def _mean(points: list[Measured]) -> dict[str, object]:
    """Heights of points with their spread."""
    error = {"array": [r.std for r in points], "thickness": 1, "width": 3}
    return {"y": [r.mean for r in points], "error_y": error}


def _crosses(figure: go.Figure, x: object, y: object, name: str) -> None:
    """What is printed."""
    figure.add_scatter(x=x, y=y, mode="markers", name=name, marker=CROSS)


def _number(words: str) -> float:
    found = re.search(r"= (.+)$", words)
    return math.inf if found is None or found[1] == "∞" else float(found[1])
