"""The node that is followed: asked on the map, looked at on Smooth, kept in the link."""

import streamlit as st

from pages.shared import link
from spear_core import Graph, SpearError
from spear_core.explain.neighbourhood import check_node


def followed(graph: Graph) -> int | None:
    """The node that was asked for on this graph, if any."""
    state = st.session_state
    text = state.get(link.NODE, "")
    if not text or int(text) >= graph.num_nodes:
        return None
    return int(text) if state.setdefault("_node_of", _name(graph)) == _name(graph) else None


def go_to(graph: Graph, node: int | None) -> None:
    """Follow another node; an id that is not there leaves a sentence."""
    state = st.session_state
    try:
        if node is not None:
            check_node(graph, node)
            state[link.NODE], state["_node_of"] = str(node), _name(graph)
            state.pop("_node_by_page", None)
    except SpearError as error:
        state["_no_node"] = str(error)


def propose(graph: Graph, node: int) -> None:
    """Follow a node that a page chose by itself: no other page opens because of it."""
    go_to(graph, node)
    st.session_state["_node_by_page"] = str(node)


def asked(graph: Graph) -> int | None:
    """The node that someone asked for; one that a page proposed is forgotten."""
    if st.session_state.get("_node_by_page") == st.session_state.get(link.NODE, ""):
        leave()
    return followed(graph)


def leave() -> None:
    """Follow no node."""
    st.session_state[link.NODE] = ""
    st.session_state.pop("_node_by_page", None)


def search(graph: Graph, text: str) -> None:
    """Follow the node with the id that was typed."""
    words = text.strip().lstrip("#")
    if not words:
        leave()
    elif words.isdecimal() and len(words) < 10:
        go_to(graph, int(words))
    else:
        last = graph.num_nodes - 1
        st.session_state["_no_node"] = f"A node is found by its number; use 0 to {last}."


def complaint() -> str:
    """What was wrong with the last id, said once."""
    return st.session_state.pop("_no_node", "")


def _name(graph: Graph) -> tuple[str, int]:
    return graph.name, graph.num_nodes
