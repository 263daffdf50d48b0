"""Which node the Smooth page follows: by id, by a click, one step on, or on request."""

import streamlit as st

from pages.shared import followed
from pages.shared.followed import go_to
from pages.shared.plain import plain
from spear_core import Result
from spear_core.explain import node as look
from spear_core.explain.node import View


def choose(result: Result) -> View:
    """Draw the ways to choose a node; what the chosen one sees."""
    state, graph, names = st.session_state, result.graph, result.graph.names
    node = followed.followed(graph)  # from a click, or from the link
    if node is None:
        first = look.find(result, right=False)
        node = first if first is not None else int(result.prediction.nodes[:1].sum())
        followed.propose(graph, node)
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
    wrong = followed.complaint()
    if wrong:
        st.error(plain(wrong))
    return view


def _named(choice: str | None) -> int | None:
    return int(choice.split(",")[0]) if choice else None
