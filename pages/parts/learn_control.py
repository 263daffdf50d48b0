"""The one control that a step of the lesson has on the page."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.shared import knobs, link
from spear_core.settings import titled, written

SLIDERS: dict[str, tuple[Sequence[float], str]] = {  # setting -> its values, its ends in words
    "beta": (knobs.BETAS, ": left each client one class, right all alike"),
    "clients": ((2, 3, 5, 8, 10, 15, 20), ""),
    "gamma": (knobs.GAMMAS, ": left peers alone, right no shrinkage"),
}
OWN = {"learn_n": "n, nodes in the mean", "learn_node": "Which test node"}  # no settings


def control(name: str) -> float:
    """The one control of a step; where it is a setting, it is the sidebar's own."""
    now = st.session_state[name]
    if name == "alpha":
        st.slider(titled(name), 0.0, max(knobs.MOST_ALPHA, now), step=0.01, key=name)
    elif name in SLIDERS:
        options, ends = SLIDERS[name]
        every, write = sorted({*options, now}), partial(written, name)
        st.select_slider(titled(name) + ends, every, key=name, format_func=write)
    else:
        every = sorted({*link.choices(name), now}, key=float)
        st.select_slider(OWN[name], every, key=name)
    return float(st.session_state[name])
