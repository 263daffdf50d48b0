"""The live map on a page: what is ready at once, refined in the background, swapped when done."""

import streamlit as st

from pages.shared import background, controls, frame, link, runs, show
from pages.shared.livemap import live_map
from pages.shared.pinned import same_graph
from spear_core import Graph, Result, embed
from spear_core.embed import Job, Map
from spear_core.embed.nodes import Pause
from spear_core.figures.map import alt_text, distances, map_figure
from spear_core.figures.map.pinned import alt_pinned, with_pinned
from spear_core.figures.map.places import placed


def draw(
    result: Result,
    before: Result | None,
    chosen: tuple[int, int] | None,
    pinned: Result | None = None,
) -> bool:
    """The map of this run with its switches; a click on a prototype picks it.

    `pinned` is a run on the same graph to compare with. On a large graph the map of the last
    setting stays until that of the new one is there: then this is False.
    """
    state, visitor = st.session_state, background.visitor()
    shown, drawn = _in_time(visitor, result, before)
    late = drawn is not result
    if late:
        before = chosen = pinned = None
    figure = map_figure(
        shown, drawn, show=state["show"], colour=state["colour"], before=before, chosen=chosen
    )
    figure = with_pinned(figure, shown, drawn, pinned, state["show"])
    words = alt_text(shown, drawn) + alt_pinned(pinned)
    if late:
        figure.layout.annotations[0].text += " · still of the last setting"
        words = f"Still of the last setting. {words}"
    clicked = live_map(figure, key="map", alt=words, height=440)
    if clicked and "client" in clicked:
        frame.pick(int(clicked["client"]), int(clicked["label"]))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        show.switch("Prototypes", link.choices("show"), "show")
        show.switch("Colour by", link.choices("colour"), "colour")
        distance = st.popover("Distances", help="Map distances mislead: these are the real ones.")
    with distance:
        st.caption("Cosine distance to the true centroid of the class, in feature space.")
        far = distances(drawn)
        if pinned:
            far["global, pinned"] = distances(pinned)["global"]
        st.dataframe(far, hide_index=True)
    if not _small(result.graph):
        visitor.prepare(result, controls.MOST_STEPS)
    if late and visitor.placing is not None:
        _wait_for_places(visitor.placing)
    elif not shown.fitted:
        wait(result.settings.dataset, shown.alpha, shown.steps, result.graph)
    return not late


def _small(graph: Graph) -> bool:
    return graph.num_nodes <= runs.SMALL and graph.x.numel() <= runs.LARGE


def _in_time(
    visitor: background.Visitor, result: Result, before: Result | None
) -> tuple[Map, Result]:
    """The map and the result to draw on it: this one, or the last one while this one is made.

    Small graphs and first views wait for their own map, however long it takes.
    """
    last = visitor.placed
    alike = last is not None and same_graph(last[1], result) is not None
    patience = background.PATIENCE if alike and not _small(result.graph) else None
    return visitor.place(result, lambda pause: _prepared(result, before, pause), patience)


def _prepared(result: Result, before: Result | None, pause: Pause) -> Map:
    """The map of a result, with everything that is placed on it computed."""
    graph, s = result.graph, result.settings
    made = embed.ready(graph, s.alpha, s.steps) or embed.preview(graph, s.alpha, s.steps, pause)
    for one in filter(None, (result, same_graph(before, result))):
        pause()
        placed(made, one)
    distances(result)
    return made


@st.fragment(run_every=0.4)
def _wait_for_places(job: Job[None]) -> None:
    """The page is drawn again when the map of the present setting is there."""
    if job.done and background.by_timer():
        st.rerun()
    st.caption("The map of this setting is on its way.")


@st.fragment(run_every=0.7)
def wait(_name: str, alpha: float, steps: int, graph: Graph) -> None:
    """How far the UMAP is; the page is drawn again when it is there."""
    job = embed.background_fit(graph, alpha, steps, background.wait_for_pages)
    if job.error:
        st.caption(f"The UMAP could not be made: {job.error}")
    elif job.value is not None and background.by_timer():
        st.rerun()
    else:
        st.progress(job.fraction, f"PCA preview shown. {job.sentence}")
