"""The controls in the sidebar: every knob of a run, with its symbol and its ends in words."""

import streamlit as st

from spear_core import PAPER_SEEDS, Settings, defaults
from spear_core.datasets import CATALOGUE, NAMES, store

BETAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
GAMMAS = (0.0, 0.01, 0.05, 0.1, 0.3, 0.5, 0.8, 1.0, 2.0, 5.0, 10.0, float("inf"))


def settings() -> Settings:
    """The settings chosen in the sidebar."""
    start = Settings()
    with st.sidebar:
        dataset = st.selectbox(
            "Dataset", NAMES, key="dataset", format_func=_offer, on_change=_fit_clients
        )
        seed = st.number_input(
            "Seed",
            min_value=0,
            max_value=2**32 - 1,
            value=start.seed,
            key="seed",
            help=f"The paper's five are {', '.join(map(str, PAPER_SEEDS))}.",
        )
        st.subheader("How the graph is split", divider="gray")
        beta = st.select_slider(
            "β, label skew",
            BETAS,
            start.beta,
            key="beta",
            format_func=lambda v: f"{v:g}",
            help="0.01: every client sees about one class. 10: all clients alike.",
        )
        clients = st.number_input(
            "K, clients", min_value=1, max_value=1000, value=start.clients, key="clients"
        )
        st.subheader("What a client computes", divider="gray")
        alpha = st.slider(
            "α, weight of the neighbours",
            0.0,
            0.95,
            start.alpha,
            0.05,
            key="alpha",
            help="0 ignores the graph; near 1 the neighbours decide.",
        )
        steps = st.slider(
            "T, smoothing steps",
            0,
            10,
            start.steps,
            key="steps",
            help="How far a node looks: 0 not at all.",
        )
        st.subheader("What the server computes", divider="gray")
        gamma = st.select_slider(
            "γ, trust in a client's own count",
            GAMMAS,
            start.gamma,
            key="gamma",
            format_func=lambda v: "∞" if v == float("inf") else f"{v:g}",
            help="λ = 1/(1 + γn). 0 takes the peers alone; ∞ leaves every prototype as it is.",
        )
    return Settings(
        dataset=dataset,
        seed=int(seed),
        beta=beta,
        clients=int(clients),
        alpha=alpha,
        steps=steps,
        gamma=gamma,
    )


def _offer(name: str) -> str:
    """The name, with what choosing it would download."""
    entry = CATALOGUE[name]
    if entry.builtin or store.found(entry):
        return name
    return f"{name} (downloads {entry.megabytes:g} MB)"


def _fit_clients() -> None:
    """A dataset brings its own number of clients: three for the 34 nodes of karate."""
    st.session_state["clients"] = defaults(st.session_state["dataset"]).clients
