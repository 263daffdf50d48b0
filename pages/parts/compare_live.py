"""Trained methods on a page: what is stored, SPEAR beside it, and a live run with its curve."""

import math
import statistics
import time
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared import link, runs, show
from pages.shared.affordable import fits
from pages.shared.estimator import name_of
from spear_core import Result, Settings, load, run_on, split
from spear_core.baselines import METHODS
from spear_core.baselines.loop import Point, curve_so_far, train
from spear_core.baselines.results import Row, append, data_of, own, row_of, stored
from spear_core.baselines.rounds import CLIENT, ROUND, SERVER
from spear_core.baselines.views import RECIPES, Summary, summaries
from spear_core.figures import compare as figures
from spear_core.figures import human_bytes
from spear_core.figures.palette import BLUE, ORANGE
from spear_core.settings import equation

TRAINED_AS = {"default": "no weight decay", "literature": "weight decay 5e-4"}
ONCE_AS = {"default": "one round", "literature": "one round, the original's settings"}
SCALES = (5, 10, 20, 50, 100)  # clients, as the paper has them
STORED = 100  # rounds of the runs that come with the project
LINES = """from spear_core.baselines import stored
from spear_core.baselines.views import summaries
from spear_core.figures import compare as draw
from spear_core.paper.rivals import accuracies, unmeasured
rows, theirs = stored(), accuracies(s.dataset, s.clients, s.beta)
every = [o for o in summaries(rows, s) if (o.dataset, o.beta) == (s.dataset, s.beta)]
found = [one for one in every if one.clients == s.clients]
"""
TRENDS = """from spear_core import PAPER_SEEDS
from spear_core.baselines.views import beta_trend
from spear_core.settings import equation
from spear_core.sweeps import sweep
trends = {}
for recipe, words in (("default", "no weight decay"), ("literature", "weight decay 5e-4")):
    trend = beta_trend(rows, s.dataset, "fedavg", s.clients, recipe, s)
    trends |= {f"FedAvg, {words}": trend} if trend else {}
lines = {}
for alpha in (0.15, 0.8):
    table = sweep(s, seed=PAPER_SEEDS, beta=BETAS, alpha=[alpha])
    groups = [(beta, 100 * part["accuracy"].dropna()) for beta, part in table.groupby("beta")]
    name = f"{OURS}, {equation('alpha', alpha)}"
    lines[name] = [(beta, a.mean(), a.std(ddof=0)) for beta, a in groups if len(a)]
"""
EVERY = 0.4  # seconds between two pictures of a growing curve


def trained_as(method: str, recipe: str) -> str:
    """How a method was trained, in words."""
    return (ONCE_AS if METHODS[method].one_shot else TRAINED_AS)[recipe]


def at(settings: Settings, rows: list[Row]) -> list[Summary]:
    """What is stored for the graph, split and β of the settings, for any number of clients."""
    here = (settings.dataset, settings.beta)
    return [s for s in summaries(rows, settings) if (s.dataset, s.beta) == here]


def all_rows() -> list[Row]:
    """The stored runs, read again when one was added."""
    path = own()
    at = path.stat() if path.is_file() else None
    return _rows(str(path), (at.st_mtime_ns, at.st_size) if at else None)


@st.cache_data(max_entries=1, show_spinner=False)
def _rows(path: str, stamp: tuple[int, int] | None) -> list[Row]:
    return stored()


def spear_at(settings: Settings) -> list[figures.Bubble]:
    """SPEAR's seconds, accuracy and clients: as set, and for other K where that is quick."""
    result = runs.result_of(settings)
    nodes, others = result.graph.num_nodes, SCALES if runs.quick(result) else ()
    found = []
    for clients in sorted({settings.clients, *(k for k in others if k <= nodes)}):
        now = replace(settings, clients=clients)
        seconds, accuracy = spear_once(now) if fits(now) else (0.0, None)
        if accuracy is not None:
            found.append((seconds, 100 * accuracy, clients))
    return found


@st.cache_data(max_entries=256, show_spinner=False)
def spear_once(settings: Settings) -> tuple[float, float | None]:
    """The median time of three runs that share nothing but the dataset, and the accuracy; of one
    run where each takes a second.

    Each has a copy of the graph with its operators and nothing that a page prepared for a click.
    """
    partition = split(load(settings), settings)
    graph = partition.graph
    times = 1 if runs.long(graph, settings) else 3
    bare = (replace(graph).warm() for _ in range(times))
    timed = [run_on(replace(partition, graph=one), settings) for one in bare]
    return statistics.median(r.method_seconds for r in timed), timed[0].metrics.accuracy


@dataclass
class Live:
    """A run as far as it is; it stays in the session when it is stopped."""

    title: str
    data: dict[str, Any]  # what it is trained on; with other data it is not shown
    rounds: int
    points: dict[int, float] = field(default_factory=dict)  # round -> accuracy in percent
    words: str = ""  # what is said once it has ended by itself
    stage: str = ROUND  # what the points stand after


def live(settings: Settings, result: Result) -> None:
    """Train one method now, with its curve as it grows; what is done is kept when it is stopped."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if show.shown("compare_method"):
            known = link.choices("compare_method")
            st.selectbox(
                "Method", known, key="compare_method", format_func=lambda name: METHODS[name].title
            )
        if show.shown("compare_recipe"):
            known = link.choices("compare_recipe")
            st.selectbox(
                "Trained with", known, key="compare_recipe", format_func=TRAINED_AS.__getitem__
            )
        if show.shown("compare_rounds"):
            known = tuple(sorted(link.choices("compare_rounds"), key=int))
            st.select_slider("Rounds", known, key="compare_rounds")
        go = st.button("Run it now", type="primary", key="compare_go")
    st.caption(
        f"The stored runs have {STORED} rounds: with fewer this is a look at how a method begins, "
        f"not the run above. One seed, {settings.seed}."
    )
    place, state = st.empty(), st.session_state
    method, recipe = state["compare_method"], state["compare_recipe"]
    rounds = int(state["compare_rounds"])
    if go:
        split = [equation(name, getattr(settings, name)) for name in ("clients", "beta")]
        where = ", ".join([settings.dataset, *split])
        how = trained_as(method, recipe)
        title = f"{METHODS[method].title}, {how}, on {where}, seed {settings.seed}"
        given = {} if METHODS[method].one_shot else {"rounds": rounds}
        shown = state["_compare_live"] = Live(title, data_of(settings), rounds)
        with place.container():
            _train(shown, settings, RECIPES[recipe](method, **given), result)
        link.redraw()  # so that the table above has the new run
    last: Live | None = state.get("_compare_live")
    if last is not None and last.data == data_of(settings):
        with place.container():
            _draw(last, result)


def _train(shown: Live, settings: Settings, training: Any, result: Result) -> None:
    """Run to the end; a click on anything ends the script between two rounds."""
    note, stop = st.columns([5, 1], vertical_alignment="center")
    bar = note.progress(0.0, f"{shown.title}: loading")
    stop.button("Stop", key="compare_stop", width="stretch")
    curve, drawn = st.empty(), 0.0

    def told(point: Point) -> None:
        nonlocal drawn
        if point.stage == CLIENT:
            bar.progress(0.0, f"{shown.title}: client {point.round} of {point.rounds}")
            return
        if point.stage != shown.stage or point.rounds != shown.rounds:
            if shown.points:  # the only round of a one-shot method, after its server's steps
                return
            shown.stage, shown.rounds = point.stage, point.rounds
        accuracy = math.nan if point.accuracy is None else 100 * point.accuracy
        shown.points[point.round] = accuracy
        if time.monotonic() - drawn > EVERY:
            drawn = time.monotonic()
            _grow(curve, shown, result)
        so_far = "" if math.isnan(accuracy) else f", {accuracy:.1f} %"
        words = f"{shown.title}: {point.stage} {point.round} of {point.rounds}{so_far}"
        bar.progress(point.round / point.rounds, words)

    for point in curve_so_far(settings, training):  # of a run that was stopped before
        told(point)
    done = train(settings, training, told)
    some = done.steps or done.curve
    shown.stage, shown.rounds = some[-1].stage, some[-1].rounds
    shown.points = {p.round: 100 * p.accuracy for p in some if p.accuracy is not None}
    shown.words = _ended(done, result)
    row = row_of(done)
    if row.key not in {r.key for r in all_rows()}:
        append(row, own())


def _ended(done: Any, result: Result) -> str:
    """What a finished run took, beside SPEAR on the same machine."""
    seconds = done.seconds["client"] + done.seconds["server"]
    once = spear_once(result.settings)[0]
    sent = human_bytes(sum(done.traffic.up) + sum(done.traffic.down))
    rounds = "one round" if done.steps else f"{done.training.rounds} rounds"
    words = (
        f"{rounds}: {seconds:.2f} s of clients and server, {sent} sent. "
        f"{name_of(result.settings)} "
        f"took {1000 * once:.1f} ms, once: {seconds / once:,.0f} times faster."
    )
    if done.constant is not None:
        words += f" It answers **{result.graph.names[done.constant]}** for every node."
    return words


def _grow(place: Any, shown: Live, result: Result) -> None:
    """The curve so far; unlike Plotly's, this chart takes new points without being built anew."""
    looked = sorted({1, *shown.points, shown.rounds})  # some steps of a server, or every round
    every = looked if shown.stage == SERVER else list(range(1, shown.rounds + 1))
    lines = {
        f"after each {shown.stage}": [shown.points.get(r) for r in every],
        figures.one_shot(name_of(result.settings)): [_spear_percent(result)] * len(every),
    }
    frame = pd.DataFrame(lines, index=pd.Index(every, name=shown.stage), dtype=float)
    place.line_chart(frame, y_label="accuracy, %", color=[ORANGE, BLUE], height=280)


def _draw(shown: Live, result: Result) -> None:
    """The curve of a run that has ended or was stopped.

    A stopped one may still be in its last round beside this, so it is read once.
    """
    words, points = shown.words, dict(shown.points)
    ours = name_of(result.settings)
    known = {r: percent for r, percent in points.items() if not math.isnan(percent)}
    rounds, percent = list(known), list(known.values())
    st.markdown(f"**{shown.title}{f': {percent[-1]:.1f} %' if percent else ''}**")
    if percent:
        spear = _spear_percent(result)
        chart = figures.live(rounds, percent, shown.rounds, spear, ours, shown.stage)
        code = "from spear_core.figures import compare as draw\n"
        code += (
            f"draw.live({rounds}, {percent}, {shown.rounds}, {spear}, {ours!r}, {shown.stage!r})"
        )
        alt = f"Accuracy after each {shown.stage} of {shown.title}."
        show.chart(chart, "compare-live", alt, code=code)
    came = f"{max(points, default=0)} of {shown.rounds} {shown.stage}s"
    st.caption(words or f"Stopped after {came}; run it to go on.")


def _spear_percent(result: Result) -> float:
    return 100 * (result.metrics.accuracy or 0.0)
