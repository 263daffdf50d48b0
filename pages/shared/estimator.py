"""Which estimator reads the message: the paper's, LANCE, or one put together, by one switch."""

from functools import partial
from typing import Any

import streamlit as st

from pages.shared.show import shown
from spear_core import Settings
from spear_core.lance import ESTIMATORS, estimator_of
from spear_core.settings import FIELDS, choices, titled, told, written

SPEAR, LANCE, CUSTOM = NAMES = ("SPEAR", "LANCE", "custom")
PARTS = {  # what choosing a name sets
    **ESTIMATORS,
    CUSTOM: {"smoothing": "gated", "head": "ridge", "sketch": 0.0},
}
WORDS = ("smoothing", "head")
RANKS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, float("inf"))
NUMBERS: dict[str, tuple[Any, Any, Any]] = {  # name -> lowest, highest, step
    "gate": (-1.0, 1.0, 0.01),
    "gate_alpha": (0.0, 0.99, 0.05),
    "gate_steps": (0, 100, 1),
    "ridge": (0.01, 1e6, 0.25),
}
FINE = (*NUMBERS, "test_alpha", "test_steps", "sketch_cap")  # what LANCE has by default
FIELDS_OF_IT = (*WORDS, "sketch", *FINE)
DRAWN = (*WORDS, "sketch", "sketch_cap", *NUMBERS)  # under Variants
UNUSED = "No part in it: the ridge reads every mean with its count."


def name_of(settings: Settings) -> str:
    """SPEAR and LANCE by name as they are by default; anything else is custom."""
    name = estimator_of(settings)
    asked = FINE if name == LANCE else ("test_alpha", "test_steps")
    usual = all(getattr(settings, field) == FIELDS[field].default for field in asked)
    return name if usual else CUSTOM


def switch() -> None:
    """The switch in the sidebar, beside the dataset."""
    if not shown("estimator"):
        return
    state = st.session_state
    state["estimator"] = name_of(Settings(**{n: state[n] for n in FIELDS_OF_IT}))
    st.selectbox(
        "Estimator",
        NAMES,
        key="estimator",
        on_change=_take,
        help="How clients smooth and the server scores a node. SPEAR is the paper's; LANCE reads "
        "a message of the same shape, with a sketch, as one regression; custom begins with LANCE "
        "without a sketch, and its parts are under Variants.",
    )


def parts() -> None:
    """The parts of an estimator, one control each, under Variants."""
    state = st.session_state
    for name in filter(shown, WORDS):
        st.selectbox(titled(name), choices(name), key=name, help=told(name))
    if shown("sketch"):
        ranks, form = sorted({*RANKS, state["sketch"]}), partial(written, "sketch")
        st.select_slider(
            titled("sketch"), ranks, key="sketch", format_func=form, help=told("sketch")
        )
    if shown("sketch_cap"):
        st.toggle(titled("sketch_cap"), key="sketch_cap", help=told("sketch_cap"))
    for name, (low, high, step) in NUMBERS.items():
        if shown(name):
            most = max(high, state[name])
            least = min(low, state[name])
            st.number_input(titled(name), least, most, step=step, key=name, help=told(name))


def kept() -> dict[str, Any]:
    """The estimator as it is now, where a scenario sets all else."""
    return {name: st.session_state[name] for name in FIELDS_OF_IT}


def idle(name: str, page: str) -> str:
    """Why a knob does nothing under the present estimator; Shrink is about γ all the same."""
    ridge = st.session_state["head"] == "ridge"
    return UNUSED if ridge and name == "gamma" and page != "shrink" else ""


def _take() -> None:
    state = st.session_state
    for name in FINE:
        state[name] = FIELDS[name].default
    for name, value in PARTS[state["estimator"]].items():
        state[name] = float(value) if name == "sketch" else value
