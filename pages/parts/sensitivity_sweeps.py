"""Sweeps as a page makes them: kept in memory, with progress on large graphs, clicked points."""

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared import controls, runs
from pages.shared.affordable import affordable, fits
from spear_core import PAPER_SEEDS, Settings, load
from spear_core.datasets import CATALOGUE, store
from spear_core.sweeps import sweep

KNOBS: dict[str, tuple[Any, ...]] = {  # what is swept, and over which values
    "alpha": (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
    "gamma": (0.0, 0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, float("inf")),
    "steps": (0, 1, 2, 3, 4, 5, 7, 10),
    "beta": (0.01, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0, 3.0, 10.0),
    "clients": (1, 2, 5, 10, 20, 50, 100, 200),
}
IMPORTS = """from spear_core import PAPER_SEEDS
from spear_core.figures import sweep as draw
from spear_core.sweeps import sweep
"""
MORE = """import pandas as pd
from dataclasses import replace
"""


def values(settings: Settings, knob: str) -> tuple[Any, ...]:
    """The values of a knob with the present one among them; no more clients than nodes, nor than
    pages stop at.
    """
    found = KNOBS[knob]
    if knob == "clients":
        most = load(settings).num_nodes
        found = tuple(k for k in found if k <= most and fits(replace(settings, clients=k)))
    return tuple(sorted({*found, getattr(settings, knob)}))


def table(settings: Settings, knobs: tuple[str, ...], datasets: tuple[str, ...]) -> pd.DataFrame:
    """The sweep around the settings, five seeds, for every dataset; progress where it is long."""
    parts = []
    note = st.empty()
    for name in datasets:
        around = settings if name == settings.dataset else replace(settings, dataset=name)
        lists = {knob: values(affordable(around), knob) for knob in knobs}
        parts.append(_kept(around, lists, note))
    note.empty()
    return pd.concat(parts, ignore_index=True)


def _kept(settings: Settings, lists: dict[str, Any], note: Any) -> pd.DataFrame:
    """One dataset's table; what was swept in this session is not even read again."""
    kept: dict[Any, pd.DataFrame] = st.session_state.setdefault("_swept", {})
    plain = replace(settings, **{name: found[0] for name, found in lists.items()}, seed=0)
    key = (plain, tuple(lists.items()))
    if key not in kept:
        load(settings, progress=lambda words, part: note.progress(part, words))
        big = load(settings).num_nodes > runs.SMALL

        def say(words: str, part: float) -> None:
            if big:
                note.progress(part, f"{settings.dataset}: {words}")

        kept[key] = sweep(settings, seed=PAPER_SEEDS, progress=say, **lists)
        while len(kept) > 40:
            kept.pop(next(iter(kept)))
    return kept[key]


def lines(settings: Settings, knobs: tuple[str, ...], datasets: tuple[str, ...]) -> str:
    """The same sweeps in Python."""
    made = []
    for name in datasets:
        around = settings if name == settings.dataset else replace(settings, dataset=name)
        start = "s" if around is settings else f'replace(s, dataset="{name}")'
        lists = ", ".join(f"{knob}={list(values(around, knob))}" for knob in knobs)
        made.append(f"sweep({start}, seed=PAPER_SEEDS, {lists})".replace("inf", 'float("inf")'))
    if len(made) == 1:
        return f"{IMPORTS}table = {made[0]}"
    several = ",\n    ".join(made)
    return f"{IMPORTS}{MORE}table = pd.concat([\n    {several},\n])"


def best_lines(settings: Settings, datasets: tuple[str, ...]) -> str:
    """The sweep of α over datasets in Python."""
    known = [
        name for name in datasets if load(replace(settings, dataset=name)).num_nodes <= runs.SMALL
    ]
    return (
        f"{IMPORTS}{MORE}measures = ('accuracy', 'homophily')\n"
        f"known, clients = {known}, {min(settings.clients, 10)}\n"
        "around = [replace(s, dataset=name, clients=clients) for name in known]\n"
        f"alphas = {list(KNOBS['alpha'])}\n"
        "table = pd.concat([\n"
        "    sweep(one, seed=PAPER_SEEDS, measures=measures, alpha=alphas) for one in around\n])"
    )


def homophily(settings: Settings, datasets: tuple[str, ...]) -> pd.DataFrame:
    """α on every dataset with its homophily; large graphs are left out."""
    parts, note = [], st.empty()
    for i, name in enumerate(datasets):
        note.progress(i / len(datasets), name)
        around = replace(settings, dataset=name, clients=min(settings.clients, 10))
        if fits(around) and load(around).num_nodes <= runs.SMALL:
            wanted = ("accuracy", "homophily")
            alphas = KNOBS["alpha"]
            parts.append(sweep(around, seed=PAPER_SEEDS, measures=wanted, alpha=alphas))
    note.empty()
    return pd.concat(parts, ignore_index=True)


def files(table: pd.DataFrame, knobs: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    """What is exported: a row a point with mean, std and n, and the runs behind; in percent."""
    right = (100 * table["accuracy"]).groupby([table[name] for name in ("dataset", *knobs)])
    parts = {"mean": right.mean(), "std": right.std(ddof=0), "n": right.count()}
    each = table.assign(accuracy=100 * table["accuracy"])
    return {
        "curve, accuracy in %": pd.DataFrame(parts).reset_index(),
        "single runs": each.rename(columns={"accuracy": "accuracy, %"}),
    }


def built_in() -> tuple[str, ...]:
    """Datasets that are made at once and have no shape to choose."""
    return tuple(e.name for e in CATALOGUE.values() if e.builtin and not e.knobs)


def at_hand() -> list[str]:
    """Datasets that need no download."""
    return [e.name for e in CATALOGUE.values() if store.on_disk(e)]


def take(point: Any, names: tuple[str, ...], settings: Settings) -> None:
    """Make a clicked point the present setting and open the explorer there.

    JSON has no infinity: where a point has none of a value, it is that.
    """
    if point:
        values: list[Any] = [float("inf") if value is None else value for value in point]
        controls.put(replace(settings, **dict(zip(names, values, strict=False))))
        st.switch_page("pages/explore.py")
