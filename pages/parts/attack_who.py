"""The widgets that say who lies, what liars do and how the server defends itself."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.shared import show
from spear_core import Result
from spear_core.defences import DEFENCES
from spear_core.settings import FIELDS, titled, written

INFLATIONS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0, 1e6)
FLIPS = {
    "none": "tell the truth",
    "next": "call each class the next one",
    "reverse": "reverse the order of classes",
    "random": "call every node something else",
    "pair": "call one class another",
}
FORGERIES = {
    "none": "send the real ones",
    "random": "a random direction",
    "negated": "the negative",
    "copy": "a copy of another class's",
    "scaled": "the real ones times a factor",
    "nan": "not a number",
}
KNOBS = {  # of the defences: lowest, highest and step; any other as its setting says
    "cap_share": (0.05, 1.0, 0.05),
    "trim": (0.0, 0.45, 0.05),
    "expected_attackers": (0, 1000, 1),
}


def who(result: Result) -> None:
    """How many lie and which; naming them by hand makes them the chosen ones."""
    state = st.session_state
    rules = ("random", "smallest", "largest", "chosen")
    show.switch(titled("attackers"), rules, "attackers")
    named = state["attackers"] == "chosen"
    a, b = st.columns(2)
    most = max(result.partition.clients, state["attacker_count"])
    if show.shown("attacker_count"):
        a.number_input(titled("attacker_count"), 0, most, key="attacker_count", disabled=named)
    if show.shown("draw"):
        words = "Which random liars, labels and directions."
        b.number_input(titled("draw"), 0, 2**32 - 1, key="draw", help=words)
    state["attack_clients"] = list(result.attackers)
    if show.shown("chosen"):
        st.multiselect(
            titled("chosen"),
            range(result.partition.clients),
            key="attack_clients",
            on_change=_named,
            placeholder="nobody: click a row, or choose how many",
        )


def what(names: Sequence[str]) -> None:
    """What liars do to their labels, their counts and their prototypes."""
    state = st.session_state
    if show.shown("flip"):
        st.selectbox(titled("flip"), FLIPS, key="flip", format_func=FLIPS.__getitem__)
    if state["flip"] == "pair":
        for column, key in zip(st.columns(2), ("flip_from", "flip_to"), strict=True):
            options = sorted({*range(len(names)), state[key]})
            column.selectbox(titled(key), options, key=key, format_func=lambda c: _name(c, names))
    if show.shown("inflate"):
        st.select_slider(
            titled("inflate"),
            sorted({*INFLATIONS, state["inflate"]}),
            key="inflate",
            format_func=lambda r: written("inflate", r),
        )
    if show.shown("forge"):
        st.selectbox(titled("forge"), FORGERIES, key="forge", format_func=FORGERIES.__getitem__)
    if state["forge"] == "scaled":
        st.number_input(titled("forge_scale"), -1e9, 1e9, key="forge_scale")
    if state["forge"] == "random" or state["flip"] == "random":
        st.toggle(f"{titled('collude')}: the same lie for all", key="collude")


def defence() -> None:
    """How the server defends itself, and the one setting that the defence reads."""
    if show.shown("defence"):
        st.selectbox(
            titled("defence"),
            DEFENCES,
            key="defence",
            format_func=lambda name: DEFENCES[name].words,
        )
    knob = DEFENCES[st.session_state["defence"]].knob
    if knob:
        _knob(knob)


def _knob(name: str) -> None:
    """The control of a setting: a slider for a share, a field for anything else."""
    value, rule = st.session_state[name], FIELDS[name].metadata
    usual = rule.get("low", rule.get("above")), rule.get("high"), None
    low, high, step = KNOBS.get(name, usual)
    if name in KNOBS:  # a link may go further than the control
        low, high = min(low, value), max(high, value)
    draw = st.slider if isinstance(step, float) else st.number_input
    draw(titled(name), low, high, step=step, key=name)


def toggle(clients: Sequence[int], client: int) -> None:
    """Turn one client: a liar becomes honest, an honest one lies."""
    _put(set(clients) ^ {client})


def take(**values: Any) -> None:
    """Set some controls; for the callbacks of buttons."""
    for name, value in values.items():
        st.session_state[name] = value


def _named() -> None:
    _put(set(st.session_state["attack_clients"]))


def _put(clients: set[int]) -> None:
    take(attackers="chosen", chosen=",".join(str(k) for k in sorted(clients)))


def _name(label: int, names: Sequence[str]) -> str:
    return names[label] if label < len(names) else f"{label}: no such class here"
