"""The widgets that say who lies, what liars do and how the server defends itself."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.parts import attack_paper
from pages.shared import show
from spear_core import Result
from spear_core.defences import DEFENCES
from spear_core.settings import FIELDS, choices, titled, written

FIRST = 3  # liars to begin with
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
HELP = {  # of what liars do
    "attacker_count": "How many of the $K$ clients lie.\n\n*Try* 1, then 3, then half of them.",
    "flip": "What a liar calls its training nodes before it takes the means.\n\n*Try* the next "
    "class, then one class called another.",
    "forge": "What a liar sends in place of its means $p$.\n\n*Try* the negative, $-p$.",
    "inflate": "A liar reports $r\\,n$ for its count $n$; the server averages by count.\n\n*Try* "
    "× 100, then the cap on shares.",
}
SCALED = "Factor on the prototypes of liars."
KNOBS = {  # of the defences: lowest, highest and step; any other as its setting says
    "cap_share": (0.05, 1.0, 0.05),
    "trim": (0.0, 0.45, 0.05),
    "expected_attackers": (0, 1000, 1),
}


def who(result: Result) -> None:
    """How many lie and which; naming them by hand makes them the chosen ones."""
    state = st.session_state
    help = (
        "Smallest and largest go by all the nodes a client holds; most training nodes by those "
        "that make its prototypes. The bars beside the picture show both."
    )
    show.switch(
        titled("attackers"),
        choices("attackers"),
        "attackers",
        format_func=partial(written, "attackers"),
        on_change=_some,
        help=help,
    )
    named = state["attackers"] == "chosen"
    a, b = st.columns(2)
    most = max(result.partition.clients, state["attacker_count"])
    if show.shown("attacker_count"):
        a.number_input(
            titled("attacker_count"),
            0,
            most,
            key="attacker_count",
            disabled=named,
            help=HELP["attacker_count"],
        )
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
    """What liars do to their labels, counts and prototypes; what a lie does not read is dimmed."""
    state = st.session_state
    for key, words in (("flip", FLIPS), ("forge", FORGERIES)):
        if show.shown(key):
            st.selectbox(titled(key), words, key=key, format_func=words.__getitem__, help=HELP[key])
    a, b, c = st.columns(3)
    if show.shown("flip"):
        off = state["flip"] != "pair"
        for column, key in ((a, "flip_from"), (b, "flip_to")):
            options = sorted({*range(len(names)), state[key]})
            say = partial(_name, names=names)
            column.selectbox(titled(key), options, key=key, format_func=say, disabled=off)
    if show.shown("forge"):
        off = state["forge"] != "scaled"
        c.number_input("Times", -1e9, 1e9, key="forge_scale", disabled=off, help=SCALED)
    if show.shown("inflate"):
        st.select_slider(
            titled("inflate"),
            sorted({*INFLATIONS, state["inflate"]}),
            key="inflate",
            help=HELP["inflate"],
            format_func=partial(written, "inflate"),
        )
    st.toggle(
        f"{titled('collude')}: the same lie for all",
        key="collude",
        disabled="random" not in (state["forge"], state["flip"]),
        help="Where labels or directions are random.",
    )


def defence() -> None:
    """How the server defends itself, and the one setting that the defence reads."""
    a, b = st.columns(2)
    if show.shown("defence"):
        a.selectbox(
            titled("defence"),
            DEFENCES,
            key="defence",
            format_func=lambda name: DEFENCES[name].words,
            help=attack_paper.CONSENSUS,
        )
    knob = DEFENCES[st.session_state["defence"]].knob
    with b:
        if knob:
            _knob(knob)
        else:
            st.text_input("Its setting", "none", disabled=True)


def _knob(name: str) -> None:
    """The field of a setting; a link may go further than its usual ends."""
    value, rule = st.session_state[name], FIELDS[name].metadata
    usual = rule.get("low", rule.get("above")), rule.get("high"), None
    low, high, step = KNOBS.get(name, usual)
    if name in KNOBS:
        low, high = min(low, value), max(high, value)
    st.number_input(titled(name), low, high, step=step, key=name)


def toggle(clients: Sequence[int], client: int) -> None:
    """Turn one client: a liar becomes honest, an honest one lies."""
    _put(set(clients) ^ {client})


def take(**values: Any) -> None:
    """Set some controls; for the callbacks of buttons."""
    for name, value in values.items():
        st.session_state[name] = value


def _some() -> None:
    """Three lie where a rule was chosen and nobody did."""
    if st.session_state["attackers"] != "chosen" and not st.session_state["attacker_count"]:
        take(attacker_count=FIRST)


def _named() -> None:
    _put(set(st.session_state["attack_clients"]))


def _put(clients: set[int]) -> None:
    take(attackers="chosen", chosen=",".join(str(k) for k in sorted(clients)))


def _name(label: int, names: Sequence[str]) -> str:
    return names[label] if label < len(names) else f"{label}: no such class here"
