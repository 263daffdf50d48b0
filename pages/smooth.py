"""Smooth: what α and T do, seen from one node and over their whole range."""

from dataclasses import asdict, replace

import pandas as pd
import streamlit as st

from pages.parts import smooth_curves, smooth_node
from pages.shared import frame, link, runs, show
from pages.shared.followed import go_to
from pages.shared.pinned import pinned_result, same_graph
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.explain import node as look
from spear_core.explain import ridge_node
from spear_core.explain.gate import gate_words
from spear_core.explain.words import explain
from spear_core.figures import smooth as draw
from spear_core.lance.gate import at_test
from spear_core.measures.spread import percent
from spear_core.settings import equation

LOOK = """from spear_core.explain.node import builders, inspect
from spear_core.figures import smooth as draw
"""

settings = frame.settings()
result = runs.result_or_stop(settings)
graph, names = result.graph, result.graph.names
pinned = pinned_result(result)
pinned_here = same_graph(pinned, result)
tested = at_test(graph, settings)  # α and T as inference has them: the gate may choose others
times, weight = equation("steps", tested.steps), equation("alpha", tested.alpha)
show.sentence(
    f"Every node is mixed with its neighbours **{times}** times; they weigh **{weight}**. "
    f"{gate_words(result)} Follow one node: click another, type its id, or ask for one.",
    "smooth",
)

# one node ------------------------------------------------------------------------------------
view = smooth_node.choose(result)
then = look.inspect(pinned_here, view.node) if pinned_here else None
node, true, called = view.node, names[view.true], names[view.predicted]
left, right = st.columns([1, 1.1])
with left:
    st.subheader(f"Node {node} and its neighbours")
    st.caption(
        f"A {look.role_of(graph, node)} node of client {int(result.partition.owner[node])}. Inner "
        "ring: its neighbours, by class; outer ring: some of theirs. Click one to follow it."
    )
    alt = f"Node {node} of class {true} with {len(view.neighbours)} neighbours."
    show.chart(
        draw.neighbourhood(result, view),
        "smooth_around",
        alt,
        on_pick=lambda found: go_to(graph, int(found[0])),
        code=f"{LOOK}view = inspect(r, {node})\ndraw.neighbourhood(r, view)",
    )
with right:
    st.subheader(f"Class {true}, predicted {called}: {'right' if view.right else 'wrong'}")
    why = explain(result, view)
    show.sentence(why, "why", 5)
    st.caption("Look at how far each class moves from the ring (raw features) to the dot.")
    also = f", inspect(pinned, {node})" if then else ""
    code = f"draw.similarities(r, view{also})"
    show.chart(draw.similarities(result, view, then), "smooth_similar", why, code=code)
left, right = st.columns(2)
with left:
    makers, made_of = look.builders(result, view.predicted), ridge_node.parts(result, view)
    if made_of is None:
        st.subheader(f"Who built prototype {called}")
        st.caption("A client's share is ω, its count after shrinkage has handed some to the peers.")
        alt = f"{len(makers.client)} clients."
        if makers.client:
            alt = f"{alt} Client {makers.client[0]} has {percent(makers.share[0], 0)}."
        theirs = look.builders(pinned_here, view.predicted) if pinned_here else None
        also = ", builders(pinned, view.predicted)" if theirs else ""
        code = f"draw.built_by(builders(r, view.predicted){also})"
        show.chart(draw.built_by(makers, theirs), "smooth_makers", alt, code=code)
    else:
        st.subheader("What each score is made of")
        st.caption("Look right for what speaks for a class, left for what speaks against it.")
        alt = ridge_node.words(result, view)
        code = "from spear_core.explain.ridge_node import parts\n"
        code += "draw.score_parts(r, view, parts(r, view))"
        show.chart(draw.score_parts(result, view, made_of), "smooth_makers", alt, code=code)
with right:
    st.subheader("What it is made of, step by step")
    st.caption("Look at the colours: the weight that each step hands to others, by their class.")
    own = float(view.rows[-1][node])
    alt = f"After {tested.steps} steps the node itself has {percent(own)} of the weight."
    code = "draw.mixture_by_class(r, view)"
    show.chart(draw.mixture_by_class(result, view), "smooth_mixture", alt, code=code)
if settings.dataset == "karate":
    st.caption("The whole club after each step: the area of a node is its weight in the vector.")
    code = "draw.spread(r, view)"
    show.chart(draw.spread(result, view), "smooth_spread", f"The club: {alt}", code=code)
if CATALOGUE[settings.dataset].picture:
    st.caption(
        "Above: the picture after each step, then the prototypes it is compared with. Below: the "
        "neighbours that weigh most in it."
    )
    alt = f"A {true} that grows smoother, beside prototype {called}. {alt}"
    code = "draw.pictures(r, view)"
    show.chart(draw.pictures(result, view), "smooth_pictures", alt, code=code)

# all of them ---------------------------------------------------------------------------------
st.subheader("Would another α or T be better?")
kind = show.switch("Curve", link.choices("smooth_curve"), "smooth_curve")
asked = not smooth_curves.costly(kind, result) or st.toggle(
    "Draw it here too: it takes some seconds on a graph this large"
)
tables: dict[str, pd.DataFrame] = {}
left, right = st.columns(2)
if asked:
    with left:
        tables |= smooth_curves.CURVES[kind](result, pinned)
with right:
    every = result.metrics.homophily
    alt = "Homophily, the share of edges inside a class, is "
    alt += "unknown: there is no edge." if every is None else f"{every:.2f}."
    st.caption(alt + (" Look where the bars differ: smoothing helps there, or harms." * asked))
    if asked:
        without = runs.result_of(replace(settings, alpha=0.0))
        also = ", pinned" if pinned_here else ""
        code = "from dataclasses import replace\n"
        code += f"draw.by_homophily(r, run(replace(s, alpha=0.0)){also})"
        figure = draw.by_homophily(result, without, pinned_here)
        show.chart(figure, "smooth_by_homophily", alt, code=code)

similar = {"class": names, "before": view.before.tolist(), "after": view.after.tolist()}
around = {
    "node": view.neighbours.tolist(),
    "class": [names[c] for c in graph.y[view.neighbours].tolist()],
    "weight": view.rows[-1][view.neighbours].tolist(),
}
tables |= {
    "Similarities": pd.DataFrame(similar),
    "Neighbours": pd.DataFrame(around),
    f"Builders of prototype {called}": pd.DataFrame(asdict(makers)),
}
show.export(tables)
show.same_in_python(
    settings,
    "Smoothing on " + settings.dataset,
    "from spear_core.explain.node import inspect",
    "from spear_core.explain.words import explain",
    f"print(explain(r, inspect(r, {node})))",
)
