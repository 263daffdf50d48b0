"""How a page gets the settings of the sidebar: from the frame in app.py, started if need be.

Streamlit runs a file of `pages/` by itself until `st.navigation` has been called once in the
server's life, so a link straight to a page may arrive without the frame around it.
"""

import logging
import runpy
import weakref
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import streamlit as st

from pages.shared import drawn, link
from pages.shared.plain import plain
from spear_core import Result, Settings, SpearError
from spear_core.fields import stage_of

STYLE = """
<style>
[class*="st-key-lines1_"] { min-height: 1.6rem; }
[class*="st-key-lines2_"] { min-height: 3.2rem; }
[class*="st-key-lines3_"] { min-height: 4.8rem; }
[class*="st-key-lines4_"] { min-height: 6.4rem; }
[class*="st-key-lines5_"] { min-height: 8rem; }
.ends { display: flex; justify-content: space-between; margin-top: -1.1rem;
        font-size: 0.75rem; opacity: 0.7; }
section[data-testid="stSidebar"] [data-testid="stVerticalBlock"] { gap: 0.6rem; }
.alt { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.block-container { padding: 4rem 1.5rem 2rem; }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] { gap: 0.7rem; }
/* where the two ends of a slider are said in words, its figures would lie over them */
section[data-testid="stSidebar"] [data-testid="stSliderTickBar"],
.stColumn:has(.ends) [data-testid="stSliderTickBar"] { display: none; }
[data-testid="stButtonGroup"] [role="radiogroup"] { flex-wrap: wrap !important; }
/* Streamlit fades what it renews, which takes half a core where there is no GPU. Here nothing
   flickers, and a run that takes longer than 0.8 s shows a line along the top. */
.stElementContainer { opacity: 1 !important; transition: none !important; }
[data-test-script-state="running"]::after { content: ""; position: fixed; inset: 0 0 auto 0;
    height: 3px; z-index: 1000000; background: #6D7BE0; animation: shown 0s 0.8s both; }
@keyframes shown { from { visibility: hidden; } to { visibility: visible; } }
/* what was there stays in its place until the new one comes, and is dimmed if that takes long */
.stElementContainer[data-stale="true"] { animation: late 0s 0.8s both; }
@keyframes late { to { filter: opacity(0.5); } }
/* what says that work is under way lies above the page and moves nothing */
.stElementContainer:has(> :is(.stSpinner, .stProgress)):not([class*="st-key-under_way"] *),
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-under_way"]) {
    height: 5.4rem; overflow: hidden;
    position: fixed; right: 1.5rem; bottom: 1rem; z-index: 1000; box-sizing: border-box;
    width: min(24rem, calc(100vw - 3rem)) !important; padding: 0.6rem 0.9rem;
    background: var(--st-secondary-background-color); border-radius: 0.5rem;
    box-shadow: 0 2px 10px rgba(0, 0, 0, 0.25); }
/* a fragment's own block, which would leave a gap */
[data-testid="stLayoutWrapper"]:has(
    > * > [data-testid="stLayoutWrapper"]:only-child > [class*="st-key-under_way"]) {
    position: absolute; }
.drawn [data-testid="stMain"] .stElementContainer:has(> .stSkeleton) {
    position: absolute; visibility: hidden; }
.st-key-attackers [role="radio"] { padding: 0 0.4rem; min-width: 0; font-size: 0.85rem; }
.st-key-privacy_numbers { min-height: 7rem; }
.st-key-privacy_lone { min-height: 9rem; }
.st-key-privacy_formulas { min-height: 11rem; }
.st-key-privacy_formulas .stElementContainer:has(.katex-display) { height: 4.4rem; }
.st-key-accuracy [data-testid="stMetric"] { min-height: 6.3rem; }
/* every text at least 4.5 : 1 against its ground */
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] :is(p, li) {
    color: inherit; opacity: 1; }
[data-testid="stCaptionContainer"] > * { opacity: 0.8; }
[data-testid="stWidgetLabel"] { color: inherit !important; }  /* dimmed ones can still be read */
[data-testid="stBaseButton-primary"] { color: light-dark(#fff, #12151f) !important; }
code .token.parameter.variable { color: inherit !important; }
code .token.string { color: light-dark(#0b6b2b, #7ee2a0) !important; }
code .token.number { color: light-dark(#00635a, #6fdccd) !important; }
[data-testid="stMetricValue"] { font-variant-numeric: tabular-nums; font-weight: 600; }
</style>
"""

SMOOTHED = (  # what decides how hard inference smooths; with a finite ε nobody asks the gate
    *("alpha", "steps", "smoothing", "gate", "gate_alpha", "gate_steps", "test_alpha"),
    *("test_steps", "epsilon"),
)
_current: ContextVar[Settings | None] = ContextVar("settings", default=None)


@contextmanager
def kindly() -> Iterator[None]:
    """Say what went wrong within; a fault of ours has an id, and its traceback in the log too."""
    try:
        yield
    except SpearError as error:
        st.error(plain(error, 500))
    except Exception:
        mark = uuid4().hex[:8]
        logging.getLogger("spear").exception("Fault %s", mark)
        st.error(
            "This page could not be drawn; 'Paper defaults' brings it back. "
            f"The log says why, at fault {mark}."
        )


@contextmanager
def around(settings: Settings) -> Iterator[None]:
    """Hold the settings while a page runs."""
    token = _current.set(settings)
    try:
        yield
    finally:
        _current.reset(token)


def view(settings: Settings) -> Hashable:
    """The page, and what of the settings decides where the nodes of a map lie."""
    nodes = stage_of(replace(settings, seed=0), "load")  # the seed draws masks alone
    noise = stage_of(settings, "spoil") if settings.noise_test else ()
    own = tuple(getattr(settings, name) for name in SMOOTHED)
    return st.session_state["_page"], nodes, noise, *own


def settings() -> Settings:
    """The settings of the sidebar."""
    held = _current.get()
    if held is None:
        runpy.run_path(str(Path(__file__).parents[2] / "app.py"))
        st.stop()
    drawn.begin()
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


def pick_cell(cell: Any) -> None:
    """Take over a click on a cell, before the page is drawn again."""
    st.session_state[link.PICK] = f"{int(cell[0])},{int(cell[1])}"


def pick(client: int, label: int) -> None:
    """Pick one prototype and draw the page again."""
    st.session_state[link.PICK] = f"{client},{label}"
    link.redraw()
