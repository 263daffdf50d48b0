"""Which node the Smooth page follows: by id, by a click, one step on, or on request."""

from collections.abc import Callable

import streamlit as st

from pages.shared import link
from spear_core import Graph, Result, SpearError
from spear_core.explain import neighbourhood as around
from spear_core.explain import node as look
from spear_core.explain.node import View
from spear_core.figures.common import class_names


def choose(result: Result) -> View:
    """Draw the ways to choose a node; what the chosen one sees."""
    state, graph, names = st.session_state, result.graph, class_names(result)
    here = (graph.name, graph.num_nodes)
    node = int(state[link.NODE] or graph.num_nodes)  # from a click, or from the link
    if node >= graph.num_nodes or state.get("_node_of", here) != here:
        first = look.find(result, right=False)
        node = first if first is not None else int(result.prediction.nodes[:1].sum())
    go_to(graph, node)
    view = look.inspect(result, node)
    near = [f"{n}, class {names[int(graph.y[n])]}" for n in view.neighbours[:500].tolist()]
    state["node_id"], state["step_to"] = node, None
    columns = st.columns([1, 1.4, 1.3, 1.3], vertical_alignment="bottom")
    columns[0].number_input(
        "Node", step=1, key="node_id", on_change=lambda: go_to(graph, state["node_id"])
    )
    columns[1].selectbox(
        "Step to a neighbour",
        near,
        key="step_to",
        placeholder=f"{len(view.neighbours):,} neighbours",
        on_change=lambda: go_to(graph, _named(state["step_to"])),
        disabled=not near,
    )
    for column, verdict in zip(columns[2:], ("wrong", "right"), strict=True):
        found = look.find(result, verdict == "right", node)
        column.button(
            f"A {verdict} one, please",
            on_click=go_to,
            args=(graph, found),
            disabled=found is None,
            width="stretch",
            help=f"No test node is {verdict} here." if found is None else "The next test node.",
        )
    if "_no_node" in state:
        st.error(state.pop("_no_node"))
    return view


def go_to(graph: Graph, node: int | None) -> None:
    """Look at another node; an id that is not there leaves a sentence."""
    state = st.session_state
    try:
        if node is not None:
            around.check_node(graph, node)
            state[link.NODE], state["_node_of"] = str(node), (graph.name, graph.num_nodes)
    except SpearError as error:
        state["_no_node"] = str(error)


def clicked(graph: Graph, key: str) -> Callable[[], None]:
    """What a click on a node of the chart with this key does."""

    def take() -> None:
        points = [p for p in st.session_state[key].selection.points if p.get("customdata")]
        go_to(graph, int(points[0]["customdata"][0]) if points else None)

    return take


def _named(choice: str | None) -> int | None:
    return int(choice.split(",")[0]) if choice else None
