"""Figures of shrinkage: weights over counts, errors, accuracy over γ, the ablation."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spear_core.figures.common import clip, layout, log_axis
from spear_core.figures.palette import BLUE, BLUE_BAND, GREEN, GREY, ORANGE, PINNED
from spear_core.figures.traces import Trace, band_trace, best_trace, dot_trace, line_trace
from spear_core.run import Result
from spear_core.settings import Settings, equation, written
from spear_core.studies.ablation import Ablation

STAGES = {  # column of class_errors -> its name, symbol and colour
    "local": ("local", "diamond-open", ORANGE),
    "shrunk": ("shrunk", "diamond", GREEN),
    "spear": ("global", "star", BLUE),
}


def weight_curve(result: Result, pinned: Result | None = None) -> go.Figure:
    """λ over n, with every uploaded prototype as a dot; lone holders are not pulled."""
    figure = go.Figure()
    most = [r.uploads.counts.cpu().numpy().max(initial=1) for r in (result, pinned) if r]
    top = max(10.0, 1.3 * float(max(most)))
    x = np.geomspace(1, top, 120)
    if pinned:
        name = f"pinned, {equation('gamma', pinned.settings.gamma)}"
        figure.add_trace(line_trace(x, _weight(x, pinned.settings), name, PINNED, "dash"))
        n, lam, _, text = _pulls(pinned)
        marker = {"symbol": "circle-open", "size": 7, "color": PINNED}
        text = [f"pinned: {words}" for words in text]
        figure.add_trace(dot_trace(n, lam, "pinned", marker, text, showlegend=False))
    name = f"λ = 1/(1 + γn), {equation('gamma', result.settings.gamma)}"
    figure.add_trace(line_trace(x, _weight(x, result.settings), name, BLUE))
    n, lam, lone, text = _pulls(result)
    for name, rows, symbol, colour in (
        ("pulled to peers", ~lone, "circle", BLUE),
        ("alone, not pulled", lone, "circle-open", ORANGE),
    ):
        if rows.any():
            look = {"symbol": symbol, "size": 10, "color": colour}
            marker = {**look, "line": {"width": 2, "color": colour}}
            words = [text[i] for i in rows.nonzero()[0]]
            figure.add_trace(dot_trace(n[rows], lam[rows], name, marker, words))
    log_axis(figure, "n, training nodes of the prototype", 1, top)
    figure.update_yaxes(title="λ, pull to the peers", range=[-0.03, 1.03], zeroline=False)
    return layout(figure, 360)


def _pulls(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """n, λ, whether it has no peers, and these in words, for every uploaded prototype."""
    up, names = result.uploads, result.graph.names
    client, label, n = (v.cpu().numpy() for v in (up.client, up.label, up.counts))
    lam = result.estimate.weights.cpu().numpy()[client, label]
    lone = np.bincount(label, minlength=up.classes)[label] == 1
    text = [
        f"client {k}, class {names[c]}<br>n = {m}, λ = {w:.3f}"
        + ("<br>no other holder: not pulled" if alone else "")
        for k, c, m, w, alone in zip(client, label, n, lam, lone, strict=True)
    ]
    return n, lam, lone, text


def error_steps(
    errors: dict[str, list], names: Sequence[str], pinned: dict[str, list] | None = None
) -> go.Figure:
    """Cosine distance to the true centroid of every class: local, shrunk, global."""
    rows = ["average", *(clip(names[c]) for c in reversed(errors["class"]))]
    at = list(range(len(rows)))

    def values(table: dict[str, list], stage: str) -> list[float]:
        column = list(reversed(table[stage]))
        return [sum(column) / max(1, len(column)), *column]

    figure = go.Figure()
    ends = [[values(errors, stage)[i] for stage in STAGES] for i in at]
    spans = [x for span in ends for x in (min(span), max(span), None)]  # None lifts the pen
    heights = [y for i in at for y in (i, i, None)]
    thin: Trace = {"line": {"color": GREY, "width": 1}, "showlegend": False}
    figure.add_trace(line_trace(spans, heights, "", GREY, **thin))
    if pinned is not None and pinned["class"] == errors["class"]:
        marker = {"symbol": "star-open", "size": 12, "color": PINNED}
        x = values(pinned, "spear")
        text = [f"{row}, pinned: {v:.4f}" for row, v in zip(rows, x, strict=True)]
        figure.add_trace(dot_trace(x, at, "global, pinned", marker, text))
    for stage, (name, symbol, colour) in STAGES.items():
        edge = {"width": 1.5, "color": colour}
        marker = {"symbol": symbol, "size": 11, "color": colour, "line": edge}
        x = values(errors, stage)
        text = [f"{row}, {name}: {v:.4f}" for row, v in zip(rows, x, strict=True)]
        figure.add_trace(dot_trace(x, at, name, marker, text))
    far = max((max(span) for span in ends), default=1.0) or 1.0
    x_range = [-0.03 * far, 1.05 * far]
    figure.update_xaxes(title="cosine distance to the true centroid", range=x_range, zeroline=False)
    figure.update_yaxes(
        tickvals=at, ticktext=rows, range=[-0.6, len(rows) - 0.4], zeroline=False, showgrid=False
    )
    return layout(figure, max(300, min(720, 134 + 24 * len(names))))


def accuracy_over_gamma(
    gammas: Sequence[float],
    curve: np.ndarray,
    here: tuple[float, float],
    band: np.ndarray | None = None,
    pinned: np.ndarray | None = None,
) -> go.Figure:
    """Accuracy of this seed over γ, the band of several seeds, and the present point."""
    x = [_place(g) for g in gammas]
    figure = go.Figure()
    if band is not None:
        mean, std = band.mean(0), band.std(0)
        figure.add_trace(band_trace(x, mean - std, mean + std, BLUE_BAND, "± over five seeds"))
        figure.add_trace(line_trace(x, mean, "mean of five seeds", BLUE, "dot"))
    if pinned is not None:
        figure.add_trace(line_trace(x, pinned, "pinned", PINNED, "dash"))
    figure.add_trace(line_trace(x, curve, "this seed", BLUE))
    said = {"hoverinfo": None, "hovertemplate": "%{text}: %{y:.1f} %"}
    for trace in figure.data:
        if trace.fill is None:
            trace.update(said, text=[equation("gamma", g) for g in gammas])
    marker = {"symbol": "circle", "size": 14, "color": ORANGE}
    text = [f"{equation('gamma', here[0])}: {here[1]:.1f} %"]
    figure.add_trace(dot_trace([_place(here[0])], [here[1]], "you are here", marker, text))
    words = [f"{equation('gamma', g)}, {y:.1f} %" for g, y in zip(gammas, curve, strict=True)]
    figure.add_trace(best_trace(x, curve.tolist(), words, BLUE))
    shown = [g for g in (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, math.inf) if g in gammas]
    figure.update_xaxes(
        title="γ: 0 takes the peers alone, ∞ does not shrink",
        tickvals=[_place(g) for g in shown],
        ticktext=[written("gamma", g) for g in shown],
        zeroline=False,
    )
    figure.update_yaxes(title="accuracy", ticksuffix=" %", zeroline=False)
    return layout(figure, 380)


def ablation_lines(found: Ablation, pinned: Ablation | None = None) -> go.Figure:
    """All eight cells: flat lines mean that shrinkage changes nothing, gaps are count weights."""
    figure = make_subplots(
        1, 2, shared_yaxes=True, horizontal_spacing=0.04,
        subplot_titles=("raw features", "smoothed features"),
    )  # fmt: skip
    for smoothing in (0, 1):
        for counts, name, colour, symbol in (
            (1, "count weights on", BLUE, "circle"),
            (0, "count weights off", ORANGE, "diamond"),
        ):
            if pinned:
                old = pinned.cells[smoothing, :, counts].mean(1)
                look: Trace = {"mode": "lines+markers", "hoverinfo": None, "legendgroup": "pinned"}
                look["hovertemplate"] = f"pinned, {name}: %{{y:.1f}} %"
                look["marker"] = {"size": 8, "symbol": f"{symbol}-open"}
                look["showlegend"] = smoothing == counts == 1
                line = line_trace([0, 1], old, "pinned", PINNED, "dash", **look)
                figure.add_trace(line, 1, smoothing + 1)
            cells = found.cells[smoothing, :, counts]  # (2, S)
            x = [0.03 - 0.06 * counts, 1.03 - 0.06 * counts]  # bars beside each other
            bars = {"type": "data", "array": cells.std(1), "thickness": 1.5}
            marker, line = {"size": 10, "symbol": symbol}, {"color": colour}
            more = {"mode": "lines+markers", "line": line, "showlegend": smoothing == 1}
            said = f"{name}: %{{y:.1f}} %"
            dots = dot_trace(x, cells.mean(1), name, marker, said, error_y=bars, **more)
            figure.add_trace(dots, 1, smoothing + 1)
    figure.update_xaxes(
        tickvals=[0, 1], ticktext=["no shrinkage", "shrinkage"], range=[-0.4, 1.4], zeroline=False
    )
    figure.update_yaxes(ticksuffix=" %", zeroline=False)
    return layout(figure, 380).update_layout(margin_t=64, legend_y=1.1)


def _weight(n: np.ndarray, settings: Settings) -> np.ndarray:
    return 1 / (1 + settings.gamma * n) if settings.shrinkage else np.zeros_like(n)


def _place(gamma: float) -> float:
    """Where γ stands on an axis that is logarithmic between 0.01 and 100, with 0 and ∞ beside."""
    if gamma == 0:
        return -3.0
    return 3.0 if math.isinf(gamma) else min(2.6, max(-2.6, math.log10(gamma)))
