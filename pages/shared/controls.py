"""The controls in the sidebar: every knob of a run, with its symbol and its ends in words."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.shared import link
from pages.shared.show import shown
from spear_core import PAPER_SEEDS, Settings, defaults
from spear_core.datasets import CATALOGUE, SYNTHETIC, store
from spear_core.settings import choices, titled, told, written

BETAS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
MOST_STEPS = 20  # of the slider
GAMMAS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0, 2.0, 5.0, 10.0, 100.0, math.inf)
CLIENTS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 75, 100, 150, 200, 500, 1000)

CHOICES = ("partition", "peers", "reliability")  # the variants, by kind of control
SWITCHES = ("shrinkage", "count_weights")
NUMBERS = {"labels_per_class": (0, 10_000), "split": (0, 19)}  # name -> lowest and highest

SCENARIOS: dict[str, tuple[dict[str, Any], str]] = {
    "Paper default": ({}, "K = 10, β = 0.05, α = 0.15, T = 2, γ = 0.5."),
    "Extreme skew": (
        {"beta": 0.01},
        "Nearly every client holds a single class: few cells are left, and hardly any has peers.",
    ),
    "Many tiny clients": (
        {"clients": 200, "beta": 1.0},
        "200 clients with one or two labels a class: λ is large nearly everywhere.",
    ),
    "Homophilous, strong smoothing": (
        {"alpha": 0.9, "steps": 10},
        "Neighbours are alike here, so looking far helps. Pull α back to see it go.",
    ),
    "Heterophilous": (
        {"dataset": "synthetic", "homophily": 0.05, "alpha": 0.6, "strength": 0.3},
        "Neighbours mostly differ: smoothing mixes the classes up. Pull α down.",
    ),
    "One label a class": (
        {"labels_per_class": 1},
        "Each class is known from a single node, so the seed decides. Look at the spread.",
    ),
    "γ → 0": (
        {"gamma": 0.0, "beta": 0.3},
        "λ = 1: every prototype is replaced by its peers', however few samples those have.",
    ),
    "One client only": (
        {"clients": 1},
        "No federation: no edge is cut, one prototype a class is sent, nothing is pulled.",
    ),
}


def settings() -> Settings:
    """The settings chosen in the sidebar, after taking over what the link says."""
    link.read()
    state = st.session_state
    for note in state.get("_notes", ()):
        st.warning(note)
    link.keep()
    return _current()


def draw(lesson: bool = False) -> None:
    """The sidebar. The frame draws it after the page, whose numbers people wait for.

    A lesson has its one control on the page, so the sidebar keeps only the link then.
    """
    state = st.session_state
    if lesson:
        with st.sidebar:
            st.caption("The lesson has its one control on the page. Every other page has all.")
            _copy_link()
        return
    with st.sidebar:
        if shown("scenario"):
            st.selectbox(
                "Scenario",
                list(SCENARIOS),
                index=None,
                key="scenario",
                placeholder="Choose one to start from",
                on_change=_take_scenario,
                help="Sets the controls below. 'Paper default' resets them.",
            )
            if state.get("scenario"):
                st.caption(SCENARIOS[state["scenario"]][1])
        _data()
        _run()
        _buttons()
        _copy_link()


def _data() -> None:
    if shown("dataset"):
        names, change = list(CATALOGUE), _fit_clients
        st.selectbox(titled("dataset"), names, key="dataset", format_func=_offer, on_change=change)
    if st.session_state["dataset"] == "synthetic" and any(map(shown, SYNTHETIC)):
        with st.popover("Shape of the synthetic graph", width="stretch"):
            _number("nodes", 2, 1_000_000)
            _number("classes", 2, 100)
            _number("features", 1, 2000)
            _slider("degree", 0.0, 50.0, 0.5)
            _slider("homophily", 0.0, 1.0, 0.05)
            _slider("strength", 0.0, 2.0, 0.05)
    words = f"The paper's five are {', '.join(map(str, PAPER_SEEDS))}."
    _number("seed", 0, 2**32 - 1, words)


def _run() -> None:
    _steps("beta", BETAS, "each client one class", "all alike")
    _steps("clients", CLIENTS, "no federation", "many tiny ones")
    _slider("alpha", 0.0, 0.99, 0.01, ("ignores the graph", "neighbours decide"))
    _slider("steps", 0, MOST_STEPS, 1, ("looks nowhere", "looks far"))
    _steps("gamma", GAMMAS, "peers alone", "no shrinkage")
    if any(map(shown, (*CHOICES, *SWITCHES, *NUMBERS))):
        with st.popover("Variants", width="stretch"):
            for name in filter(shown, CHOICES):
                st.selectbox(titled(name), choices(name), key=name)
            for name in filter(shown, SWITCHES):
                st.toggle(titled(name), key=name, help=told(name))
            for name in NUMBERS:
                _number(name, *NUMBERS[name], help=told(name))


def _buttons() -> None:
    left, right = st.columns(2)
    left.button("Paper defaults", on_click=_reset, width="stretch")
    if st.session_state.get(link.PIN):
        right.button("Unpin", on_click=_unpin, width="stretch", icon=":material/keep_off:")
    else:
        right.button(
            "Pin",
            on_click=_pin,
            width="stretch",
            icon=":material/keep:",
            help="Keeps this setting, to compare the next ones with.",
        )


def _copy_link() -> None:
    """The whole link to this view; the browser's address bar shows the same."""
    with st.popover("Copy link", width="stretch", icon=":material/link:"):
        base = (st.context.url or "").split("?")[0]
        st.caption("Every control is in it, so it opens this very view again, also in a year.")
        st.code(f"{base}?{urlencode(link.full_query(_current()))}", language=None, wrap_lines=True)


def pinned() -> Settings | None:
    """The setting that was pinned to compare with, if any."""
    text = st.session_state.get(link.PIN, "")
    return link.unpin(text)[0] if text else None


def _steps(name: str, options: Sequence[Any], low: str, high: str) -> None:
    """A slider over chosen values; one from a link is added to them."""
    if shown(name):
        values = sorted({*options, st.session_state[name]})
        st.select_slider(titled(name), values, key=name, format_func=partial(written, name))
        _ends(low, high)


def _slider(name: str, low: Any, high: Any, step: Any, ends: tuple[str, str] | None = None) -> None:
    if shown(name):
        st.slider(titled(name), low, max(high, st.session_state[name]), step=step, key=name)
        if ends:
            _ends(*ends)


def _number(name: str, low: int, high: int, help: str | None = None) -> None:
    if shown(name):
        most = max(high, st.session_state[name])
        st.number_input(titled(name), low, most, step=1, key=name, help=help)


def _ends(low: str, high: str) -> None:
    """What the two ends of a slider mean, in words."""
    st.html(f'<div class="ends"><span>{low}</span><span>{high}</span></div>')


def _offer(name: str) -> str:
    """The name, with what choosing it would download."""
    entry = CATALOGUE[name]
    if entry.builtin or store.found(entry):
        return name
    return f"{name} (downloads {entry.megabytes:g} MB)"


def put(settings: Settings) -> None:
    """Set every control to these settings."""
    for name in link.SETTINGS:
        st.session_state[name] = getattr(settings, name)


def _current() -> Settings:
    return Settings(**{name: st.session_state[name] for name in link.SETTINGS})


def _take_scenario() -> None:
    name = st.session_state["scenario"]
    if name:
        changes = SCENARIOS[name][0]
        put(replace(defaults(changes.get("dataset", st.session_state["dataset"])), **changes))


def _reset() -> None:
    st.session_state["scenario"] = None
    put(defaults(st.session_state["dataset"]))


def _fit_clients() -> None:
    """A dataset brings its own number of clients: three for the 34 nodes of karate."""
    st.session_state["clients"] = defaults(st.session_state["dataset"]).clients


def _pin() -> None:
    st.session_state[link.PIN] = link.pin(_current())


def _unpin() -> None:
    st.session_state[link.PIN] = ""
