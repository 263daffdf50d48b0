"""The card of a node that was asked on the map: why it is right or wrong, beside the map."""

import streamlit as st

from pages.shared import background, followed
from pages.shared.pinned import same_graph
from pages.shared.plain import plain
from spear_core import Result
from spear_core.explain import node as look
from spear_core.explain.node import View
from spear_core.explain.words import explain
from spear_core.figures.card import BARS, builder_bars, similarity_bars
from spear_core.figures.map.asked import similar

CHIPS = 5  # neighbours and similar nodes to step to
STYLE = """
.stColumn:has(.st-key-node_card), .st-key-beside { position: relative; }
.st-key-beside .st-key-node_card { min-height: 480px; }
.st-key-node_card { position: absolute; inset: 0 0 auto 0; min-height: 100%; max-height: 640px;
  overflow: auto; z-index: 5; padding: 0.5rem 0.9rem 0.7rem; gap: 0.5rem; border-radius: 0.75rem;
  background: light-dark(#fff, #171614); border: 1px solid rgba(128, 128, 128, 0.35);
  box-shadow: 0 4px 18px rgba(0, 0, 0, 0.16); }
.st-key-node_card p { font-size: 0.88rem; line-height: 1.4; }
.st-key-card_head { flex-wrap: nowrap; gap: 0.3rem; }
.st-key-card_head .stElementContainer:has(.stMarkdown) { flex: 1 1 0 !important; min-width: 0; }
.st-key-card_head .st-key-card_close { flex: none; }
.st-key-card_head button { min-height: 1.6rem; }
"""


def view_of(result: Result) -> View | None:
    """What the node that was asked for sees in this run, if one was asked for."""
    node = followed.asked(result.graph)
    return None if node is None else look.inspect(result, node)


def draw(result: Result, view: View | None) -> None:
    """The card, over what stands beside the map, which stays where it is."""
    st.html(f"<style>{STYLE}{BARS}</style>")
    if view is None:
        return
    graph, names = result.graph, result.graph.names
    with st.container(key="node_card"):
        with st.container(key="card_head", horizontal=True, vertical_alignment="center"):
            verdict = "right" if view.right else "wrong"
            st.markdown(f"**Node {view.node}: class {plain(names[view.true])}, {verdict}**")
            st.button(
                "Close",
                key="card_close",
                icon=":material/close:",
                type="tertiary",
                on_click=followed.leave,
            )
        st.caption(
            f"A {look.role_of(graph, view.node)} node of client "
            f"{int(result.partition.owner[view.node])}, named {plain(names[view.predicted])}."
        )
        st.markdown(plain(explain(result, view), 600))
        what = "Similarity to the prototypes" if view.measure == "similarity" else "Scores"
        st.caption(f"{what} after smoothing; the tick is before.")
        st.html(similarity_bars(result, view))
        st.caption(f"Who built prototype {plain(names[view.predicted])}.")
        st.html(builder_bars(result, view))
        _steps(result, "Neighbours", [(n, "") for n in view.neighbours[:CHIPS].tolist()])
        last = background.visitor().placed
        if last is not None and same_graph(last[1], result):
            found = similar(last[0], result, view, CHIPS)
            _steps(result, "Most like it, by cosine", [(n, f" · {c:.2f}") for n, c in found])
        st.page_link("pages/smooth.py", label="Follow it on Smooth", icon=":material/blur_on:")


def _steps(result: Result, label: str, nodes: list[tuple[int, str]]) -> None:
    """Other nodes to go on to, each with its class."""
    graph, state = result.graph, st.session_state
    if not nodes:
        return
    words = {n: f"{n} · {graph.names[int(graph.y[n])]}{more}" for n, more in nodes}
    key = f"card_{label}"
    state[key] = None
    st.pills(
        label,
        list(words),
        key=key,
        format_func=lambda n: plain(words[n]),
        on_change=lambda: followed.go_to(graph, state[key]),
    )
