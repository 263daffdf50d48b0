"""The live map on a page: what is ready at once, refined in the background, swapped when done."""

from concurrent.futures import CancelledError, Future, ThreadPoolExecutor

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared import controls, frame, link, runs, show
from pages.shared.livemap import live_map
from pages.shared.pinned import same_graph
from spear_core import Graph, Result, ahead, embed
from spear_core.embed import Map
from spear_core.embed.jobs import step_back
from spear_core.embed.turns import wait_for_pages
from spear_core.figures.map import alt_text, distances, map_figure
from spear_core.figures.map.pinned import alt_pinned, with_pinned
from spear_core.figures.map.places import placed

PATIENCE = 0.4  # seconds that a run and its map may take on a large graph before the page goes on

_pool = ThreadPoolExecutor(1, "spear-places", step_back)
_wanted: list[Result] = []  # the one that was drawn last


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
    state = st.session_state
    _wanted[:] = [result]
    shown, drawn = _in_time(result, before)
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
        _pool.submit(_make_ahead, result)
    if late:
        _wait_for_places(state["_placing"][1])
    elif not shown.fitted:
        _wait(result.settings.dataset, shown.alpha, shown.steps, result.graph)
    return not late


def _small(graph: Graph) -> bool:
    return graph.num_nodes <= runs.SMALL and graph.x.numel() <= runs.LARGE


def _make_ahead(result: Result) -> None:
    """Once the map is placed, what the next click can use; left when another setting comes."""

    def pause() -> None:
        wait_for_pages()
        if _wanted != [result]:
            raise CancelledError

    ahead.prepare(result.graph, result.sent, result.settings, controls.MOST_STEPS, pause)


def _in_time(result: Result, before: Result | None) -> tuple[Map, Result]:
    """The map and the result to draw on it: this one, or the last one while this one is made.

    Small graphs and first views wait for their own map, however long it takes.
    """
    state, graph = st.session_state, result.graph
    last: tuple[Map, Result] | None = state.get("_placed")
    if not _small(graph) and last is not None and same_graph(last[1], result):
        asked: tuple[Result, Future[Map]] | None = state.get("_placing")
        if asked is None or asked[0] is not result:
            if asked:
                asked[1].cancel()  # if it still waits, nobody wants it any more
            asked = state["_placing"] = (result, _pool.submit(_prepared, result, before))
        try:
            asked[1].result(timeout=max(0.0, PATIENCE - result.method_seconds))
        except TimeoutError:
            return last
    state["_placed"] = _prepared(result, before), result  # at once if the thread has done it
    return state["_placed"]


def _prepared(result: Result, before: Result | None) -> Map:
    """The map of a result, with everything that is placed on it computed."""
    graph, s = result.graph, result.settings
    made = embed.ready(graph, s.alpha, s.steps) or embed.preview(graph, s.alpha, s.steps)
    for one in filter(None, (result, same_graph(before, result))):
        placed(made, one)
    distances(result)
    return made


def _by_timer() -> bool:
    """Whether a fragment runs by its timer: inside a run of the page it would cut that short."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


@st.fragment(run_every=0.4)
def _wait_for_places(job: "Future[Map]") -> None:
    """The page is drawn again when the map of the present setting is there."""
    if job.done() and _by_timer():
        st.rerun()
    st.caption("The map of this setting is on its way.")


@st.fragment(run_every=0.7)
def _wait(_name: str, alpha: float, steps: int, graph: Graph) -> None:
    """How far the UMAP is; the page is drawn again when it is there."""
    job = embed.background_fit(graph, alpha, steps)
    if job.error:
        st.caption(f"The UMAP could not be made: {job.error}")
    elif job.map is not None and _by_timer():
        st.rerun()
    else:
        st.progress(job.fraction, f"PCA preview shown. {job.sentence}")
