"""Smooth: what α and T do, seen from one node and over their whole range."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.shared import controls, frame, link, show
from pages.shared.engine import SMALL, result_of, result_or_stop
from spear_core import PAPER_SEEDS, Settings, SpearError, grid, load
from spear_core import inspect_node as look
from spear_core.figures import smooth as draw
from spear_core.figures.common import class_names
from spear_core.measure import silhouette

ALPHAS = tuple(i / 20 for i in range(20))
ACCURACY_ALPHA, ACCURACY_STEPS = "Accuracy over α", "Accuracy over T"
SILHOUETTE = "Silhouette over α"
FEW = 5_000  # nodes up to which all five seeds are drawn
LARGE = 15_000_000  # nodes × features beyond which a silhouette takes seconds

settings = frame.settings()
result = result_or_stop(settings)
graph, metrics, state = result.graph, result.metrics, st.session_state
names = class_names(result)


def follow(node: int | None) -> None:
    """Look at another node; an id that is not there leaves a sentence."""
    try:
        if node is not None:
            look.check_node(graph, node)
            state[link.NODE], state["_node_of"] = str(node), (graph.name, graph.num_nodes)
    except SpearError as error:
        state["_no_node"] = str(error)


def follow_click(key: str) -> None:
    points = [p for p in state[key].selection.points if p.get("customdata")]
    follow(int(points[0]["customdata"][0]) if points else None)


def follow_choice() -> None:
    follow(int(state["step_to"].split(",")[0]) if state["step_to"] else None)


@st.cache_data(max_entries=256, show_spinner=False)
def over_alpha(settings: Settings) -> list[float]:
    return grid(settings, ALPHAS, [settings.gamma], [settings.steps]).accuracy.flatten().tolist()


@st.cache_data(max_entries=256, show_spinner=False)
def over_steps(settings: Settings, most: int) -> list[float]:
    steps = range(most + 1)
    return grid(settings, [settings.alpha], [settings.gamma], steps).accuracy.flatten().tolist()


@st.cache_data(max_entries=64, show_spinner="Silhouettes …")
def silhouettes(settings: Settings) -> list[float | None]:
    return [silhouette(load(settings), alpha, settings.steps) for alpha in ALPHAS]


def pinned_settings() -> Settings | None:
    """The pinned setting, where its curve can be had at once."""
    pinned = controls.pinned()
    try:
        return pinned if pinned and result_of(pinned).graph.num_nodes <= SMALL else None
    except SpearError:
        return None


def curve_of(kind: str) -> tuple[Sequence[float], list[float | None], go.Figure]:
    """The knob's values, what was measured at each, and the figure with "you are here"."""
    if kind == SILHOUETTE:  # it knows nothing of clients, so their knobs do not count
        plain = replace(settings, alpha=0.0, clients=1, beta=1.0, gamma=0.5, partition="iid")
        values, here = silhouettes(plain), (settings.alpha, metrics.silhouette_smoothed)
        level = ("raw features", metrics.silhouette_raw)
        figure = draw.curve(ALPHAS, [values], here, draw.ALPHA, "silhouette", level=level)
        return ALPHAS, values, figure
    most = max(10, settings.steps)

    def line(one: Settings) -> list[float]:  # the knob itself is set aside: moving it is free
        if kind == ACCURACY_ALPHA:
            return over_alpha(replace(one, alpha=0.0))
        return over_steps(replace(one, steps=0), most)

    seeds = PAPER_SEEDS if graph.num_nodes <= FEW else ()
    lines = [line(settings), *(line(replace(settings, seed=s)) for s in seeds)]
    pinned = pinned_settings()
    x = ALPHAS if kind == ACCURACY_ALPHA else tuple(range(most + 1))
    at = settings.alpha if kind == ACCURACY_ALPHA else settings.steps
    axis = draw.ALPHA if kind == ACCURACY_ALPHA else draw.STEPS
    then = line(pinned) if pinned else None
    return x, lines[0], draw.curve(x, lines, (at, metrics.accuracy), axis, pinned=then)


st.title("Smoothing on " + settings.dataset)
st.markdown(
    f"Every node is mixed with its neighbours **T = {settings.steps}** times; they weigh "
    f"**α = {settings.alpha:g}**. Follow one node: click another, type its id, or ask for one."
)
here = (graph.name, graph.num_nodes)
named = int(state[link.NODE] or graph.num_nodes)  # from a click, or from the link
if named >= graph.num_nodes or state.get("_node_of", here) != here:
    first = look.find(result, right=False)
    named = first if first is not None else int(result.prediction.nodes[:1].sum())
follow(named)
node = int(state[link.NODE])
view = look.inspect(result, node)
near = [f"{n}, class {names[int(graph.y[n])]}" for n in view.neighbours[:500].tolist()]
state["node_id"], state["step_to"] = node, None
columns = st.columns([1, 1.4, 1.3, 1.3], vertical_alignment="bottom")
columns[0].number_input("Node", step=1, key="node_id", on_change=lambda: follow(state["node_id"]))
columns[1].selectbox(
    "Step to a neighbour",
    near,
    key="step_to",
    placeholder=f"{len(view.neighbours):,} neighbours",
    on_change=follow_choice,
    disabled=not near,
)
for column, words in zip(columns[2:], ("wrong", "right"), strict=True):
    found = look.find(result, words == "right", node)
    column.button(
        f"A {words} one, please",
        on_click=follow,
        args=(found,),
        disabled=found is None,
        width="stretch",
        help=f"No test node is {words} here." if found is None else "The next test node.",
    )
if "_no_node" in state:
    st.error(state.pop("_no_node"))

why = look.explain(result, view)
true, said = names[view.true], names[view.predicted]
left, right = st.columns([1, 1.1])
with left:
    st.subheader(f"Node {node} and its neighbours")
    st.caption(
        f"A {look.role_of(graph, node)} node of client {int(result.partition.owner[node])}. Inner "
        "ring: its neighbours, by class; outer ring: some of theirs. Click one to follow it."
    )
    key = f"smooth_around_{settings.dataset}_{node}"  # a new one each time: nothing stays selected
    show.chart(
        draw.neighbourhood(result, view),
        key=key,
        alt=f"Node {node} of class {true} with {len(view.neighbours)} neighbours.",
        on_select=lambda: follow_click(key),
        selection_mode="points",
    )
with right:
    st.subheader(f"Class {true}, predicted {said}: {'right' if view.right else 'wrong'}")
    st.markdown(why)
    st.caption("Look at how far each class moves from the ring (raw features) to the dot.")
    show.chart(draw.similarities(result, view), key="smooth_similar", alt=why)
left, right = st.columns(2)
makers = look.builders(result, view.predicted)
with left:
    st.subheader(f"Who built prototype {said}")
    st.caption("A client's share is ω, its count after shrinkage has handed some to the peers.")
    words = f"{len(makers.client)} clients; client {makers.client[0]} has {makers.share[0]:.0%}."
    show.chart(draw.built_by(makers), key="smooth_makers", alt=words)
with right:
    st.subheader("What it is made of, step by step")
    st.caption("Look at the colours: the weight that each step hands to others, by their class.")
    own = float(view.rows[-1][node])
    words = f"After {settings.steps} steps the node itself has {own:.1%} of the weight."
    show.chart(draw.mixture_by_class(result, view), key="smooth_mixture", alt=words)
if settings.dataset == "karate":
    st.caption("The whole club after each step: the area of a node is its weight in the vector.")
    show.chart(draw.spread(result, view), key="smooth_spread", alt=f"The club: {words}")
if settings.dataset == "digits":
    st.caption(
        "Above: the picture after each step, then the prototypes it is compared with. Below: the "
        "neighbours that weigh most in it."
    )
    alt = f"A {true} that grows smoother, beside prototype {said}. {words}"
    show.chart(draw.pictures(result, view), key="smooth_pictures", alt=alt)

st.subheader("Would another α or T be better?")
kinds = [ACCURACY_ALPHA, ACCURACY_STEPS, SILHOUETTE]
kind = st.segmented_control("Curve", kinds, default=kinds[0], key="smooth_curve") or kinds[0]
large = graph.num_nodes > SMALL
costly = large or (kind == SILHOUETTE and graph.num_nodes * graph.num_features > LARGE)
asked = not costly or st.toggle("Draw it here too: it takes some seconds on a graph this large")
tables = {}
left, right = st.columns(2)
if asked:
    with left:
        x, curve, figure = curve_of(kind)
        known = [(y, -i) for i, y in enumerate(curve) if y is not None]
        top, place = max(known, default=(0.0, 0))  # of equal ones the first
        words = f"{kind}: the top is {top:.3f}, at {x[-place]:g}." if known else "Not measurable."
        st.caption(words + " Look how far the diamond, your setting, is from it.")
        show.chart(figure, key="smooth_curve_chart", alt=words)
        tables[kind] = pd.DataFrame({"x": x, "y": curve})
with right:
    every = metrics.homophily
    words = "Homophily, the share of edges inside a class, is "
    words += "unknown: there is no edge." if every is None else f"{every:.2f}."
    st.caption(words + (" Look where the bars differ: smoothing helps there, or harms." * asked))
    if asked:
        without = result_of(replace(settings, alpha=0.0))
        show.chart(draw.by_homophily(result, without), key="smooth_by_homophily", alt=words)

similar = {"class": names, "before": view.before.tolist(), "after": view.after.tolist()}
around = {
    "node": view.neighbours.tolist(),
    "class": [names[c] for c in graph.y[view.neighbours].tolist()],
    "weight": view.rows[-1][view.neighbours].tolist(),
}
tables |= {
    "Similarities": pd.DataFrame(similar),
    "Neighbours": pd.DataFrame(around),
    f"Builders of prototype {said}": pd.DataFrame(vars(makers)),
}
show.export(tables)
show.same_in_python(
    settings,
    "Smoothing on " + settings.dataset,
    "",
    "from spear_core import grid, inspect_node",
    "",
    f"view = inspect_node.inspect(r, {node})",
    "view.before, view.after, view.predicted",
    "inspect_node.builders(r, view.predicted)",
    "curve = grid(s, [i / 20 for i in range(20)], [s.gamma], [s.steps]).accuracy  # over α",
    "inspect_node.explain(r, view)",
)
