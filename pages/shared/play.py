"""▶: a knob goes through its values by itself, each once the page of the last one is drawn.

The page's last element is a timer. Streamlit starts it anew with every run of the page, so a step
never meets the one before. Any touch ends it (touch.js presses the stop button), as does any other
page.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shared import link
from pages.shared.background import by_timer
from spear_core import Settings, SpearError, load
from spear_core.settings import symbol

PAUSE = 0.45  # seconds between a page that is drawn and the next step
TOUCH = Path(__file__).with_name("touch.js")


def button(name: str, values: Sequence[Any], dim: bool) -> None:
    """▶ beside a knob, and ■ while it moves."""
    moving = playing() == name
    st.button(
        f"{'Stop' if moving else 'Play'} {symbol(name)}",
        key=f"stop_{name}" if moving else f"play_{name}",
        on_click=stop if moving else start,
        args=() if moving else (name, values),
        icon=f":material/{'stop' if moving else 'play_arrow'}:",
        disabled=dim,
        type="tertiary",
    )


def playing() -> str | None:
    """The knob that moves by itself, if one does."""
    return st.session_state["_play"][0] if st.session_state.get("_play") else None


def start(name: str, values: Sequence[Any]) -> None:
    """Begin at the first of the values."""
    st.session_state["_play"] = (name, tuple(values), st.session_state["_page"])
    st.session_state["_step"] = True


def stop() -> None:
    """Leave the knob where it is."""
    st.session_state.pop("_play", None)
    st.session_state.pop("_step", None)


def advance() -> None:
    """Take the next value, if its time has come; stop at the end and on another page."""
    state = st.session_state
    if not state.get("_play"):
        return
    name, values, page = state["_play"]
    if page != state["_page"]:
        stop()
    elif state.pop("_step", False):
        state[name] = values[0]
        state["_play"] = (name, values[1:], page) if len(values) > 1 else None


def clock(settings: Settings | None) -> None:
    """The timer of the next step, at the end of the page."""
    st.html(f"<script>{TOUCH.read_text()}</script>", unsafe_allow_javascript=True)
    if not playing():
        return
    name, values, _ = st.session_state["_play"]
    if settings is None or (name == "clients" and values[0] > _most(settings)):
        stop()
        link.redraw()
    _tick()


@st.fragment(run_every=PAUSE)
def _tick() -> None:
    if by_timer() and playing():
        st.session_state["_step"] = True
        link.redraw()


def _most(settings: Settings) -> Any:
    """Clients that the graph can be dealt to."""
    try:
        return load(settings).num_nodes
    except SpearError:
        return 0
