"""Split: what β and K do to the graph before anything is computed."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from pages.shared import controls, frame, show
from pages.shared.engine import result_of, result_or_stop
from spear_core import Result, SpearError
from spear_core.figures import split as draw
from spear_core.figures.common import class_names

settings = frame.settings()
result = result_or_stop(replace(settings, alpha=0.0, steps=0))  # a split knows nothing of them
graph, part, metrics = result.graph, result.partition, result.metrics


def pinned_result() -> Result | None:
    """The pinned run to compare with; none where it cannot be made."""
    pinned = controls.pinned()
    try:
        return result_of(replace(pinned, alpha=0.0, steps=0)) if pinned else None
    except SpearError:
        return None


def cut_share(one: Result) -> float:
    return one.metrics.cut_edges / max(1, one.graph.num_edges)


def inside(one: Result) -> float | None:
    """Mean homophily of the clients that have edges."""
    known = [h for h in one.metrics.client_homophily if h is not None]
    return sum(known) / len(known) if known else None


def against(now: float | None, then: float | None) -> str | None:
    return None if now is None or then is None else f"{now - then:+.2f} against the pinned"


other = pinned_result()
st.title(f"How {settings.dataset} is split")
held = (part.counts > 0).sum(1).float()
st.markdown(
    f"**{settings.clients}** clients share **{graph.num_nodes:,}** nodes; a client holds "
    f"**{float(held[held > 0].mean()):.1f}** of {graph.classes} classes on average. Lower β and "
    "each class goes to fewer clients; raise K and the graph is cut into smaller pieces."
)
cut, alike, whole, draws = st.columns(4)
cut.metric(
    "Edges cut",
    f"{part.cut_edges:,} ({100 * cut_share(result):.1f} %)",
    against(cut_share(result), cut_share(other)) if other else None,
    delta_color="off",
    help=f"Of {graph.num_edges:,}, each direction counted. No client sees a cut edge.",
)
local, every = inside(result), metrics.homophily
alike.metric(
    "Homophily inside clients",
    "none" if local is None else f"{local:.2f}",
    against(local, inside(other)) if other else None,
    delta_color="off",
    help="Share of a client's own edges that join one class; the mean over clients with edges.",
)
whole.metric("Homophily of the graph", "none" if every is None else f"{every:.2f}")
draws.metric(
    "Redraws",
    part.redraws,
    help="A draw that leaves a client under 10 nodes is thrown away, 99 times at most.",
)
if part.notes:
    st.info(" ".join(part.notes), icon=":material/info:")

st.subheader("Who holds which class")
st.caption("Look along a row: a row with one bright cell is a client that knows one class.")
which = st.segmented_control(
    "Count", ["all nodes", "training nodes"], default="all nodes", key="split_count"
)
training = which == "training nodes"
show.chart(
    draw.holdings(result, training),
    key="split_holdings",
    alt=f"Heat map of {'training' if training else 'all'} nodes by client and class; clients hold "
    f"{int(held.min())} to {int(held.max())} classes each.",
)
left, right = st.columns(2)
with left:
    st.subheader("How large clients are")
    st.caption("Look at the shortest bars: few training nodes give a noisy prototype.")
    show.chart(
        draw.sizes(result, other),
        key="split_sizes",
        alt=f"Bars of client sizes from {int(part.sizes.min())} to {int(part.sizes.max())} nodes; "
        f"{len(part.empty)} clients are empty, {len(part.untrained)} have no training node.",
    )
with right:
    st.subheader("What is left of the homophily")
    st.caption("Look for dots above the line: inside, neighbours are more alike than in the graph.")
    show.chart(
        draw.homophily(result, other),
        key="split_homophily",
        alt=f"One dot a client, by size and homophily; the graph's own is {every or 0:.2f}.",
    )
st.subheader("The cut, close up")
small = graph.num_nodes <= 90
st.caption(
    ("The whole graph." if small else "A connected part of the graph where many classes meet.")
    + " Colours are clients, numbers are classes; dashed edges are cut, so no client smooths over"
    " them."
)
show.chart(draw.small_graph(result), key="split_small", alt="Small graph with clients as colours.")

names = class_names(result)
clients = pd.DataFrame(
    {
        "client": range(settings.clients),
        "nodes": part.sizes.tolist(),
        "training nodes": part.train_counts.sum(1).tolist(),
        "homophily": metrics.client_homophily,
    }
)
show.export(
    {
        "Clients": clients,
        "All nodes by client and class": pd.DataFrame(part.counts.tolist(), columns=names),
        "Training nodes by client and class": pd.DataFrame(
            part.train_counts.tolist(), columns=names
        ),
    }
)
show.same_in_python(
    settings,
    "How SPEAR splits " + settings.dataset,
    "p = r.partition",
    "p.counts, p.train_counts, p.sizes, p.cut_edges, p.redraws, p.notes",
    "r.metrics.homophily, r.metrics.client_homophily",
    "",
    "from spear_core.figures import split as draw",
    "",
    f"draw.holdings(r, training={training})  # also draw.sizes, draw.homophily, draw.small_graph",
)
