"""The foot of the sidebar: the accuracy of the present run, in sight on every page."""

from contextlib import suppress

import streamlit as st

from pages.shared import estimator, runs
from spear_core import Settings, SpearError
from spear_core.datasets import CATALOGUE, store
from spear_core.measures.spread import percent


def draw(settings: Settings | None) -> None:
    """The number of the run that the page has made already; dimmed by the style until it is new."""
    value, where = "–", settings.dataset if settings else "no run"
    name = estimator.name_of(settings) if settings else estimator.SPEAR
    where += "" if name == estimator.SPEAR else f", {name}"
    if settings and store.on_disk(CATALOGUE[settings.dataset]):
        with suppress(SpearError):  # the page says why
            value = percent(runs.result_of(settings).metrics.accuracy, 1)
    st.html(
        f'<div class="foot" role="status" aria-label="Accuracy now, {where}: {value}">'
        f"<span>accuracy now<br>{where}, test nodes</span><b>{value}</b></div>"
    )
