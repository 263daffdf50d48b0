"""The accuracy of the present run, in sight on every page: at the foot of the sidebar, or above."""

from contextlib import suppress

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import estimator, runs
from spear_core import Settings, SpearError
from spear_core.datasets import CATALOGUE, store
from spear_core.measures.spread import percent

LESSONS = ("digits", "karate")  # what the lesson is on; for other graphs it takes the first


def draw(settings: Settings | None, above: DeltaGenerator, lesson: bool = False) -> None:
    """The number of the run that the page has made already; dimmed by the style until it is new.

    `above` is its place on the bar of the page, where the sidebar is a drawer.
    """
    value, where = "–", settings.dataset if settings else "no run"
    name = estimator.name_of(settings) if settings else estimator.SPEAR
    where += "" if name == estimator.SPEAR else f", {name}"
    if settings and store.on_disk(CATALOGUE[settings.dataset]):
        with suppress(SpearError):  # the page says why
            value = percent(runs.result_of(settings).metrics.accuracy, 1)
    other = lesson and settings and settings.dataset not in LESSONS
    what = "not the lesson" if other else "test nodes"
    st.html(
        f'<div class="foot" role="status" aria-label="Accuracy now, {where}: {value}">'
        f"<span>accuracy now<br>{where}, {what}</span><b>{value}</b></div>"
    )
    above.html(f'<div class="now">{where} <b>{value}</b></div>')
