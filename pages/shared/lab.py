"""What of the robustness lab is switched on, said on every page so that no number misleads."""

import math
from dataclasses import replace
from typing import Any

import streamlit as st

from spear_core import Settings
from spear_core.settings import equation, written

NAMES = (  # every setting that makes a run other than clean
    *("edge_noise", "feature_noise", "label_noise", "noise_test"),
    *("attacker_count", "chosen", "attackers", "inflate", "forge", "defence", "epsilon"),
)


def reminder(settings: Settings) -> None:
    """One line that names the noise, the liars, the defence and the privacy of this run."""
    words = in_words(settings)
    if not words:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/science: **Not a clean run**: {', '.join(words)}.")
        st.button("Clean again", on_click=_clean, key="lab_clean")


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
        words.append(f"{liars} {s.attackers} clients {' and '.join(does) or 'do nothing yet'}")
    if s.defence != "none":
        words.append(f"defence {s.defence}")
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
