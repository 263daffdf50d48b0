"""How a page gets the settings of the sidebar: from the frame in app.py, started if need be.

Streamlit runs a file of `pages/` by itself until `st.navigation` has been called once in the
server's life, so a link straight to a page may arrive without the frame around it.
"""

import runpy
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shared import link
from spear_core import Result, Settings

STYLE = """
<style>
.ends { display: flex; justify-content: space-between; margin-top: -1.1rem;
        font-size: 0.75rem; opacity: 0.7; }
section[data-testid="stSidebar"] [data-testid="stVerticalBlock"] { gap: 0.6rem; }
.alt { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.block-container { padding-top: 4.6rem; padding-bottom: 2rem; }
/* where the two ends of a slider are said in words, its figures would lie over them */
section[data-testid="stSidebar"] [data-testid="stSliderTickBar"],
.stColumn:has(.ends) [data-testid="stSliderTickBar"] { display: none; }
[data-testid="stButtonGroup"] [role="radiogroup"] { flex-wrap: wrap !important; }
/* Streamlit fades what it renews, which takes half a core where there is no GPU. Here nothing
   flickers, and a run that takes longer than 0.8 s shows a line along the top. */
.stElementContainer { opacity: 1 !important; transition: none !important; }
[data-test-script-state="running"]::after { content: ""; position: fixed; inset: 0 0 auto 0;
    height: 3px; z-index: 1000000; background: #0072b2; animation: shown 0s 0.8s both; }
@keyframes shown { from { visibility: hidden; } to { visibility: visible; } }
[data-testid="stMetricValue"] { font-variant-numeric: tabular-nums; font-size: 1.7rem; }
</style>
"""

_current: ContextVar[Settings | None] = ContextVar("settings", default=None)


@contextmanager
def around(settings: Settings) -> Iterator[None]:
    """Hold the settings while a page runs."""
    token = _current.set(settings)
    try:
        yield
    finally:
        _current.reset(token)


def settings() -> Settings:
    """The settings of the sidebar."""
    held = _current.get()
    if held is None:
        runpy.run_path(str(Path(__file__).parents[2] / "app.py"))
        st.stop()
    return held


@dataclass(frozen=True)
class Shown:
    """What a session remembers of a result; the result itself is kept by the cache of runs."""

    settings: Settings
    accuracy: float | None
    kept: "weakref.ref[Result]"

    @property
    def result(self) -> Result | None:
        """The result, while the cache has it."""
        return self.kept()


def last_shown(result: Result) -> Shown | None:
    """What was shown of the setting before this one, to show what has changed."""
    state = st.session_state
    shown = state.get("_shown")
    if shown is None or shown.settings != result.settings:
        state["_before"] = shown
    state["_shown"] = Shown(result.settings, result.metrics.accuracy, weakref.ref(result))
    return state.get("_before")


def picked(result: Result) -> tuple[int, int] | None:
    """The (client, class) that was picked, if this run has such a prototype."""
    text = st.session_state.get(link.PICK, "")
    if not text:
        return None
    client, label = (int(part) for part in text.split(","))
    counts = result.uploads.table(result.uploads.counts)
    inside = client < counts.shape[0] and label < counts.shape[1]
    return (client, label) if inside and float(counts[client, label]) > 0 else None


def pick_from(event: Any) -> None:
    """Take over a click on a cell; a second look at the same click changes nothing."""
    points = event["selection"]["points"] if event else []
    if points and "customdata" in points[0]:
        data = points[0]["customdata"]
        client, label = (data[i] if isinstance(data, list) else data[str(i)] for i in (0, 1))
        if st.session_state.get("_clicked") != (client, label):
            st.session_state["_clicked"] = (client, label)
            pick(int(client), int(label))


def pick(client: int, label: int) -> None:
    """Pick one prototype and draw the page again."""
    st.session_state[link.PICK] = f"{client},{label}"
    st.rerun()
