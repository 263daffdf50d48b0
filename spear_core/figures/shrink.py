"""Figures of shrinkage: weights over counts, errors, accuracy over γ, the ablation, the risk."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spear_core.ablation import Ablation
from spear_core.figures.common import BLUE, GREEN, GREY, ORANGE, class_names, layout
from spear_core.risk import Check, Simulation
from spear_core.run import Result
from spear_core.settings import Settings

STAGES = {  # column of risk.class_errors -> its name, symbol and colour
    "local": ("local", "diamond-open", ORANGE),
    "shrunk": ("shrunk", "diamond", GREEN),
    "spear": ("global", "star", BLUE),
}


def weight_curve(result: Result, pinned: Settings | None = None) -> go.Figure:
    """λ over n, with every uploaded prototype as a dot; lone holders are not pulled."""
    up, names = result.uploads, class_names(result)
    n = up.counts.cpu().numpy()
    lam = result.estimate.weights[up.client, up.label].cpu().numpy()
    holders = np.bincount(up.label.cpu().numpy(), minlength=up.classes)[up.label.cpu().numpy()]
    top = float(max(10, n.max(initial=1) * 1.3))
    figure = go.Figure()
    x = np.geomspace(1, top, 120)
    if pinned is not None:
        name = f"pinned, γ = {_short(pinned.gamma)}"
        figure.add_trace(_line(x, _weight(x, pinned), name, GREY, "dash"))
    name = f"λ = 1/(1 + γn), γ = {_short(result.settings.gamma)}"
    figure.add_trace(_line(x, _weight(x, result.settings), name, BLUE))
    for name, rows, symbol, colour in (
        ("pulled to peers", holders > 1, "circle", BLUE),
        ("alone, not pulled", holders == 1, "circle-open", ORANGE),
    ):
        if not rows.any():
            continue
        text = [
            f"client {k}, class {names[c]}<br>n = {m}, λ = {w:.3f}"
            + ("<br>no other holder: not pulled" if h == 1 else "")
            for k, c, m, w, h in zip(
                up.client[rows].tolist(),
                up.label[rows].tolist(),
                n[rows],
                lam[rows],
                holders[rows],
                strict=True,
            )
        ]
        marker = {
            "symbol": symbol,
            "size": 10,
            "color": colour,
            "line": {"width": 2, "color": colour},
        }
        figure.add_trace(_dots(n[rows], lam[rows], name, marker, text))
    _log_axis(figure, "n, training nodes of the prototype", 1, top)
    figure.update_yaxes(title="λ, pull to the peers", range=[-0.03, 1.03], zeroline=False)
    return layout(figure, 360)


def error_steps(
    errors: dict[str, list], names: Sequence[str], pinned: dict[str, list] | None = None
) -> go.Figure:
    """Cosine distance to the true centroid of every class: local, shrunk, global."""
    rows = ["average", *(_clip(names[c]) for c in reversed(errors["class"]))]
    at = list(range(len(rows)))

    def values(table: dict[str, list], stage: str) -> list[float]:
        column = list(reversed(table[stage]))
        return [sum(column) / max(1, len(column)), *column]

    figure = go.Figure()
    ends = [[values(errors, stage)[i] for stage in STAGES] for i in at]
    spans = [x for span in ends for x in (min(span), max(span), None)]  # None lifts the pen
    heights = [y for i in at for y in (i, i, None)]
    figure.add_trace(_line(spans, heights, "", GREY).update(line_width=1, showlegend=False))
    if pinned is not None and pinned["class"] == errors["class"]:
        marker = {"symbol": "star-open", "size": 12, "color": GREY}
        text = [
            f"{row}, pinned: {v:.4f}" for row, v in zip(rows, values(pinned, "spear"), strict=True)
        ]
        figure.add_trace(_dots(values(pinned, "spear"), at, "global, pinned", marker, text))
    for stage, (name, symbol, colour) in STAGES.items():
        marker = {
            "symbol": symbol,
            "size": 11,
            "color": colour,
            "line": {"width": 1.5, "color": colour},
        }
        text = [
            f"{row}, {name}: {v:.4f}" for row, v in zip(rows, values(errors, stage), strict=True)
        ]
        figure.add_trace(_dots(values(errors, stage), at, name, marker, text))
    far = max((max(span) for span in ends), default=1.0) or 1.0
    x_range = [-0.03 * far, 1.05 * far]
    figure.update_xaxes(title="cosine distance to the true centroid", range=x_range, zeroline=False)
    figure.update_yaxes(
        tickvals=at, ticktext=rows, range=[-0.6, len(rows) - 0.4], zeroline=False, showgrid=False
    )
    return layout(figure, max(300, min(720, 110 + 24 * len(rows))))


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
        edge = {"x": [*x, *x[::-1]], "y": [*(mean + std), *(mean - std)[::-1]]}
        figure.add_trace(
            go.Scatter(
                **edge, fill="toself", mode="lines", line={"width": 0}, hoverinfo="skip",
                fillcolor="rgba(0,114,178,0.18)", name="± over five seeds",
            )
        )  # fmt: skip
        figure.add_trace(_line(x, mean, "mean of five seeds", BLUE, "dot"))
    if pinned is not None:
        figure.add_trace(_line(x, pinned, "pinned", GREY, "dash"))
    figure.add_trace(_line(x, curve, "this seed", BLUE))
    said = {"hoverinfo": None, "hovertemplate": "γ = %{text}: %{y:.2f} %"}
    for trace in figure.data:
        if trace.fill is None:
            trace.update(said, text=[_short(g) for g in gammas])
    marker = {"symbol": "circle", "size": 14, "color": ORANGE}
    text = [f"γ = {_short(here[0])}: {here[1]:.2f} %"]
    figure.add_trace(_dots([_place(here[0])], [here[1]], "you are here", marker, text))
    shown = [g for g in (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, math.inf) if g in gammas]
    figure.update_xaxes(
        title="γ: 0 takes the peers alone, ∞ does not shrink",
        tickvals=[_place(g) for g in shown],
        ticktext=[_short(g) for g in shown],
        zeroline=False,
    )
    figure.update_yaxes(title="accuracy", ticksuffix=" %", zeroline=False)
    return layout(figure, 380)


def ablation_lines(found: Ablation) -> go.Figure:
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
            cells = found.cells[smoothing, :, counts]  # (2, S)
            figure.add_trace(
                go.Scatter(
                    x=[0.03 - 0.06 * counts, 1.03 - 0.06 * counts],  # bars beside each other
                    y=cells.mean(1),
                    error_y={"type": "data", "array": cells.std(1), "thickness": 1.5},
                    mode="lines+markers",
                    line={"color": colour},
                    marker={"size": 10, "symbol": symbol},
                    name=name,
                    showlegend=smoothing == 1,
                    hovertemplate=f"{name}: %{{y:.2f}} %<extra></extra>",
                ),
                1,
                smoothing + 1,
            )
    figure.update_xaxes(
        tickvals=[0, 1], ticktext=["no shrinkage", "shrinkage"], range=[-0.4, 1.4], zeroline=False
    )
    figure.update_yaxes(ticksuffix=" %", zeroline=False)
    return layout(figure, 380).update_layout(margin_t=64, legend_y=1.1)


def risk_curve(seen: Simulation) -> go.Figure:
    """Simulated risk over λ beside the predicted curve, its minimum and the local variance."""
    figure = go.Figure()
    figure.add_trace(_line(seen.lam, seen.theory, "predicted", BLUE))
    marker = {"symbol": "circle-open", "size": 8, "color": ORANGE}
    dots = _dots(seen.lam, seen.measured, "simulated, ± 2 standard errors", marker)
    dots.update(error_y={"type": "data", "array": 2 * seen.error, "thickness": 1})
    figure.add_trace(dots)
    figure.add_trace(_line([0, 1], [seen.local] * 2, "local variance σ₀²/n", GREY, "dash"))
    star = {"symbol": "star", "size": 16, "color": GREEN}
    figure.add_trace(_dots([seen.best], [seen.best_risk], f"least at λ* = {seen.best:.2f}", star))
    figure.update_xaxes(title="λ, pull to the peers", range=[-0.03, 1.03], zeroline=False)
    figure.update_yaxes(title="squared error per feature", rangemode="tozero")
    return layout(figure, 380)


def error_over_count(seen: Check, names: Sequence[str]) -> go.Figure:
    """Squared error of every local prototype over its n, with the fitted slope and with -1."""
    good = seen.error > 0
    n, error = seen.n[good], seen.error[good]
    top = float(n.max(initial=1) * 1.3)
    x = np.geomspace(1, top, 2)
    figure = go.Figure()
    if seen.sigma2 is not None:
        figure.add_trace(_line(x, seen.sigma2 / x, "σ₀²/n, slope −1", GREY, "dash"))
    if seen.slope is not None:
        line = np.exp(seen.slope.intercept + seen.slope.slope * np.log(x))
        name = f"fitted, slope {seen.slope.slope:.2f}".replace("-", "−")
        figure.add_trace(_line(x, line, name, BLUE))
    text = [f"{_pair(seen, i, names)}<br>error {seen.error[i]:.3g}" for i in good.nonzero()[0]]
    marker = {"size": 9, "color": ORANGE}
    figure.add_trace(_dots(n, error, "local prototype", marker, text))
    _log_axis(figure, "n, training nodes of the prototype", 1, top)
    figure.update_yaxes(title="squared error", **_log_ticks(error))
    return layout(figure, 380)


def peer_variance(seen: Check, names: Sequence[str]) -> go.Figure:
    """Squared error of every peer mean over its exact variance; τ² is one height for all."""
    rows = (seen.pulled & (seen.peer_error > 0)).nonzero()[0]
    exact, error = seen.exact[rows], seen.peer_error[rows]
    figure = go.Figure()
    if len(rows):
        ends = np.array([exact.min() / 1.4, exact.max() * 1.4])
        figure.add_trace(_line(ends, ends, "exact variance", BLUE))
        figure.add_trace(_line(ends, [seen.tau2] * 2, "one τ² for all", GREY, "dash"))
    text = [f"peers of {_pair(seen, i, names)}<br>error {seen.peer_error[i]:.3g}" for i in rows]
    figure.add_trace(_dots(exact, error, "peer mean", {"size": 9, "color": ORANGE}, text))
    figure.update_xaxes(title="exact variance of the peer mean", **_log_ticks(exact))
    figure.update_yaxes(title="its squared error", **_log_ticks(np.concatenate([exact, error])))
    return layout(figure, 380)


def _line(x: object, y: object, name: str, colour: str, dash: str = "solid") -> go.Scatter:
    line = {"color": colour, "width": 2, "dash": dash}
    return go.Scatter(x=x, y=y, mode="lines", name=name, line=line, hoverinfo="skip")


def _dots(
    x: object, y: object, name: str, marker: dict, text: Sequence[str] | None = None
) -> go.Scatter:
    hover = "%{text}<extra></extra>" if text is not None else f"{name}: %{{y:.4g}}<extra></extra>"
    return go.Scatter(
        x=x, y=y, mode="markers", name=name, marker=marker, text=text, hovertemplate=hover
    )


def _weight(n: np.ndarray, settings: Settings) -> np.ndarray:
    return 1 / (1 + settings.gamma * n) if settings.shrinkage else np.zeros_like(n)


def _pair(seen: Check, i: np.integer, names: Sequence[str]) -> str:
    return f"client {seen.client[i]}, class {names[seen.label[i]]}, n = {seen.n[i]:.0f}"


def _log_axis(figure: go.Figure, title: str, low: float, high: float) -> None:
    ends = [math.log10(low) - 0.05, math.log10(high)]
    figure.update_xaxes(title=title, range=ends, **_log_ticks(np.array([low, high])))


def _log_ticks(values: np.ndarray) -> dict:
    """A logarithmic axis with plain numbers at 1, 2 and 5, or at powers of ten if it is long."""
    good = values[values > 0]
    low, high = (math.floor(math.log10(v)) for v in (good.min(initial=1), good.max(initial=1)))
    steps = (1, 2, 5) if high - low <= 2 else (1,)
    ticks = [step * 10.0**e for e in range(low - 1, high + 2) for step in steps]
    text = [f"{t:g}" for t in ticks]
    return {"type": "log", "tickvals": ticks, "ticktext": text, "zeroline": False}


def _place(gamma: float) -> float:
    """Where γ stands on an axis that is logarithmic between 0.01 and 100, with 0 and ∞ beside."""
    if gamma == 0:
        return -3.0
    return 3.0 if math.isinf(gamma) else min(2.6, max(-2.6, math.log10(gamma)))


def _short(gamma: float) -> str:
    return "∞" if math.isinf(gamma) else f"{gamma:g}"


def _clip(name: str) -> str:
    return name if len(name) <= 18 else name[:17] + "…"
