"""Calls into the engine as pages make them: with progress while loading, and kept afterwards."""

import math
import time
from dataclasses import replace

import pandas as pd
import streamlit as st

from pages.shared.affordable import MORE, affordable
from pages.shared.background import pages_first
from spear_core import PAPER_SEEDS, Graph, Result, Settings, load, run
from spear_core.datasets import CATALOGUE, store
from spear_core.explain import references as simpler
from spear_core.memory.budget import remembered

LARGE = 15_000_000  # nodes × features beyond which a silhouette takes seconds
HEAVY = 4_000_000  # nodes × classes beyond which a run takes a second
CROWDED = 10_000_000  # numbers that all clients may send, beyond which it does too
COMPARED = 1_000_000_000  # pairs of uploads × features: all defences, five seeds, take 10 s
SMALL = 30_000  # nodes up to which further runs (seeds, references) are made on every click


def let_go(seconds: float = 0.005) -> None:
    """Pause, so that what was drawn so far reaches the browser before the rest is made."""
    time.sleep(seconds)


def result_or_stop(settings: Settings) -> Result:
    """The run with these settings; the frame shows the sentence when it cannot be made."""
    affordable(settings)  # before anything is read
    note = st.empty()
    entry = CATALOGUE[settings.dataset]
    if not store.on_disk(entry):
        size = f"about {entry.megabytes:g} MB"
        note.info(f"{entry.name} is not on disk yet: downloading {size} of raw files.")
    try:
        load(settings, progress=lambda words, part: note.progress(part, words))
        result = result_of(settings)
    finally:
        note.empty()
    return result


@remembered(most=16)
def result_of(settings: Settings) -> Result:
    """One run, kept; the sentence where a page makes too much of a link's settings."""
    with pages_first():
        result = run(affordable(settings))
        result.metrics.accuracy  # noqa: B018  read at once by every page
    return result


def measures_of(settings: Settings) -> pd.DataFrame:
    """Every measure of a run, for a file that is made when it is asked for."""
    return pd.DataFrame([result_of(settings).metrics.to_dict()])


@st.cache_data(max_entries=512, show_spinner=False)
def accuracy_of(settings: Settings) -> float | None:
    """The accuracy of a run; the run itself is not kept."""
    return run(affordable(settings)).metrics.accuracy


def over_seeds(
    settings: Settings, seeds: tuple[int, ...] = tuple(PAPER_SEEDS)
) -> list[float | None]:
    """Accuracies with the paper's five seeds, or others."""
    return [accuracy_of(replace(settings, seed=seed)) for seed in seeds]


def heavy(result: Result) -> bool:
    """Whether one more run takes so long that a page makes none unasked."""
    return long(result.graph, result.settings)


def long(graph: Graph, s: Settings) -> bool:
    """Whether a run takes about a second."""
    rows = graph.classes + (min(s.sketch, 64) + MORE if _sketched(s) else 0)
    crowded = s.clients * rows * graph.num_features > CROWDED
    return crowded or graph.num_nodes * graph.classes > HEAVY


def quick(result: Result) -> bool:
    """Whether dozens of runs like it are made on every click."""
    graph = result.graph
    wide = _sketched(result.settings) and graph.num_nodes * graph.num_features > LARGE
    crowded = len(result.sent.client) ** 2 * graph.num_features > COMPARED
    return graph.num_nodes <= SMALL and not (wide or crowded or heavy(result))


def _sketched(s: Settings) -> bool:
    return s.head == "ridge" and s.sketch > 0 and s.epsilon == math.inf


def seeds_for(result: Result) -> tuple[int, ...]:
    """The paper's five seeds, or the present one alone where a run takes a second or more."""
    return (result.settings.seed,) if heavy(result) else tuple(PAPER_SEEDS)


def references(settings: Settings) -> dict[str, float | None]:
    """What simpler averages reach on the same split."""
    return {name: accuracy_of(one) for name, one in simpler.references(settings).items()}
