"""The sidebar: dataset, knobs, what happens to the data, variants, pin and link, the accuracy."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import estimator, foot, knobs, lab, link, play, present
from pages.shared.plain import plain
from pages.shared.show import shown
from spear_core import PAPER_SEEDS, Settings, defaults
from spear_core.datasets import CATALOGUE, SYNTHETIC, store
from spear_core.settings import FIELDS, choices, titled, told

STYLE = f"<style>{Path(__file__).with_name('sidebar.css').read_text()}</style>"
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
    with st.sidebar:
        link.history()
    link.read()
    play.advance()
    state = st.session_state
    if state.get("dataset", Settings().dataset) not in CATALOGUE:  # it was removed meanwhile
        state["_notes"] = [f"{state['dataset']} is not on this machine any more."]
        put(Settings())
    for note in state.get("_notes", ()):
        st.warning(plain(note, 500))
    link.keep()
    return link.affordable(Settings(**{name: state[name] for name in link.SETTINGS}))


def draw(settings: Settings | None, above: DeltaGenerator, lesson: bool = False) -> None:
    """The sidebar. The frame draws it after the page, whose numbers people wait for.

    A lesson has its one control on the page, so the sidebar keeps only the link then. Without
    settings, because the controls do not go together, there is nothing to link to or to pin.
    """
    with st.sidebar:
        st.html(STYLE)
        if lesson:
            st.caption("The lesson has its one control on the page. Every other page has all.")
        else:
            _dataset()
            for name in knobs.KNOBS:
                knobs.draw(name)
            lab.switch()
            _scenario()
            _more()
            st.button("Paper defaults", on_click=_reset, width="stretch")
        present.way_out()
        play.clock(settings)
        with st.container(key="foot", gap=None):
            with st.container(horizontal=True, key="foot_buttons", gap="small"):
                if not lesson:
                    _pin_button(settings)
                present.draw(settings)
                _copy_link(settings)
            foot.draw(settings, above, lesson)


def _scenario() -> None:
    if not shown("scenario"):
        return
    st.selectbox(
        "Scenario",
        list(SCENARIOS),
        index=None,
        key="scenario",
        placeholder="Choose one to start from",
        on_change=_take_scenario,
        help="Sets the controls. 'Paper default' resets them.",
    )
    if st.session_state.get("scenario"):
        st.caption(SCENARIOS[st.session_state["scenario"]][1])


def _dataset() -> None:
    left, right = st.columns([1.15, 1], gap="small")
    if shown("dataset"):
        names, change = list(CATALOGUE), _fit_clients
        left.selectbox(
            titled("dataset"), names, key="dataset", format_func=_offer, on_change=change
        )
    with right:
        estimator.switch()
    if st.session_state["dataset"] == "synthetic" and any(map(shown, SYNTHETIC)):
        with st.popover("Shape of the synthetic graph", width="stretch"):
            for name in ("nodes", "classes", "features"):
                _number(name, FIELDS[name].metadata["low"], FIELDS[name].metadata["link_high"])
            _slider("degree", 0.0, FIELDS["degree"].metadata["link_high"], 0.5)
            _slider("homophily", 0.0, 1.0, 0.05)
            _slider("strength", 0.0, 2.0, 0.05)


def _more() -> None:
    """What is moved less often: the seed, and the variants of the method."""
    words = knobs.idle("seed") or f"The paper's five are {', '.join(map(str, PAPER_SEEDS))}."
    _number("seed", 0, 2**32 - 1, words, disabled=bool(knobs.idle("seed")))
    if any(map(shown, (*CHOICES, *SWITCHES, *NUMBERS, *estimator.DRAWN))):
        with st.popover("Variants", width="stretch"):
            estimator.parts()
            for name in filter(shown, CHOICES):
                st.selectbox(titled(name), _kinds(name), key=name, on_change=_fit_owners)
            for name in filter(shown, SWITCHES):
                st.toggle(titled(name), key=name, help=told(name))
            for name in NUMBERS:
                _number(name, *NUMBERS[name], help=told(name))


def _pin_button(settings: Settings | None) -> None:
    if st.session_state.get(link.PIN):
        st.button("Unpin", on_click=_unpin, icon=":material/keep_off:")
    elif settings:
        st.button(
            "Pin",
            on_click=_pin,
            args=(settings,),
            icon=":material/keep:",
            help="Keeps this setting, to compare the next ones with.",
        )


def _copy_link(settings: Settings | None) -> None:
    """The whole link to this view; the browser's address bar shows the same."""
    if settings is None:
        return
    with st.popover("Copy link", icon=":material/link:"):
        st.caption("It says what differs from the defaults, and opens this very view again.")
        st.code(link.address(settings), language=None, wrap_lines=True)


def pinned() -> Settings | None:
    """The setting that was pinned to compare with, if any."""
    text = st.session_state.get(link.PIN, "")
    return link.unpin(text)[0] if text else None


def _slider(name: str, low: Any, high: Any, step: Any) -> None:
    if shown(name):
        st.slider(titled(name), low, max(high, st.session_state[name]), step=step, key=name)


def _number(
    name: str, low: int, high: int, help: str | None = None, disabled: bool = False
) -> None:
    if shown(name):
        most = max(high, st.session_state[name])
        st.number_input(titled(name), low, most, step=1, key=name, help=help, disabled=disabled)


def _offer(name: str) -> str:
    """The name, with what choosing it would download."""
    entry = CATALOGUE[name]
    return name if store.on_disk(entry) else f"{name} (downloads {entry.megabytes:g} MB)"


def put(settings: Settings) -> None:
    """Set every control to these settings."""
    for name in link.SETTINGS:
        st.session_state[name] = getattr(settings, name)


def _take_scenario() -> None:
    name = st.session_state["scenario"]
    if name:
        changes = SCENARIOS[name][0]
        changes = estimator.kept() | changes if changes else {}
        put(replace(defaults(changes.get("dataset", st.session_state["dataset"])), **changes))


def _kinds(name: str) -> list[str]:
    """The kinds of a variant; by owner only where the graph says who owns a node."""
    known = bool(CATALOGUE[st.session_state["dataset"]].owners) or st.session_state[name] == "owner"
    return [kind for kind in choices(name) if kind != "owner" or known]


def _fit_owners() -> None:
    """As many clients as there are owners, where these are the partition."""
    if st.session_state["partition"] == "owner":
        owners = CATALOGUE[st.session_state["dataset"]].owners
        st.session_state["clients"] = len(owners) or st.session_state["clients"]


def _reset() -> None:
    st.session_state["scenario"] = None
    put(defaults(st.session_state["dataset"]))


def _fit_clients() -> None:
    """A dataset brings its own number of clients: three for the 34 nodes of karate."""
    st.session_state["clients"] = defaults(st.session_state["dataset"]).clients


def _pin(settings: Settings) -> None:
    st.session_state[link.PIN] = link.pin(settings)


def _unpin() -> None:
    st.session_state[link.PIN] = ""
