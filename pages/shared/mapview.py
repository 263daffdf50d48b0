"""The live map on a page: what is ready at once, refined in the background, swapped when done."""

import streamlit as st

from pages.shared import frame, link
from pages.shared.livemap import live_map
from spear_core import Result, embed
from spear_core.figures.map import alt_text, distances, map_figure


def draw(result: Result, before: Result | None, chosen: tuple[int, int] | None) -> None:
    """The map of this run with its switches; a click on a prototype picks it."""
    graph, s, state = result.graph, result.settings, st.session_state
    made = embed.ready(graph, s.alpha, s.steps)
    shown = made or embed.preview(graph, s.alpha, s.steps)
    figure = map_figure(
        shown, result, show=state["show"], colour=state["colour"], before=before, chosen=chosen
    )
    clicked = live_map(figure, key="map", alt=alt_text(shown, result), height=440)
    if clicked and "client" in clicked:
        frame.pick(int(clicked["client"]), int(clicked["label"]))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control("Prototypes", link.VIEWS["show"], key="show", required=True)
        st.segmented_control("Colour by", link.VIEWS["colour"], key="colour", required=True)
        distance = st.popover("Distances", help="Map distances mislead: these are the real ones.")
    with distance:
        st.caption("Cosine distance to the true centroid of the class, in feature space.")
        st.dataframe(distances(result), hide_index=True)
    if made is None:
        _wait(s.dataset, s.alpha, s.steps, graph)


@st.fragment(run_every=0.7)
def _wait(_name: str, alpha: float, steps: int, graph: object) -> None:
    """How far the UMAP is; the page is drawn again when it is there."""
    job = embed.background_fit(graph, alpha, steps)  # type: ignore[arg-type]
    if job.error:
        st.caption(f"The UMAP could not be made: {job.error}")
    elif job.map is not None:
        st.rerun()
    else:
        st.progress(job.fraction, f"PCA preview shown. {job.sentence}")
