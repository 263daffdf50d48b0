"""The live map on a page: what is ready at once, refined in the background, swapped when done."""

import plotly.graph_objects as go
import streamlit as st

from pages.shared import background, card, drawn, followed, frame, knobs, link, runs, show
from pages.shared.livemap import live_map
from pages.shared.pinned import same_graph
from pages.shared.plain import plain
from spear_core import Graph, Result, Settings, embed
from spear_core.embed import Job, Map
from spear_core.embed.nodes import Pause
from spear_core.explain.node import View
from spear_core.figures.map import alt_text, distances, map_figure
from spear_core.figures.map.places import placed
from spear_core.lance.gate import at_test

PLANE = """from spear_core import embed
from spear_core.figures.map import map_figure
from spear_core.lance.gate import at_test
now = at_test(r.graph, s)
plane = embed.fit(r.graph, now.alpha, now.steps)"""


def draw(
    result: Result,
    before: Result | None,
    chosen: tuple[int, int] | None,
    pinned: Result | None = None,
) -> bool:
    """The map of this run with its switches; a click on a prototype picks it.

    `pinned` is a run on the same graph that stands beside it. On a large graph the map of the last
    setting stays until that of the new one is there: then this is False.
    """
    state, visitor = st.session_state, background.visitor()
    shown, made = _in_time(visitor, result, before)
    late = made is not result
    view = None if late else card.view_of(result)
    if late:
        before = chosen = pinned = None
    look = {"show": state["show"], "colour": state["colour"]}
    figure = map_figure(shown, made, **look, before=before, chosen=chosen, view=view)
    figure.layout.meta["nodes"] |= {"said": followed.complaint(), "asked": view is not None}
    if pinned:
        _one_of_two(figure, "B, now")
    words = alt_text(shown, made)
    if late:
        figure.layout.annotations[0].text += " · still of the last setting"
        words = f"Still of the last setting. {words}"
    clicked = live_map(figure, key="map", alt=words, height=440)
    drawn.add(_lines(look, chosen, view), words)
    if clicked and "client" in clicked:
        frame.pick(int(clicked["client"]), int(clicked["label"]))
    if clicked and "node" in clicked:
        _ask(result.graph, clicked["node"])
    with st.container(key="map_controls", horizontal=True, vertical_alignment="bottom"):
        show.switch("Prototypes", link.choices("show"), "show")
        show.switch("Colour by", link.choices("colour"), "colour")
        _search(result.graph)
        distance = st.popover("Distances", help="Map distances mislead: these are the real ones.")
    with distance:
        st.caption("Cosine distance to the true centroid of the class, in feature space.")
        far = distances(made)
        if pinned:
            far["global, pinned"] = distances(pinned)["global"]
        st.dataframe(far, hide_index=True)
    if not _small(result.graph):
        visitor.prepare(result, knobs.MOST_STEPS)
    if late and visitor.placing is not None:
        _wait_for_places(visitor.placing)
    elif not shown.final:
        wait(result.settings)
    return not late


def draw_pinned(pinned: Result) -> None:
    """The map of the pinned run: the nodes lie where they do on the other map, and zoom with it."""
    last = background.visitor().placed
    if last is None:
        return
    state, plane = st.session_state, last[0]
    figure = map_figure(plane, pinned, show=state["show"], colour=state["colour"])
    _one_of_two(figure, "A, pinned")
    said = f"Pinned. {alt_text(plane, pinned)}"
    clicked = live_map(figure, key="map_a", alt=said, height=440)
    look = {"show": state["show"], "colour": state["colour"]}
    drawn.add(f"map_figure(plane, pinned, {_named(look)})", said)
    if clicked and "node" in clicked:
        _ask(pinned.graph, clicked["node"])


def _lines(look: dict[str, str], chosen: tuple[int, int] | None, view: View | None) -> str:
    """The map in Python; the UMAP is awaited there."""
    given = _named(look) + (f", chosen={chosen}" if chosen else "")
    given += f", view=inspect(r, {view.node})" if view else ""
    node = "from spear_core.explain.node import inspect\n" if view else ""
    return f"{node}{PLANE}\nmap_figure(plane, r, {given})"


def _named(look: dict[str, str]) -> str:
    return ", ".join(f'{name}="{value}"' for name, value in look.items())


def _one_of_two(figure: go.Figure, name: str) -> None:
    figure.layout.annotations[0].text = f"<b>{name}</b> · {figure.layout.annotations[0].text}"
    figure.layout.meta["pair"] = True


def _ask(graph: Graph, node: int | None) -> None:
    """Follow the node that was picked on the map, or none, and draw the page again."""
    if node is None:
        followed.leave()
    else:
        followed.go_to(graph, int(node))
    link.redraw()


def _search(graph: Graph) -> None:
    node, state = followed.followed(graph), st.session_state
    state["find_node"] = "" if node is None else str(node)
    st.text_input(
        "Find a node",
        key="find_node",
        placeholder="its id",
        width=80,
        on_change=lambda: followed.search(graph, state["find_node"]),
    )


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
    graph, s = result.graph, at_test(result.graph, result.settings)
    made = embed.ready(graph, s.alpha, s.steps) or embed.preview(graph, s.alpha, s.steps, pause)
    for one in filter(None, (result, same_graph(before, result))):
        pause()
        placed(made, one)
    distances(result)
    return made


@st.fragment(run_every=0.4)
@frame.kindly()
def _wait_for_places(job: Job[None]) -> None:
    """The page is drawn again when the map of the present setting is there."""
    if job.done and background.by_timer():
        link.redraw()
    with st.container(key="under_way_places"):
        st.caption("The map of this setting is on its way.")


@st.fragment(run_every=0.7)
@frame.kindly()
def wait(settings: Settings, shown: str = "PCA preview shown.", name: str = "UMAP") -> None:
    """How far the UMAP is; the page is drawn again when it is there.

    Streamlit keeps what a fragment is given as long as the visit, so no graph is.
    """
    graph = runs.result_of(settings).graph
    now = at_test(graph, settings)
    job = background.visitor().fit(graph, now.alpha, now.steps)
    place = st.container(key="under_way_map")
    if job.error:
        place.caption(f"The {name} could not be made: {plain(job.error)}")
    elif job.value is not None and background.by_timer():
        link.redraw()
    else:
        place.progress(job.fraction, f"{shown} {job.sentence}")
