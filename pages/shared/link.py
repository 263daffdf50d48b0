"""The link is the state: what differs from the defaults is in the URL, and read back from it.

A rerun that arrives with another query string than the last one written, while no widget was
moved, came from a link or from the back button: its values are put into the controls. A rerun
that the app itself asks for (`redraw`) carries the query of the moment in which its fragment's
timer was sent, which may be older than what was written since: it is not read.
"""

from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlencode, urlparse

import streamlit as st

from pages.shared.linked import (
    BESIDE,
    HIDE,
    MOST_BESIDE,
    NODE,
    OLD,
    OTHERS,
    PICK,
    PIN,
    PRESENT,
    SETTINGS,
    VERSION,
    affordable,
    as_query,
    checked,
    choices,
    parse,
    pin,
    short,
    unpin,
    views,
)
from spear_core import Settings

# fmt: off
__all__ = [
    "BESIDE", "HIDE", "MOST_BESIDE", "NODE", "OLD", "OTHERS", "PICK", "PIN", "PRESENT", "SETTINGS",
    "VERSION", "address", "affordable", "as_query", "checked", "choices", "history", "keep",
    "parse", "pin", "read", "redraw", "short", "unpin", "views", "write",
]
# fmt: on
HISTORY = Path(__file__).with_name("history.js")


def read() -> None:
    """Put what the URL says into the controls, if the URL was changed by someone else."""
    state, query = st.session_state, dict(st.query_params)
    moved = any(name in state and state[name] != value for name, value in _last().items())
    ours = state["_ours"] = state.pop("_redraw", False)
    if "_written" in state and (ours or moved or not query or query == state["_written"]):
        if moved or not query:  # a widget was moved or another page opened: they were read
            state["_notes"] = []
        return
    values, notes = parse(query)
    for name, value in values.items():
        state[name] = value
    state["_notes"] = notes


def redraw() -> NoReturn:
    """Draw the page again, with what the controls say now."""
    st.session_state["_redraw"] = True
    st.rerun()


def keep() -> None:
    """Hold every control's value: Streamlit forgets a widget that is not drawn.

    One that was forgotten all the same, because another page was opened while a fragment ran, gets
    its last value back.
    """
    state, last = st.session_state, _last()
    for name in _held():
        if name not in state:
            value = last.get(name)
            state[name] = parse({})[0][name] if value is None else value
        state[name] = state[name]


def write(settings: Settings) -> None:
    """Write to the URL what differs from the defaults.

    A page that was just opened has a bare address, though the server may still hold the query of
    the page before (a timer's rerun that met the click carries it): there it is written anyway.
    """
    state, query = st.session_state, _query(settings)
    state["_last"] = {name: state.get(name) for name in _held()}
    page = state.get("_page")
    opened = state.get("_written_on", page) != page
    there = state["_written"] if state.get("_ours") else dict(st.query_params)
    if opened or (there != query and not state.get("_play")):  # once it rests
        st.query_params.from_dict(query)
        state["_written"] = query
    state.setdefault("_written", dict(st.query_params))
    state["_written_on"] = page


def address(settings: Settings) -> str:
    """The whole link to the present view."""
    base = urlparse((st.context.url or "").partition("?")[0])
    return (
        f"{base._replace(path=base.path or '/').geturl()}?{urlencode(_query(settings), safe=',:')}"
    )


def history() -> None:
    """See to it that a click is one entry in the browser's history, so that Back is one press."""
    st.html(f"<script>{HISTORY.read_text()}</script>", unsafe_allow_javascript=True)


def _query(settings: Settings) -> dict[str, str]:
    state = st.session_state
    return short(settings, {name: state.get(name) for name in (*views(), *OTHERS, BESIDE)})


def _held() -> tuple[str, ...]:
    return (*SETTINGS, *views(), BESIDE)


def _last() -> dict[str, Any]:
    return st.session_state.get("_last", {})
