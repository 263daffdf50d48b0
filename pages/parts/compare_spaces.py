"""The Representations view of Compare: five maps of the same nodes with their silhouettes."""

from dataclasses import replace
from html import escape

import streamlit as st

from pages.shared import show
from spear_core import Result
from spear_core.baselines.spaces import SMOOTHED, Space, mapped, spaces
from spear_core.figures import compare as figures
from spear_core.figures.palette import class_colours
from spear_core.paper import rivals

ROUNDS = 50
COLUMNS = 3
MADE = f"""from spear_core.baselines.spaces import mapped, spaces
from spear_core.figures import compare as draw
found, label = spaces(r, {ROUNDS}), r.graph.y[mapped(r.graph)].numpy()
"""


def draw(result: Result) -> None:
    """The maps, once somebody asked for them: training takes its time."""
    st.caption(
        "Do trained clients pull the classes apart? The same test nodes in five representations: "
        f"raw, smoothed by SPEAR, and the hidden layer of three methods after {ROUNDS} rounds "
        "(FedProto's clients are averaged for it). Above each map its cosine silhouette: 1 means "
        "classes far apart, below 0 means mixed."
    )
    go = st.toggle("Train and map them (about a minute)", key="compare_space")
    if not go:
        return
    found = _made(result)
    label = result.graph.y[mapped(result.graph)].cpu().numpy()
    names, theirs = result.graph.names, rivals.silhouettes(result.settings.dataset)
    dots = zip(class_colours(len(names)), names, strict=True)
    st.html(" &ensp; ".join(f'<span style="color:{c}">●</span>&nbsp;{escape(n)}' for c, n in dots))
    cells = [column for _ in range(0, len(found), COLUMNS) for column in st.columns(COLUMNS)]
    for number, (cell, space) in enumerate(zip(cells, found, strict=False)):
        score = "–" if space.silhouette is None else f"{space.silhouette:.3f}"
        also = theirs.get("SPEAR" if space.name == SMOOTHED else space.name)
        with cell:
            beside = "" if also is None else f" (printed {also:.3f})"
            st.markdown(f"**{space.name}**: {score}{beside}")
            alt = f"Map of {space.name}, silhouette {score}."
            code = f"{MADE * (not number)}draw.space(found[{number}], label, r.graph.names)"
            figure, key = figures.space(space, label, names), f"compare-space-{space.name}"
            show.chart(figure, key, alt, code=code)
    best = max(found, key=lambda space: space.silhouette or -1.0)
    st.markdown(
        f"**{best.name}** separates the classes best here. A map's distances are not those of the "
        "features; the silhouettes are."
    )


def _made(result: Result) -> list[Space]:
    """The five, kept while the session lasts; only data, split, seed, α and T matter."""
    kept = st.session_state.setdefault("_compare_maps", {})
    key = replace(result.settings, gamma=0.5)
    if key not in kept:
        bar = st.progress(0.0, "Starting")
        kept[key] = spaces(result, ROUNDS, lambda words, part: bar.progress(part, words))
        bar.empty()
    return kept[key]
