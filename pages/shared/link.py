"""The link is the state: every control is written to the URL and read back from it.

A rerun that arrives with another query string than the last one written, while no widget was
moved, came from a link or from the back button: its values are put into the controls. A value that
cannot be used is left out with a sentence; the rest of the link still counts.
"""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import streamlit as st

from pages.shared import pages
from spear_core import Settings, SpearError
from spear_core.fields import exact

SETTINGS = tuple(f.name for f in fields(Settings) if f.name != "device")
OLD = (  # views in the order in which links have always had them; newer ones follow
    *("view", "show", "colour", "shrink", "centroid", "digit", "split_count", "smooth_curve"),
    *("sigma2", "tau2", "samples", "learn", "learn_n", "learn_node", "compare", "sens", "sens_x"),
    *("sens_y", "paper", "paper_table", "paper_curve", "attack_view", "noise_view"),
)
HIDE, PIN, PICK, NODE = "hide", "pin", "pick", "node"  # hidden controls, pinned setting, picks


def views() -> dict[str, tuple[str, ...]]:
    """What pages show, beside the settings: name -> choices, the first is the default."""
    found = pages.views()
    return {name: found[name] for name in (*OLD, *found) if name in found}


def choices(view: str) -> tuple[str, ...]:
    """What a view can be, as its page says."""
    return pages.views()[view]


def read() -> None:
    """Put what the URL says into the controls, if the URL was changed by someone else."""
    state, query = st.session_state, dict(st.query_params)
    moved = any(name in state and state[name] != value for name, value in _last().items())
    if "_written" in state and (moved or not query or query == state["_written"]):
        if moved or not query:  # a widget was moved or another page opened: they were read
            state["_notes"] = []
        return
    values, notes = parse(query)
    for name, value in values.items():
        state[name] = value
    state["_notes"] = notes


def keep() -> None:
    """Hold every control's value: Streamlit forgets a widget that is not drawn.

    One that was forgotten all the same, because another page was opened while a fragment ran, gets
    its last value back.
    """
    state, last = st.session_state, _last()
    for name in (*SETTINGS, *views()):
        if name not in state:
            value = last.get(name)
            state[name] = parse({})[0][name] if value is None else value
        state[name] = state[name]


def write(settings: Settings) -> None:
    """Write every control to the URL.

    A page that was just opened has a bare address, though the server may still hold the query of
    the page before (a timer's rerun that met the click carries it): there it is written anyway.
    """
    state, query = st.session_state, full_query(settings)
    state["_last"] = {name: state.get(name) for name in (*SETTINGS, *views())}
    page = state.get("_page")
    if dict(st.query_params) != query or state.get("_written_on", page) != page:
        st.query_params.from_dict(query)
    state["_written"], state["_written_on"] = query, page


def full_query(settings: Settings) -> dict[str, str]:
    """All parameters of the present view, as strings."""
    state = st.session_state
    query = as_query(settings)
    query |= {name: state[name] for name in views() if state.get(name)}
    for name in (HIDE, PIN, PICK, NODE):
        if state.get(name):
            query[name] = state[name]
    return query


def as_query(settings: Settings) -> dict[str, str]:
    """Settings as query parameters: `{"beta": "0.05", "shrinkage": "true", …}`."""
    plain = settings.to_dict()
    return {name: _text(plain[name]) for name in SETTINGS}


def parse(query: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Values for every control and a sentence for each parameter that was left out."""
    values: dict[str, Any] = {name: getattr(Settings(), name) for name in SETTINGS}
    owned = views()
    values |= {name: options[0] for name, options in owned.items()}
    values |= {HIDE: "", PIN: "", PICK: "", NODE: ""}
    notes = []
    for name, text in query.items():
        if name in SETTINGS:
            try:
                values[name] = _checked(name, text)
            except SpearError as error:
                notes.append(f"{name}={text} in the link was left out: {error}")
        elif name in owned and text in owned[name]:
            values[name] = text
        elif name == HIDE:
            known = [part for part in text.split(",") if part in (*SETTINGS, *owned, "scenario")]
            values[HIDE] = ",".join(known)
            notes += [
                f"hide={part} in the link was left out: there is no such control."
                for part in text.split(",")
                if part and part not in known
            ]
        elif name == PICK and re.fullmatch(r"\d{1,6},\d{1,4}", text):
            values[PICK] = text
        elif name == NODE and re.fullmatch(r"\d{1,9}", text):
            values[NODE] = text
        elif name == PIN:
            pinned, wrong = unpin(text)
            values[PIN] = pin(pinned) if pinned else ""
            notes += wrong
        else:
            notes.append(f"{name}={text} in the link was left out: there is no such control here.")
    try:
        Settings(**{name: values[name] for name in SETTINGS})
    except SpearError as error:  # each value is fine by itself, together they are not
        notes.append(f"The link was left out: {error}")
        values |= {name: getattr(Settings(), name) for name in SETTINGS}
    return values, notes


def pin(settings: Settings) -> str:
    """A setting in one word of the URL: what differs from the defaults."""
    usual = as_query(Settings())
    changed = {k: v for k, v in as_query(settings).items() if v != usual[k]}
    return ",".join(f"{k}:{v}" for k, v in changed.items()) or "default"


def unpin(text: str) -> tuple[Settings | None, list[str]]:
    """The setting in such a word, and a sentence where it cannot be read."""
    changes: dict[str, Any] = {}
    try:
        for part in re.split(r",(?=[a-z_]+:)", text) if text not in ("", "default") else []:
            name, _, value = part.partition(":")
            if name not in SETTINGS:
                return None, [f"The pinned setting in the link was left out: what is {name!r}?"]
            changes[name] = _checked(name, value)
        return Settings(**changes), []
    except SpearError as error:
        return None, [f"The pinned setting in the link was left out: {error}"]


def _checked(name: str, text: str) -> Any:
    """The value of one parameter, or SpearError with the sentence that Settings gives."""
    value: Any = {"true": True, "false": False}.get(text, text)
    return getattr(Settings(**{name: value}), name)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return exact(value) if isinstance(value, float) else str(value)


def _last() -> dict[str, Any]:
    return st.session_state.get("_last", {})
