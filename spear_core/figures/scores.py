"""How good a run is: accuracy beside its references, confusion, silhouettes, classes."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import clip, frame, layout
from spear_core.figures.palette import BLUE, GREY, ORANGE, PINNED
from spear_core.figures.traces import bar_trace, dot_trace
from spear_core.measures.spread import human_bytes
from spear_core.run import Result

STRIP = 66  # pixels high
LETTER, GAP = 2.6, 2.0  # a letter and the least distance of two names, in points of the line
STAGES = ("raw features", "smoothed")
CHANGE = [(0.0, ORANGE), (0.5, "#DDDDDD"), (1.0, BLUE)]  # fewer, as many, more


def accuracy_strip(
    accuracy: float,
    seeds: Sequence[float] = (),
    references: Mapping[str, float] | None = None,
    pinned: float | None = None,
) -> go.Figure:
    """This run on a line of accuracy that is always the same, from 0 to 100 %.

    Beside it the other seeds, the references and the pinned run, each named above or below the
    line where there is room.
    """
    marks = {} if pinned is None else {"pinned": pinned}
    places = _named_at(marks | dict(references or {}))
    traces = [
        _mark(name, [value], "line-ns-open", GREY, 14, places[name])
        for name, value in (references or {}).items()
    ]
    if seeds:
        traces.append(_mark("five seeds", list(seeds), "line-ns-open", BLUE, 14))
    if pinned is not None:
        traces.append(_mark("pinned", [pinned], "diamond-open", PINNED, 12, places["pinned"]))
    traces.append(_mark("this run", [accuracy], "circle", BLUE, 12))
    return _strip(traces, [0, 100], [0, 25, 50, 75, 100], " %")


def _named_at(marks: Mapping[str, float]) -> dict[str, str]:
    """Where each mark has its name so that no two meet; "" where only the hover has room for it."""
    taken: dict[str, list[tuple[float, float]]] = {"bottom": [], "top": []}
    found = dict.fromkeys(marks, "")
    for name, value in marks.items():
        wide, at = LETTER * len(name), 100 * value
        left = {"center": at - wide / 2, "left": at - wide - GAP, "right": at + GAP}
        for side, start in ((s, x) for x in left for s in taken):
            low, high = left[start], left[start] + wide
            free = all(high + GAP < a or low - GAP > b for a, b in taken[side])
            if free and low >= -5 and high <= 105:
                taken[side].append((low, high))
                found[name] = f"{side} {start}"
                break
    return found


def _strip(
    traces: list[dict[str, object]], ends: list[float], ticks: list[float], unit: str = ""
) -> go.Figure:
    """Marks on one line whose axis stays, whatever is shown."""
    look = frame(STRIP, named=False)
    wide = (ends[1] - ends[0]) / 20  # so that marks at the ends are whole
    look |= {
        "showlegend": False,
        "margin": {"l": 4, "r": 4, "t": 2, "b": 18},
        "xaxis": {
            "range": [ends[0] - wide, ends[1] + wide],
            "tickvals": ticks,
            "ticktext": [f"{tick:g}{unit}" for tick in ticks],
            "tickfont": {"size": 11},
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        "yaxis": {"visible": False, "range": [-1, 1], "fixedrange": True},
    }
    line = {"type": "line", "x0": ends[0], "x1": ends[1], "y0": 0, "y1": 0}
    look["shapes"] = [{**line, "line": {"color": GREY, "width": 1}, "layer": "below"}]
    return go.Figure(traces, look)


def _mark(
    name: str, values: list[float], symbol: str, colour: str, size: int, named: str = ""
) -> dict[str, object]:
    line = {"width": 2, "color": colour}
    look = {"text": [name], "textposition": named, "textfont": {"size": 11}} if named else {}
    return {
        "type": "scatter",
        "x": [100 * v for v in values],
        "y": [0] * len(values),
        "mode": "markers+text" if named else "markers",
        "name": name,
        "marker": {"symbol": symbol, "size": size, "color": colour, "line": line},
        "hovertemplate": f"{name}: %{{x:.1f}} %<extra></extra>",
        "cliponaxis": False,
        **look,
    }


def silhouettes(result: Result, pinned: Result | None = None) -> go.Figure:
    """Cosine silhouette of the test nodes, from raw features (hollow) to smoothed ones (full)."""
    traces = []
    runs = _runs(result, pinned)
    for (name, run, colour), y in zip(runs, (0.0,) if not pinned else (0.45, -0.45), strict=True):
        ends = (run.metrics.silhouette_raw, run.metrics.silhouette_smoothed)
        raw, smoothed = (v if v is not None else math.nan for v in ends)
        marker = {"color": colour, "size": 11, "symbol": ["circle-open", "circle"]}
        said = [f"{what}, {name}: {v:.4f}" for what, v in zip(STAGES, (raw, smoothed), strict=True)]
        line = {"mode": "lines+markers", "line": {"color": colour, "width": 2}}
        traces.append(dot_trace([raw, smoothed], [y, y], name, marker, said, **line))
    return _strip(traces, [-0.2, 0.8], [0, 0.4, 0.8])


def confusion(result: Result, pinned: Result | None = None) -> go.Figure:
    """Test nodes by true class (rows) and predicted class (columns), as shares of the row.

    With a pinned run on the same graph the colour is the change since then, in points.
    """
    table, share = _by_class(result)
    names = [clip(name) for name in result.graph.names]
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
    for name, run, colour in _runs(result, pinned):
        values = [None if v is None else 100 * v for v in run.metrics.class_accuracy]
        said = "class %{x}: %{y:.1f} %"
        figure.add_trace(bar_trace(run.graph.names, values, name, colour, said))
    figure.update_xaxes(title="class", type="category")
    figure.update_yaxes(title="accuracy", ticksuffix=" %", range=[0, 100])
    return layout(figure, 420, barmode="group", showlegend=pinned is not None)


def traffic(result: Result, pinned: Result | None = None) -> go.Figure:
    """Bytes by who sends: SPEAR up and down, counted, and FedAvg, by formula, on a log axis."""
    names = ["SPEAR, up", "SPEAR, down<br>(if sent back)", "FedAvg, both ways<br>(by formula)"]
    figure = go.Figure()
    for name, run, colour in _runs(result, pinned):
        m = run.metrics
        values = [m.bytes_up_total, m.bytes_down_total, m.fedavg_bytes()]
        look = {"orientation": "h", "textposition": "auto"}
        text, said = [human_bytes(v) for v in values], f"%{{y}}, {name}: %{{text}}"
        shades = [colour, colour, GREY]
        figure.add_trace(bar_trace(values, names, name, shades, said, text=text, **look))
    figure.update_xaxes(type="log", title="bytes, all clients together")
    figure.update_yaxes(autorange="reversed")
    return layout(figure, 240, barmode="group", showlegend=pinned is not None)


def _runs(result: Result, pinned: Result | None) -> list[tuple[str, Result, str]]:
    """The run and the pinned one, where there is one, each with its name and colour."""
    return [("this run", result, BLUE)] + ([("pinned", pinned, PINNED)] if pinned else [])
