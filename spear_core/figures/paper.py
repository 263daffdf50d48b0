"""Figures that set our measurement beside the paper's print."""

import math
import re

import plotly.graph_objects as go

from spear_core.figures.common import BLUE, GREEN, GREY, ORANGE, layout
from spear_core.figures.palette import class_colours
from spear_core.paper.findings import constant_predictors, like_for_like
from spear_core.paper.measured import Measured
from spear_core.paper.printed import claim, quoted


def curve(rows: list[Measured], table: str) -> go.Figure:
    """Accuracy over one knob with its spread, a line a dataset; quoted values are marked."""
    figure = go.Figure()
    names = list(dict.fromkeys(row.row for row in rows if row.table == table))
    for name, colour in zip(names, class_colours(len(names)), strict=True):
        points = [r for r in rows if r.table == table and r.row == name and r.mean is not None]
        if not points:
            continue
        text = [row.column.split(" = ")[1] for row in points]
        figure.add_trace(
            go.Scatter(
                x=text,
                y=[row.mean for row in points],
                error_y={"array": [row.std for row in points], "thickness": 1, "width": 3},
                mode="lines+markers",
                name=name,
                line={"color": colour},
                hovertemplate="%{x}: %{y:.2f} ± %{error_y.array:.2f}",
            )
        )
    for name, x, y in quoted(table):
        figure.add_trace(
            go.Scatter(
                x=[f"{x:g}"],
                y=[y],
                mode="markers",
                name=f"quoted in the text, {name}",
                marker={"symbol": "x", "size": 11, "color": ORANGE},
                hovertemplate=f"the paper quotes {y:g}<extra></extra>",
            )
        )
    symbol = table.split()[0] if table != "boundary" else "β"
    figure.update_xaxes(title=symbol, type="category")
    figure.update_yaxes(title="accuracy, %")
    return layout(figure, 420)


def ablation(rows: list[Measured]) -> go.Figure:
    """SPEAR, its plain mean and its count-weighted mean without shrinkage, with the print."""
    figure = go.Figure()
    for row, words, colour in (
        ("full", "SPEAR", BLUE),
        ("λ = 0, count weights kept", "no shrinkage, count weights kept", GREEN),
        ("without shrinkage", "no shrinkage, no count weights", GREY),
    ):
        points = [r for r in rows if (r.table, r.row) == ("ablation", row) and r.mean is not None]
        figure.add_bar(
            x=[r.column for r in points],
            y=[r.mean for r in points],
            error_y={"array": [r.std for r in points], "thickness": 1, "width": 3},
            name=words,
            marker_color=colour,
        )
    printed = [
        r
        for r in rows
        if (r.table, r.row) == ("ablation", "without shrinkage") and r.mean is not None
    ]
    figure.add_scatter(
        x=[r.column for r in printed],
        y=[r.printed for r in printed],
        mode="markers",
        name="printed as without shrinkage",
        marker={"symbol": "x", "size": 11, "color": ORANGE},
    )
    figure.update_yaxes(title="accuracy, %")
    return layout(figure, 380, barmode="group")


def steep(rows: list[Measured]) -> go.Figure:
    """Cora over α at two steps, the quoted value, and what one step gives."""
    points = [r for r in rows if (r.table, r.row) == ("α curve", "Cora") and r.mean is not None]
    figure = go.Figure()
    figure.add_scatter(
        x=[_number(r.column) for r in points],
        y=[r.mean for r in points],
        error_y={"array": [r.std for r in points], "thickness": 1, "width": 3},
        mode="lines+markers",
        name="measured, T = 2",
        line={"color": BLUE},
    )
    one = [r for r in rows if r.row == "Cora, α = 0.8, T = 1" and r.mean is not None]
    figure.add_scatter(
        x=[0.8 for _ in one],
        y=[r.mean for r in one],
        error_y={"array": [r.std for r in one], "thickness": 1, "width": 3},
        mode="markers",
        name="measured, T = 1",
        marker={"symbol": "square", "size": 10, "color": GREEN},
    )
    figure.add_scatter(
        x=[0.8],
        y=[claim("Cora alpha=0.80")],
        mode="markers",
        name="quoted",
        marker={"symbol": "x", "size": 11, "color": ORANGE},
    )
    figure.update_xaxes(title="α")
    figure.update_yaxes(title="accuracy on Cora, %")
    return layout(figure, 360)


def byzantine(rows: list[Measured]) -> go.Figure:
    """Three lying clients: what is printed for SPEAR, what we measure."""
    points = [r for r in rows if (r.table, r.row) == ("byzantine", "SPEAR") and r.mean is not None]
    x = [r.column.replace(" beta=", ", β = ") for r in points]
    figure = go.Figure()
    figure.add_bar(
        x=x,
        y=[r.mean for r in points],
        error_y={"array": [r.std for r in points], "thickness": 1, "width": 3},
        name="measured, three random clients flip",
        marker_color=BLUE,
    )
    figure.add_scatter(
        x=x,
        y=[r.printed for r in points],
        mode="markers",
        name="printed",
        marker={"symbol": "x", "size": 11, "color": ORANGE},
    )
    figure.update_yaxes(title="accuracy, %")
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
        figure.add_bar(
            x=[one.dataset for one in some],
            y=[one.bytes for one in some],
            name=what,
            marker={"color": colour, "pattern": {"shape": pattern}},
            hovertemplate="%{y:.3s}B<extra>" + what + "</extra>",
        )
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
    figure.update_xaxes(title="printed accuracy, %", range=[0, top * 1.5])
    return layout(figure, 90 + 26 * len(hits), showlegend=False)


def _number(words: str) -> float:
    found = re.search(r"= (.+)$", words)
    return math.inf if found is None or found[1] == "∞" else float(found[1])
