"""Split: what β and K do to the graph before anything is computed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared import frame, link, show
from pages.shared.pinned import pinned_result, same_graph
from pages.shared.runs import result_or_stop
from spear_core import Result
from spear_core.figures import split as draw
from spear_core.measures.spread import percent

IMPORT = "from spear_core.figures import split as draw\n"
ALL, TRAINING = link.choices("split_count")
LATER: dict[str, Any] = {"alpha": 0.0, "steps": 0, "gamma": 0.5}  # a split knows nothing of them

settings = frame.settings()
result = result_or_stop(replace(settings, **LATER))
graph, part, metrics = result.graph, result.partition, result.metrics
pinned = pinned_result(result, **LATER)
pinned_here = same_graph(pinned, result)
more = ", pinned=pinned" if pinned_here else ""  # in the lines that draw a picture


def metric(column: Any, name: str, of: Callable[[Result], str], help: str) -> None:
    """A figure of this split, below it that of the pinned one."""
    then = f"pinned: {of(pinned)}" if pinned else None
    column.metric(name, of(result), then, "off", delta_arrow="off", help=help)


def cut(one: Result) -> str:
    share = one.partition.cut_edges / max(1, one.graph.num_edges)
    return f"{one.partition.cut_edges:,} ({percent(share, 1)})"


def inside(one: Result) -> str:
    known = [h for h in one.metrics.client_homophily if h is not None]
    return f"{sum(known) / len(known):.2f}" if known else "none"


def whole(one: Result) -> str:
    return "none" if one.metrics.homophily is None else f"{one.metrics.homophily:.2f}"


# who holds which class -----------------------------------------------------------------------
held = (part.counts > 0).sum(1)
words, choice = st.columns([3, 1], vertical_alignment="bottom")
with choice:
    which = show.switch("Count", link.choices("split_count"), "split_count")
with words:
    show.sentence(
        f"**{settings.clients}** clients share **{graph.num_nodes:,}** nodes; a client holds "
        f"**{float(held[held > 0].float().mean()):.1f}** of {graph.classes} classes on average: a "
        "row with one bright cell is a client that knows one class.",
        "split",
    )
training = which == TRAINING
alt = f"The {which} by client and class; clients hold {held.min()} to {held.max()} classes each."
code = f"{IMPORT}draw.holdings(r, {training}{more})"
show.chart(draw.holdings(result, training, pinned_here), "split_holdings", alt, code=code)
a, b, c, d = st.columns(4)
edges = f"{graph.num_edges:,} edges, each direction counted"
metric(a, "Edges cut", cut, f"Of {edges}. No client sees a cut edge.")
metric(b, "Homophily inside clients", inside, "The mean over clients that have edges.")
metric(c, "Homophily of the graph", whole, "Share of the edges that join nodes of one class.")
few = "A draw that leaves a client under 10 nodes is thrown away, 99 times at most."
metric(d, "Redraws", lambda one: str(one.partition.redraws), few)
st.caption(" ".join(part.notes) or "Every client has nodes: nothing is out of the ordinary.")

left, right = st.columns(2)
with left:
    st.subheader("How large clients are")
    st.caption("Look at the shortest bars: few training nodes give a noisy prototype.")
    alt = f"Bars of {part.sizes.min()} to {part.sizes.max()} nodes; {len(part.empty)} clients "
    alt += f"are empty, {len(part.untrained)} have no training node."
    show.chart(draw.sizes(result, pinned_here), "split_sizes", alt, code=f"draw.sizes(r{more})")
with right:
    st.subheader("What is left of the homophily")
    st.caption("Look for dots above the line: inside, neighbours are more alike than in the graph.")
    alt = f"A dot for each client, by size and homophily; the graph's own is {whole(result)}."
    code = f"draw.homophily(r{', pinned' if pinned else ''})"
    show.chart(draw.homophily(result, pinned), "split_homophily", alt, code=code)

st.subheader("The cut, close up")
part_of = "The whole graph." if graph.num_nodes <= 90 else "A part where many classes meet."
st.caption(
    f"{part_of} Colours are clients, signs in the nodes are classes. No client smooths over a "
    "dashed edge: its ends belong to two of them."
)
alt = f"{part_of} Clients as colours, cut edges dashed."
code = f"draw.small_graph(r{more})"
show.chart(draw.small_graph(result, pinned_here), "split_small", alt, code=code)

names = result.graph.names
clients = {
    "client": range(settings.clients),
    "nodes": part.sizes.tolist(),
    "training nodes": part.train_counts.sum(1).tolist(),
    "homophily": metrics.client_homophily,
}
show.export(
    {
        "Clients": pd.DataFrame(clients),
        "All nodes": pd.DataFrame(part.counts.tolist(), columns=names),
        "Training nodes": pd.DataFrame(part.train_counts.tolist(), columns=names),
    }
)
show.same_in_python(
    settings,
    "How SPEAR splits " + settings.dataset,
    "p = r.partition",
    "p.counts, p.train_counts, p.sizes, p.cut_edges, p.redraws, p.notes",
    "r.metrics.homophily, r.metrics.client_homophily",
)
