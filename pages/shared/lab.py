"""What happens to the data: clean, noise, liars or private, by one switch in the sidebar."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from pages.shared import estimator
from pages.shared.pages import page_named
from pages.shared.show import shown
from spear_core import Settings
from spear_core.defences import DEFENCES
from spear_core.settings import choices, equation, titled, written

NAMES = (  # every setting that makes a run other than clean
    *("edge_noise", "feature_noise", "label_noise", "noise_test"),
    *("attacker_count", "chosen", "attackers", "inflate", "forge", "defence", "epsilon"),
)

CLEAN, NOISE, LIARS, PRIVATE = KINDS = ("clean", "noise", "liars", "private")
PRESETS: dict[str, dict[str, Any]] = {
    CLEAN: {},
    NOISE: {"edge_noise": 0.3, "feature_noise": 0.3},
    LIARS: {"attacker_count": 3},
    PRIVATE: {"epsilon": 1.0},
}
PAGES = {NOISE: "noise", LIARS: "attack", PRIVATE: "privacy"}  # where there is more of it
KNOBS = {  # the main ones of each kind
    NOISE: ("edge_noise", "feature_noise"),
    LIARS: ("attacker_count", "defence"),
    PRIVATE: ("epsilon",),
}
STOPS: dict[str, tuple[float, ...]] = {  # of those that are numbers
    "edge_noise": tuple(i / 10 for i in range(11)),
    "feature_noise": tuple(i / 10 for i in range(11)),
    "attacker_count": tuple(range(11)),
    "epsilon": (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, math.inf),
}


def switch() -> None:
    """The switch in the sidebar, and below it the main knobs of what was chosen."""
    if not shown("lab"):
        return
    state, page = st.session_state, st.session_state["_page"]
    reason = page_named(page).idle.get("lab", "")
    state["lab"] = kind = kind_of(state)
    st.segmented_control(
        "What happens to it",
        KINDS,
        key="lab",
        required=True,
        on_change=_take,
        disabled=bool(reason),
        help=reason or "Clean data, noise in it, clients that lie, or noise that hides nodes.",
        width="stretch",
    )
    with st.container(key="lab_area", gap=None):
        if reason or kind == CLEAN:
            st.caption(reason or "Nothing is noisy, nobody lies, nothing is hidden.")
        elif PAGES[kind] == page:
            st.caption("Its knobs are on this page.")
        else:
            names = [name for name in KNOBS[kind] if shown(name)]
            for column, name in zip(st.columns(2), names, strict=False):
                with column:
                    _knob(name)
            more = page_named(PAGES[kind])
            st.page_link(more.script, label=f"More on the page {more.title}")


def kind_of(state: Any) -> str:
    """Which of the four kinds the settings are; what lies comes before what is noisy."""
    if state["attacker_count"] or (state["attackers"] == "chosen" and state["chosen"]):
        return LIARS
    if state["epsilon"] < math.inf:
        return PRIVATE
    noisy = any(state[name] for name in ("edge_noise", "feature_noise", "label_noise"))
    return NOISE if noisy else CLEAN


def _knob(name: str) -> None:
    """One knob of the kind. Its page has a control of the same name, so this has its own key."""
    state, key = st.session_state, f"side_{name}"
    state[key] = state[name]
    look: dict[str, Any] = {"key": key, "format_func": partial(_say, name), "on_change": _moved}
    if name in STOPS:
        stops = sorted({*STOPS[name], state[name]})
        st.select_slider(titled(name), stops, **look, args=(name,))
    else:
        st.selectbox(titled(name), list(choices(name)), **look, args=(name,))


def _say(name: str, value: Any) -> str:
    return DEFENCES[value].words if name == "defence" else written(name, value)


def _moved(name: str) -> None:
    """Take over a knob, unless it has gone: a late word of one must not bring its kind back."""
    state = st.session_state
    if name in KNOBS.get(kind_of(state), ()):
        state[name] = state[f"side_{name}"]


def _take() -> None:
    """Clean again, then what was chosen."""
    chosen = st.session_state["lab"]
    _clean()
    for name, value in PRESETS[chosen].items():
        st.session_state[name] = value


def reminder(settings: Settings) -> None:
    """What noise, liars, defence and privacy this run has, on the bar of the menus."""
    words = in_words(settings)
    with st.container(key="not_clean", horizontal=True, vertical_alignment="center"):
        if words:
            st.button("Clean again", on_click=_clean, key="lab_clean")
            st.markdown(f":material/science: **Not a clean run**: {', '.join(words)}.")


def run_line(settings: Settings) -> str:
    """The run in one line, clean or not."""
    knobs = (
        equation(n, getattr(settings, n)) for n in ("clients", "beta", "alpha", "steps", "gamma")
    )
    name = estimator.name_of(settings)
    who = [] if name == estimator.SPEAR else [name]
    return ", ".join([settings.dataset, *who, *knobs, f"seed {settings.seed}", *in_words(settings)])


def in_words(settings: Settings) -> list[str]:
    """What differs from a clean run, a few words each."""
    s, words = settings, []
    where = " (test graph too)" if s.noise_test else ""
    if s.edge_noise:
        words.append(f"noise in edges, {equation('edge_noise', s.edge_noise)}{where}")
    if s.feature_noise:
        words.append(f"noise in features, {equation('feature_noise', s.feature_noise)}{where}")
    if s.label_noise:
        words.append(f"{100 * s.label_noise:g} % of the training labels wrong")
    liars = len(s.chosen.split(",")) if s.attackers == "chosen" and s.chosen else 0
    liars = liars or (s.attacker_count if s.attackers != "chosen" else 0)
    if liars:
        does = [f"flip labels ({s.flip})"] if s.flip != "none" else []
        does += [f"inflate counts {written('inflate', s.inflate)}"] if s.inflate != 1 else []
        does += [f"forge prototypes ({s.forge})"] if s.forge != "none" else []
        who = f"{liars} clients ({written('attackers', s.attackers)})"
        words.append(f"{who} {' and '.join(does) or 'do nothing yet'}")
    if s.defence != "none":
        words.append(f"defence {DEFENCES[s.defence].words}")
    if s.epsilon < math.inf:
        words.append(f"privacy noise, {equation('epsilon', s.epsilon)}")
    return words


def cleaned(settings: Settings) -> Settings:
    """The settings without noise, liars, defence and privacy."""
    return replace(settings, **_usual())


def _usual() -> dict[str, Any]:
    return {name: getattr(Settings(), name) for name in NAMES}


def _clean() -> None:
    for name, value in _usual().items():
        st.session_state[name] = value
