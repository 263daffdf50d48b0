"""Figures of the theory behind shrinkage: the risk over λ, errors over counts, peers' variance."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import layout, log_axis, log_ticks
from spear_core.figures.palette import BLUE, GREEN, GREY, ORANGE, PINNED
from spear_core.figures.traces import Trace, dot_trace, line_trace
from spear_core.studies.risk import Simulation
from spear_core.studies.risk_check import Check


def risk_curve(seen: Simulation) -> go.Figure:
    """Simulated risk over λ beside the predicted curve, its minimum and the local variance."""
    figure = go.Figure()
    figure.add_trace(line_trace(seen.lam, seen.theory, "predicted", BLUE))
    marker = {"symbol": "circle-open", "size": 8, "color": ORANGE}
    bars = {"type": "data", "array": 2 * seen.error, "thickness": 1}
    name = "simulated, ± 2 standard errors"
    figure.add_trace(dot_trace(seen.lam, seen.measured, name, marker, error_y=bars))
    figure.add_trace(line_trace([0, 1], [seen.local] * 2, "local variance σ₀²/n", GREY, "dash"))
    star = {"symbol": "star", "size": 16, "color": GREEN}
    least = f"least at λ* = {seen.best:.2f}"
    figure.add_trace(dot_trace([seen.best], [seen.best_risk], least, star))
    figure.update_xaxes(title="λ, pull to the peers", range=[-0.03, 1.03], zeroline=False)
    figure.update_yaxes(title="squared error per feature", rangemode="tozero")
    return layout(figure, 380)


def error_over_count(seen: Check, names: Sequence[str], pinned: Check | None = None) -> go.Figure:
    """Squared error of every local prototype over its n, with the fitted slope and with -1."""
    good = seen.error > 0
    n, error = seen.n[good], seen.error[good]
    top = float(max(r.n.max(initial=1) for r in (seen, pinned) if r) * 1.3)
    x = np.geomspace(1, top, 2)
    figure = go.Figure()
    if seen.sigma2 is not None:
        figure.add_trace(line_trace(x, seen.sigma2 / x, "σ₀²/n, slope −1", GREY, "dash"))
    if seen.slope is not None:
        line = np.exp(seen.slope.intercept + seen.slope.slope * np.log(x))
        name = f"fitted, slope {seen.slope.slope:.2f}".replace("-", "−")
        figure.add_trace(line_trace(x, line, name, BLUE))
    if pinned:
        figure.add_trace(_pinned_dots(pinned, pinned.n, pinned.error, names))
    text = [f"{_pair(seen, i, names)}<br>error {seen.error[i]:.3g}" for i in good.nonzero()[0]]
    marker = {"size": 9, "color": ORANGE}
    figure.add_trace(dot_trace(n, error, "local prototype", marker, text))
    log_axis(figure, "n, training nodes of the prototype", 1, top)
    figure.update_yaxes(title="squared error", **log_ticks(error))
    return layout(figure, 380)


def peer_variance(seen: Check, names: Sequence[str], pinned: Check | None = None) -> go.Figure:
    """Squared error of every peer mean over its exact variance; τ² is one height for all."""
    rows = (seen.pulled & (seen.peer_error > 0)).nonzero()[0]
    exact, error = seen.exact[rows], seen.peer_error[rows]
    figure = go.Figure()
    if len(rows):
        ends = np.array([exact.min() / 1.4, exact.max() * 1.4])
        figure.add_trace(line_trace(ends, ends, "exact variance", BLUE))
        figure.add_trace(line_trace(ends, [seen.tau2] * 2, "one τ² for all", GREY, "dash"))
    if pinned:
        old = np.where(pinned.pulled, pinned.peer_error, 0)
        figure.add_trace(_pinned_dots(pinned, pinned.exact, old, names))
    text = [f"peers of {_pair(seen, i, names)}<br>error {seen.peer_error[i]:.3g}" for i in rows]
    figure.add_trace(dot_trace(exact, error, "peer mean", {"size": 9, "color": ORANGE}, text))
    figure.update_xaxes(title="exact variance of the peer mean", **log_ticks(exact))
    figure.update_yaxes(title="its squared error", **log_ticks(np.concatenate([exact, error])))
    return layout(figure, 380)


def _pinned_dots(seen: Check, x: np.ndarray, error: np.ndarray, names: Sequence[str]) -> Trace:
    rows = (error > 0).nonzero()[0]
    text = [f"pinned: {_pair(seen, i, names)}<br>error {error[i]:.3g}" for i in rows]
    marker = {"symbol": "circle-open", "size": 8, "color": PINNED}
    return dot_trace(x[rows], error[rows], "pinned", marker, text)


def _pair(seen: Check, i: np.integer, names: Sequence[str]) -> str:
    return f"client {seen.client[i]}, class {names[seen.label[i]]}, n = {seen.n[i]:.0f}"
