"""Calls into the engine as pages make them: with progress while loading, and kept afterwards."""

import time
from dataclasses import replace

import streamlit as st

from pages.shared.background import pages_first
from spear_core import PAPER_SEEDS, Result, Settings, load, run
from spear_core.datasets import CATALOGUE, store

LARGE = 15_000_000  # nodes × features beyond which a silhouette takes seconds
SMALL = 30_000  # nodes up to which further runs (seeds, references) are made on every click


def let_go(seconds: float = 0.005) -> None:
    """Pause, so that what was drawn so far reaches the browser before the rest is made."""
    time.sleep(seconds)


def result_or_stop(settings: Settings) -> Result:
    """The run with these settings; the frame shows the sentence when it cannot be made."""
    note = st.empty()
    entry = CATALOGUE[settings.dataset]
    if not entry.builtin and not store.found(entry):
        size = f"about {entry.megabytes:g} MB"
        note.info(f"{entry.name} is not on disk yet: downloading {size} of raw files.")
    try:
        load(settings, progress=lambda words, part: note.progress(part, words))
        result = result_of(settings)
    finally:
        note.empty()
    return result


@st.cache_resource(max_entries=16, show_spinner=False)  # 60 MB each at 169k nodes
def result_of(settings: Settings) -> Result:
    """One run, kept."""
    with pages_first():
        result = run(settings)
        result.metrics.accuracy  # noqa: B018  read at once by every page
    return result


@st.cache_data(max_entries=512, show_spinner=False)
def accuracy_of(settings: Settings) -> float | None:
    """The accuracy of a run; the run itself is not kept."""
    return run(settings).metrics.accuracy


def over_seeds(settings: Settings) -> list[float | None]:
    """Accuracies with the paper's five seeds."""
    return [accuracy_of(replace(settings, seed=seed)) for seed in PAPER_SEEDS]


def references(settings: Settings) -> dict[str, float | None]:
    """What simpler averages reach on the same split: all nodes pooled, and every client alike."""
    pooled = replace(settings, shrinkage=False, count_weights=True)
    plain = replace(settings, shrinkage=False, count_weights=False)
    return {
        "all training nodes pooled": accuracy_of(pooled),
        "plain mean of clients": accuracy_of(plain),
    }
