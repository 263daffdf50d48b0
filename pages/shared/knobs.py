"""The five knobs: each a slider with its "?", a field for any value, ▶ and its ends in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from pages.shared import estimator, link, play
from pages.shared.pages import page_named
from pages.shared.show import shown
from spear_core import SpearError
from spear_core.errors import one_line
from spear_core.explain.stops import BETAS, CLIENTS, ENDS, GAMMAS, MOST_ALPHA, MOST_STEPS
from spear_core.settings import titled, written


@dataclass(frozen=True)
class Knob:
    """What is said of one knob, and where it stops."""

    help: str  # what it is, the formula, what to try
    played: Sequence[Any]  # the values that ▶ goes through
    stops: Sequence[Any] = ()  # of the slider; without them it has a range
    range: tuple[Any, Any, Any] | None = None  # lowest, highest, step


KNOBS: dict[str, Knob] = {
    "beta": Knob(
        "How unevenly the classes are dealt to the clients: each class is cut into shares "
        "$q \\sim \\mathrm{Dir}(\\beta)$, one a client.\n\n*Try* 0.01, then 10: the map's ◆ "
        "go from a few large ones to many alike.",
        BETAS,
        BETAS,
    ),
    "clients": Knob(
        "How many clients share the graph, $K$. Edges between two of them are cut.\n\n*Try* 1, "
        "which is no federation, then 200: few labels a client, so λ grows.",
        (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100, 150, 200),
        CLIENTS,
    ),
    "alpha": Knob(
        "How much neighbours weigh at every smoothing step: "
        "$Z \\leftarrow (1-\\alpha)X + \\alpha\\hat A Z$.\n\n*Try* 0, then 0.9: it helps where "
        "neighbours are alike and harms where they differ. Values up to 1 can be typed.",
        tuple(round(0.05 * i, 2) for i in range(20)),
        range=(0.0, MOST_ALPHA, 0.01),
    ),
    "steps": Knob(
        "How many smoothing steps, $T$: a node hears of others up to $T$ edges away.\n\n*Try* 0, "
        "which ignores the graph, then 10 with α = 0.9.",
        (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, MOST_STEPS),
        range=(0, MOST_STEPS, 1),
    ),
    "gamma": Knob(
        "How far a client's own count $n$ is trusted: a prototype is pulled to its peers by "
        "$\\lambda = 1/(1+\\gamma n)$.\n\n*Try* 0, where peers decide alone, and ∞ (type inf), "
        "where nothing is pulled.",
        GAMMAS,
        GAMMAS,
    ),
}


def draw(name: str) -> None:
    """One knob, dimmed with the reason where the page does not read it."""
    if not shown(name):
        return
    state, knob = st.session_state, KNOBS[name]
    reason = idle(name)
    dim = bool(reason)
    help = f"{reason}\n\n{knob.help}" if reason else knob.help
    with st.container(key=f"knob_{name}", gap=None):
        if knob.range:
            low, high, step = knob.range
            high = state[f"_most_{name}"] = max(high, state[name], state.get(f"_most_{name}", high))
            st.slider(titled(name), low, high, step=step, key=name, help=help, disabled=dim)
        else:
            stops = sorted({*knob.stops, *_own_stop(name, knob)})
            form = partial(written, name)
            st.select_slider(
                titled(name), stops, key=name, format_func=form, help=help, disabled=dim
            )
        _field(name, dim)
        play.button(name, knob.played, dim)
        wrong = state.get(f"_wrong_{name}")
        words = escape(reason or wrong or "")
        low_end, high_end = ENDS[name]
        st.html(
            f'<div class="ends{" said" * bool(words)}{" wrong" * bool(wrong and not reason)}">'
            + (
                f"<span>{words}</span>"
                if words
                else f"<span>{low_end}</span><span>{high_end}</span>"
            )
            + "</div>"
        )


def idle(name: str) -> str:
    """Why a control does nothing on the present page; empty where it does something."""
    page = st.session_state["_page"]
    return page_named(page).idle.get(name, "") or estimator.idle(name, page)


def _own_stop(name: str, knob: Knob) -> tuple[Any, ...]:
    """A typed value between the stops stays one of them, else the slider would be built anew."""
    state = st.session_state
    if state[name] not in knob.stops:
        state[f"_stop_{name}"] = state[name]
    return (state[f"_stop_{name}"],) if f"_stop_{name}" in state else ()


def _field(name: str, dim: bool) -> None:
    """The value in digits, to read and to type: any that the setting takes, ∞ as inf."""
    state, key = st.session_state, f"typed_{name}"
    if f"_wrong_{name}" not in state or state.get("_moved_on", {}).get(name) != state[name]:
        state[key] = written(name, state[name])
        state.pop(f"_wrong_{name}", None)
    label = f"{titled(name)}: type a value"
    st.text_input(
        label, key=key, on_change=_typed, args=(name,), disabled=dim, label_visibility="collapsed"
    )


def _typed(name: str) -> None:
    """Take over a typed value; one that cannot be used stays in the field with a sentence."""
    state = st.session_state
    text = state[f"typed_{name}"].strip().replace("∞", "inf").replace(",", ".")
    try:
        state[name] = link.checked(name, text)
        state.pop(f"_wrong_{name}", None)
    except SpearError as error:
        state[f"_wrong_{name}"] = one_line(error)[:200]
        state["_moved_on"] = state.get("_moved_on", {}) | {name: state[name]}
