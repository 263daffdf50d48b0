"""The curves of the Smooth page: what another α or T would give."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import link, runs, show
from spear_core import PAPER_SEEDS, Graph, Result, Settings, grid
from spear_core.figures import smooth as figures
from spear_core.lance.gate import at_test
from spear_core.measures.silhouette import silhouette
from spear_core.measures.spread import percent

OVER_ALPHA, OVER_STEPS, SILHOUETTE = link.choices("smooth_curve")
ALPHAS = tuple(i / 20 for i in range(20))
Files = dict[str, pd.DataFrame]  # what is exported
FEW = 5_000  # nodes up to which all five seeds are drawn
LONG = 15_000_000  # scores that a curve is put together from, (T + 1)² for every node and class
FIXED = """from dataclasses import replace
from spear_core.lance.gate import at_test
def fixed(s):
    return replace(at_test(r.graph, s), smoothing="fixed", test_alpha=-1.0, test_steps=-1)
"""
LINES = (
    FIXED
    + """from spear_core import PAPER_SEEDS, grid
x = {x}
def line(s):
    now = fixed(s)
    return (100 * grid(now, {grid}).accuracy.flatten()).tolist()
lines = [line(replace(s, seed=seed)) for seed in {seeds}]
here = (fixed(s).{knob}, None if r.metrics.accuracy is None else 100 * r.metrics.accuracy)
draw.curve(x, lines, here, "{knob}"{also})"""
)
SILHOUETTES = (
    FIXED
    + """from spear_core.measures.silhouette import silhouette
now, x = fixed(s), [i / 20 for i in range(20)]
line = [silhouette(r.graph, alpha, now.steps) for alpha in x]
line = [float("nan") if value is None else value for value in line]
here, level = (now.alpha, r.metrics.silhouette_smoothed), ("raw features", r.metrics.silhouette_raw)
draw.curve(x, [line], here, "alpha", "silhouette", level=level)"""
)


@st.cache_data(max_entries=256, show_spinner=False)
def over_alpha(settings: Settings) -> list[float]:
    found = grid(settings, ALPHAS, [settings.gamma], [settings.steps])
    return (100 * found.accuracy.flatten()).tolist()


@st.cache_data(max_entries=256, show_spinner=False)
def over_steps(settings: Settings, most: int) -> list[float]:
    steps = range(most + 1)
    found = grid(settings, [settings.alpha], [settings.gamma], steps)
    return (100 * found.accuracy.flatten()).tolist()


@st.cache_data(max_entries=64, show_spinner="Silhouettes …")
def silhouettes(settings: Settings, _graph: Graph) -> list[float | None]:
    return [silhouette(_graph, alpha, settings.steps) for alpha in ALPHAS]


def fixed(settings: Settings, result: Result) -> Settings:
    """The settings with what the gate chose as everybody's α and T: a curve moves those."""
    now = at_test(result.graph, settings)
    return replace(now, smoothing="fixed", test_alpha=-1.0, test_steps=-1)


def alpha(result: Result, pinned: Result | None) -> Files:
    """Accuracy over α."""
    line = _accuracies(result, pinned, lambda s: over_alpha(replace(fixed(s, result), alpha=0.0)))
    over = "[i / 20 for i in range(20)]", "x, [now.gamma], [now.steps]"
    return _draw(OVER_ALPHA, result, ALPHAS, line, "alpha", over)


def steps(result: Result, pinned: Result | None) -> Files:
    """Accuracy over T."""
    most = _most_steps(result)
    line = _accuracies(
        result, pinned, lambda s: over_steps(replace(fixed(s, result), steps=0), most)
    )
    x = tuple(range(most + 1))
    over = f"list(range({most + 1}))", "[now.alpha], [now.gamma], x"
    return _draw(OVER_STEPS, result, x, line, "steps", over)


def silhouettes_over_alpha(result: Result, pinned: Result | None) -> Files:
    """Silhouette over α: that of the graph that is tested on."""
    metrics, settings = result.metrics, result.settings
    values = silhouettes(_of_the_graph(fixed(settings, result)), result.graph)
    here = (fixed(settings, result).alpha, metrics.silhouette_smoothed)
    level = ("raw features", metrics.silhouette_raw)
    line = [math.nan if value is None else value for value in values]
    figure = figures.curve(ALPHAS, [line], here, "alpha", "silhouette", level=level)
    return _show(SILHOUETTE, ALPHAS, [line], figure, SILHOUETTES)


def _of_the_graph(s: Settings) -> Settings:
    """What the graph that is tested on depends on; all else is level.

    It knows nothing of clients, unless edges have changed inside each of them.
    """
    same = replace(s, alpha=0.0, gamma=0.5)
    if s.noise_test and s.edge_noise > 0 and s.noise_when == "after":
        return same
    return replace(same, clients=1, beta=1.0, partition="iid")


CURVES: dict[str, Callable[[Result, Result | None], Files]] = {
    OVER_ALPHA: alpha,
    OVER_STEPS: steps,
    SILHOUETTE: silhouettes_over_alpha,
}


def costly(kind: str, result: Result) -> bool:
    """Whether a curve takes a second or more here."""
    graph = result.graph
    most = _most_steps(result) if kind == OVER_STEPS else fixed(result.settings, result).steps
    wide = graph.num_nodes * graph.num_features > runs.LARGE
    long = len(graph.test_nodes) * graph.classes * (most + 1) ** 2 > LONG
    return graph.num_nodes > runs.SMALL or (wide if kind == SILHOUETTE else long)


def _most_steps(result: Result) -> int:
    """How far the curve over T goes."""
    return max(10, fixed(result.settings, result).steps)


def _accuracies(
    result: Result, pinned: Result | None, line: Callable[[Settings], list[float]]
) -> tuple[list[list[float]], list[float] | None]:
    """The curve of this setting and of the five seeds, and that of the pinned one."""
    settings, seeds = result.settings, PAPER_SEEDS if result.graph.num_nodes <= FEW else ()
    lines = [line(settings), *(line(replace(settings, seed=seed)) for seed in seeds)]
    at_once = pinned is not None and pinned.graph.num_nodes <= runs.SMALL
    return lines, line(pinned.settings) if pinned and at_once else None


def _draw(
    name: str,
    result: Result,
    x: Sequence[float],
    found: tuple[list[list[float]], list[float] | None],
    knob: str,
    over: tuple[str, str],
) -> Files:
    lines, then = found
    seeds = "(s.seed, *PAPER_SEEDS)" if len(lines) > 1 else "(s.seed,)"
    also = ", pinned=line(pinned.settings)" if then else ""
    code = LINES.format(x=over[0], grid=over[1], seeds=seeds, knob=knob, also=also)
    right = result.metrics.accuracy
    here = (getattr(fixed(result.settings, result), knob), None if right is None else 100 * right)
    return _show(name, x, lines, figures.curve(x, lines, here, knob, pinned=then), code)


def _show(
    name: str, x: Sequence[float], lines: Sequence[Sequence[float]], figure: object, code: str
) -> Files:
    known = [(y, -i) for i, y in enumerate(lines[0]) if not math.isnan(y)]
    top, place = max(known, default=(0.0, 0))  # of equal ones the first
    written = f"{top:.3f}" if name == SILHOUETTE else percent(top / 100)
    said = f"{name}: the top is {written}, at {x[-place]:g}." if known else "Not measurable."
    st.caption(said + " Look how far the diamond, your setting, is from it.")
    show.chart(figure, "smooth_curve_chart", said, code=code)
    seeds = np.array(lines[1:] or lines)
    mean = {"x": x, "mean": seeds.mean(0), "std": seeds.std(0), "n": len(seeds)}
    names = ("this seed", *(f"seed {seed}" for seed in PAPER_SEEDS))
    each = {"x": x} | dict(zip(names, lines, strict=False))
    return {name: pd.DataFrame(mean), f"{name}, single seeds": pd.DataFrame(each)}
