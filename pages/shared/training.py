"""Trained methods on a page: stored summaries, a live run with its curve, representations."""

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
import torch

from spear_core import Result, Settings
from spear_core.baselines import METHODS, defaults
from spear_core.baselines.results import append, own, row_of, stored
from spear_core.baselines.views import Summary, silhouette_of, summaries

MAPPED = 1000  # nodes on a map of a representation


def at(settings: Settings, rows: list[Any]) -> list[Summary]:
    """What is stored for the dataset, K and β of the settings."""
    here = (settings.dataset, settings.clients, settings.beta)
    return [s for s in summaries(rows) if (s.dataset, s.clients, s.beta) == here]


@st.cache_data(show_spinner=False)
def rows(stamp: float) -> list[Any]:
    """The stored runs; the stamp changes when one is added here."""
    return stored()


def all_rows() -> list[Any]:
    """The stored runs, read again when one was added."""
    path = own()
    return rows(path.stat().st_mtime if path.is_file() else 0.0)


def live(settings: Settings) -> None:
    """Train one method now, with its curve as it grows; what is done is kept when it is stopped."""
    a, b, c = st.columns([2, 2, 1], vertical_alignment="bottom")
    method = a.selectbox("Method", list(METHODS), key="compare_method", format_func=METHODS.get)
    rounds = b.select_slider("Rounds", (5, 10, 25, 50, 100), value=25, key="compare_rounds")
    go = c.button("Run it now", type="primary", width="stretch", key="compare_go")
    curve, note = st.empty(), st.empty()
    state = st.session_state
    if go:
        from spear_core.baselines.loop import Point, train  # PyG takes seconds to import

        state["_compare_live"] = (METHODS[method], [])
        note.button("Stop", key="compare_stop")  # any click ends the script between two rounds

        def show(point: Point) -> None:
            state["_compare_live"][1].append(point)
            _draw(curve)

        with st.spinner(f"{METHODS[method]} on {settings.dataset}", show_time=True):
            done = train(settings, defaults(method, rounds=rounds), show)
        state["_compare_live"] = (METHODS[method], list(done.curve))
        if not done.stopped:
            append(row_of(done), own())
        note.empty()
    if state.get("_compare_live"):
        _draw(curve)


def _draw(place: Any) -> None:
    name, points = st.session_state["_compare_live"]
    known = [100 * p.accuracy for p in points if p.accuracy is not None]
    if known:
        last = f"{name}: {known[-1]:.2f} % after {len(known)} of {points[-1].rounds} rounds"
        place.line_chart({last: known}, x_label="round", y_label="accuracy, %", height=260)


def representations(result: Result) -> dict[str, tuple[np.ndarray, float | None]]:
    """Maps and silhouettes of raw and smoothed features and of three trained hidden layers."""
    kept = st.session_state.setdefault("_compare_maps", {})
    key = replace(result.settings, gamma=0.5)
    if key not in kept:
        from spear_core.baselines.loop import train

        note = st.empty()
        spaces = {"raw features": _dense(result), "SPEAR, smoothed": result.z}
        for i, method in enumerate(("fedavg", "fedproto", "fedgta")):
            title = f"Training {METHODS[method]}"

            def say(point: Any, title: str = title, i: int = i) -> None:
                part = (i + point.round / point.rounds) / 4
                note.progress(part, f"{title}, round {point.round} of {point.rounds}")

            done = train(result.settings, defaults(method, rounds=50), say)
            spaces[METHODS[method]] = done.hidden
        note.progress(0.85, "Five maps")
        kept[key] = {
            n: (_map(result, z), silhouette_of(z, result.graph)) for n, z in spaces.items()
        }
        note.empty()
    return kept[key]


def mapped(result: Result) -> torch.Tensor:
    """The test nodes that are drawn: all, or evenly spaced ones."""
    nodes = result.graph.test_nodes
    return nodes[:: max(1, -(-len(nodes) // MAPPED))]


def _map(result: Result, z: torch.Tensor) -> np.ndarray:
    from umap import UMAP

    rows = z[mapped(result)].cpu().numpy()
    rows = rows + 1e-6 * np.random.default_rng(0).standard_normal(rows.shape)  # no all-zero row
    return UMAP(metric="cosine", n_neighbors=15, random_state=0, n_jobs=1).fit_transform(rows)


def _dense(result: Result) -> torch.Tensor:
    x = result.graph.features
    return x.to_dense() if x.layout == torch.sparse_csr else x
