"""Privacy: what noise on the one upload costs, who is exposed without it, and what it hides."""

import math
from dataclasses import replace
from functools import partial
from statistics import mean, pstdev
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import controls, frame, runs, show
from pages.shared.pinned import pinned_result, same_graph
from spear_core import Settings, run
from spear_core.figures import privacy as figures
from spear_core.figures.common import class_names
from spear_core.settings import choices, equation, titled, written
from spear_core.studies.exposure import Exposure, exposure
from spear_core.studies.privacy_cost import DRAWS, EPSILONS, Cost, privacy_cost
from spear_core.transforms.calibration import gaussian_mu
from spear_core.transforms.privacy import COUNT_SHARE, noise, sensitivity

DELTAS = tuple(10.0**-e for e in range(12, 1, -1))
RUNGS = (1000.0, 100.0, 10.0, 1.0)  # values of ε at which a digit is shown
TRIES = 5  # draws of the noise behind every figure of an attack

settings = frame.settings()
state, off = st.session_state, replace(settings, epsilon=math.inf)
private = settings.epsilon < math.inf
budget = equation("epsilon", settings.epsilon)
smoothing = f"{equation('alpha', settings.alpha)}, {equation('steps', settings.steps)}"


@st.cache_data(max_entries=128, show_spinner=False)
def seen_in(settings: Settings) -> tuple[Exposure, float | None]:
    """What a run gives away and its accuracy; the run itself is not kept."""
    result = run(settings)
    return exposure(result), result.metrics.accuracy


@st.cache_data(
    max_entries=32, show_spinner=f"{len(EPSILONS)} values of ε, 5 seeds, {DRAWS} draws …"
)
def cost_of(settings: Settings) -> Cost | None:
    return privacy_cost(settings)


@st.cache_data(max_entries=64, show_spinner=False)
def sent_by(settings: Settings, client: int, label: int) -> Any:
    """The upload of one client and class, None if there is none."""
    up = run(settings).sent
    rows = ((up.client == client) & (up.label == label)).nonzero().flatten()
    return up.prototypes[rows[0]].cpu() if len(rows) else None


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


# the controls, and the numbers people wait for -----------------------------------------------
st.title("What the uploads give away")
a, b, c = st.columns([3, 2, 1.4])
if show.shown("epsilon"):
    options = sorted({*EPSILONS, math.inf, state["epsilon"]})
    write = partial(written, "epsilon")
    a.select_slider(titled("epsilon"), options, key="epsilon", format_func=write)
    a.html('<div class="ends"><span>strong privacy</span><span>no noise</span></div>')
if show.shown("delta"):
    b.select_slider(
        titled("delta"),
        sorted({*DELTAS, state["delta"]}),
        key="delta",
        format_func=partial(written, "delta"),
        disabled=state["mechanism"] == "laplace",
        help="Far less than one over the number of nodes. Laplace noise needs none.",
    )
with c:
    show.switch(titled("mechanism"), choices("mechanism"), "mechanism", format_func=str.title)
result = runs.result_or_stop(off)
pin = pinned_result(result, epsilon=math.inf) if controls.pinned() else None
names, graph = class_names(result), result.graph
tries = [replace(settings, draw=settings.draw + d) for d in range(TRIES if private else 1)]
before, clean = seen_in(off)
after, reached = zip(*map(seen_in, tries), strict=True) if private else ((), ())
alone = int(before.alone.sum())
held = sensitivity(result.held, settings)
client = int(held.argmax())
width = noise(float(held[client]), graph.num_features, settings) if private else None

numbers = st.columns(4)
measured = clean is not None
now = mean(reached) if private and measured else clean
numbers[0].metric(
    "Accuracy",
    percent(now),
    f"{100 * (now - clean):+.1f} points by noise" if private and measured else None,
    help=f"This seed, mean over {len(tries)} draws of the noise.",
)
found = mean(int(one.found[one.alone].sum()) for one in after or [before])
numbers[1].metric(
    "Lone nodes found",
    f"{found:g} of {alone}",
    f"{found - int(before.found[before.alone].sum()):+g} by noise" if private and alone else None,
    delta_color="inverse",
    help="Uploads with n = 1 whose nearest node in the whole graph is the node behind them.",
)
auc = mean(one.membership for one in after or [before])
numbers[2].metric(
    "Membership AUC",
    "–" if math.isnan(auc) else f"{auc:.2f}",
    f"{auc - before.membership:+.2f} by noise" if private and not math.isnan(auc) else None,
    delta_color="inverse",
    help="Chance that a node in a mean is nearer to it than another node of the same client and "
    "class; 0.5 is a coin. Mean over labelled nodes.",
)
numbers[3].metric(
    "Noise on a sum",
    f"{width.sums:.3g}" if width else "none",
    help="σ (Laplace: b) of every coordinate of a class sum, at the client that needs most. A sum "
    "of n nodes is at most n long.",
)
if private and measured:
    st.markdown(
        f"With {budget} this seed reaches **{100 * now:.1f} ± {100 * pstdev(reached):.1f} %** "
        f"instead of {100 * clean:.1f} % ({len(tries)} draws of the noise)."
    )
elif not private:
    st.markdown(
        "No noise is added now. Pull ε to the left and look what it hides and what it costs."
    )
curve = st.container()  # drawn last: it takes many runs

# who is exposed ------------------------------------------------------------------------------
order = np.argsort(before.counts, kind="stable")
pairs = list(zip(before.client[order].tolist(), before.label[order].tolist(), strict=True))
chosen = frame.picked(result)
chosen = chosen if chosen in pairs else pairs[0]  # the smallest n to begin with
left, right = st.columns(2)
shown = after[0] if private else before
with left:
    st.subheader("Who is exposed")
    st.caption(
        "Cosine of every upload to the node nearest to it, of all nodes in the graph. A dotted "
        "frame marks n = 1: without noise that upload is the smoothed node itself."
    )
    said = f"Heat map of cosines; {alone} uploads stand for one node, {found:g} of them are found."
    figure = figures.exposed(result, shown, chosen)
    event = show.chart(figure, "privacy_exposed", said, on_select="rerun", selection_mode="points")
    frame.pick_from(event)
with right:
    st.subheader("Is this node in the mean?")
    st.caption(
        "The server compares a node with the upload of its client and class. Look at small n: "
        "without noise a node that stands alone is always told from the others."
    )
    said = f"AUC over n; on average {before.membership:.2f} without noise"
    said += f", {auc:.2f} with it." if private else "."
    show.chart(figures.membership(result, before, after), "privacy_members", said)

rows = [
    {
        "client": int(before.client[i]),
        "class": names[before.label[i]],
        "n": int(before.counts[i]),
        "without noise": figures.verdict(before, i),
        **({f"with noise, {budget}": figures.verdict(after[0], i)} if private else {}),
    }
    for i in order
]
exposed = pd.DataFrame(rows)
lone = exposed[exposed["n"] == 1]
if len(lone):
    st.dataframe(lone.head(200), hide_index=True)
else:
    st.info(f"No upload stands for a single node here; the smallest n is {before.counts.min()}.")

if settings.dataset == "digits":
    (k, c), i = chosen, order[pairs.index(chosen)]
    st.subheader(f"What the server sees of client {k}, class {names[c]}, n = {before.counts[i]}")
    st.caption("Click a cell above for another upload. Every picture is in its own range of grey.")
    rungs = sorted({*RUNGS, *([settings.epsilon] if private else [])}, reverse=True)
    node = graph.features[int(before.nearest[i])]
    tiles = [("the node" if before.counts[i] == 1 else "nearest<br>node", node)]
    tiles.append(("sent,<br>no noise", sent_by(off, k, c)))
    for e in rungs:
        word = f"{'now' if e == settings.epsilon else 'sent'},<br>{equation('epsilon', e)}"
        tiles.append((word, sent_by(replace(settings, epsilon=e), k, c)))
    said = "A real node, the upload without noise, then under more and more noise."
    show.chart(figures.ladder(tiles), "privacy_digit", said)

# how much noise, and what it promises ---------------------------------------------------------
st.subheader("How much noise, and what it promises")
st.markdown(
    "**Protected:** the features and the label of any one node. **Not protected:** the edges, and "
    "which nodes are labelled. Each client sends, for every class, a noisy sum and a noisy count, "
    "also for classes it does not hold; then the mean is taken, cut to length 1, the count rounded."
)
if width and settings.mechanism == "gaussian":
    mu = gaussian_mu(settings.epsilon, settings.delta)
    below = rf"{mu:.3g}\cdot\sqrt{{{1 - COUNT_SHARE:g}}}"
    st.latex(
        r"\sigma = \frac{\Delta}{\mu\sqrt{1-\kappa}} = "
        rf"\frac{{{held[client]:.2f}}}{{{below}}} = {width.sums:.3g}"
    )
    st.latex(rf"\sigma_n = \frac{{\sqrt 2}}{{\mu\sqrt\kappa}} = {width.counts:.3g}")
elif width:
    st.latex(
        r"b = \frac{\Delta\sqrt F}{(1-\kappa)\,\varepsilon} = "
        rf"\frac{{{held[client]:.2f}\cdot\sqrt{{{graph.num_features}}}}}"
        rf"{{{1 - COUNT_SHARE:g}\cdot {settings.epsilon:g}}} = {width.sums:.3g}"
    )
    st.latex(rf"b_n = \frac{{2}}{{\kappa\,\varepsilon}} = {width.counts:.3g}")
st.caption(
    f"Δ = {held[client]:.2f}: as far as one changed node of client {client} can move its class "
    f"sums, itself and through the neighbours it is smoothed into ({smoothing}). "
    f"κ = {COUNT_SHARE:g} of the budget goes to the counts. An onlooker's odds about a node change "
    "by a factor of at most e^ε, so an ε far above 10 promises little on paper, whatever these "
    "two attacks fail to see. docs/privacy.md has the derivation."
)

# what it costs ---------------------------------------------------------------------------------
tables = {"exposed uploads": exposed}
lines = ["from spear_core.studies.exposure import exposure", "seen = exposure(r)"]
lines += ["print(seen.membership, seen.found[seen.alone].sum(), seen.alone.sum())"]
with curve:
    st.subheader("What privacy costs")
    runs.let_go()
    plain = replace(off, seed=42, draw=0)
    quick = graph.num_nodes * graph.num_features <= runs.LARGE
    many = len(EPSILONS) * 5 * DRAWS
    if not measured:
        st.info("There is no test node, so accuracy cannot be measured.")
    elif quick or st.button(f"Make the {many} runs", help="This graph is large: it takes a while."):
        cost = cost_of(plain)
        other = controls.pinned() if same_graph(pin, result) else None
        theirs = replace(other, epsilon=math.inf, seed=42, draw=0) if other else plain
        words = " ".join(cost.words())
        st.markdown(words)
        here = (settings.epsilon, 100 * now)
        then = cost_of(theirs) if theirs != plain else None
        figure = figures.accuracy_over_epsilon(cost, here, then)
        show.chart(figure, "privacy_cost", f"Accuracy over ε. {words}")
        st.caption(f"Mean ± standard deviation over 5 seeds with {DRAWS} draws of the noise each.")
        tables["accuracy over epsilon"] = pd.DataFrame(cost.table())
        lines += ["", "from spear_core.studies.privacy_cost import privacy_cost"]
        lines += ['print(*privacy_cost(s).words(), sep="\\n")']

show.export(tables)
show.same_in_python(settings, f"Privacy on {settings.dataset}", *lines)
