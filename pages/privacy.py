"""Privacy: what noise on the one upload costs, who is exposed without it, and what it hides."""

import math
from dataclasses import replace
from functools import partial
from statistics import mean

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts import privacy_views, sketch_views
from pages.shared import controls, frame, runs, show
from pages.shared.pinned import pinned_result
from spear_core import Settings, run
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.figures import privacy as figures
from spear_core.measures.spread import mean_and_spread, percent, signed, with_spread
from spear_core.settings import choices, equation, titled, written
from spear_core.studies.exposure import Exposure, exposure
from spear_core.studies.privacy_cost import EPSILONS
from spear_core.transforms.privacy import noise, sensitivity

DELTAS = tuple(10.0**-e for e in range(12, 1, -1))
BUDGET = (
    "How much an onlooker may learn of one node from the one upload: its odds change by a factor "
    "of at most $e^\\varepsilon$.\n\n*Try* 10000, then 100, then 1: the noise grows and the "
    "accuracy falls."
)
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


# the controls, and the numbers people wait for -----------------------------------------------
a, b, c = st.columns([3, 2, 1.4])
if show.shown("epsilon"):
    options = sorted({*EPSILONS, math.inf, state["epsilon"]})
    write = partial(written, "epsilon")
    a.select_slider(titled("epsilon"), options, key="epsilon", format_func=write, help=BUDGET)
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
    show.switch(
        titled("mechanism"),
        choices("mechanism"),
        "mechanism",
        format_func=str.title,
        help="Gaussian noise needs a δ and less width in many dimensions; Laplace needs no δ.",
    )
result = runs.result_or_stop(off)
pin = pinned_result(result, epsilon=math.inf) if controls.pinned() else None
names, graph = result.graph.names, result.graph
tries = [replace(settings, draw=settings.draw + d) for d in range(TRIES if private else 1)]
privacy_views.affordable(result, 1 + len(tries) * private)
before, clean = seen_in(off)
seen = [seen_in(one) for one in tries] if private else []
after = [found for found, _ in seen]
reached = [accuracy for _, accuracy in seen if accuracy is not None]
alone = int(before.alone.sum())
held = sensitivity(result.held, settings)
width = noise(float(held.max()), graph.num_features, settings) if private else None

with st.container(key="privacy_numbers"):
    numbers = st.columns(4)
now, spread = mean_and_spread(reached) if reached else (clean, 0.0)
by_noise, told = None, ""
if not private:
    told = "No noise is added now. Pull ε to the left and look what it hides and what it costs."
elif now is not None and clean is not None:
    by_noise = f"{signed(100 * (now - clean))} points by noise"
    told = (
        f"With {equation('epsilon', settings.epsilon)} this seed reaches "
        f"**{with_spread(100 * now, 100 * spread)} %** instead of {percent(clean)} "
        f"({len(tries)} draws of the noise)."
    )
numbers[0].metric(
    "Accuracy",
    percent(now),
    by_noise,
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
show.sentence(told, "privacy", 1)
curve = st.container()  # drawn last: it takes many runs

# who is exposed ------------------------------------------------------------------------------
order = np.argsort(before.counts, kind="stable")
pairs = list(zip(before.client[order].tolist(), before.label[order].tolist(), strict=True))
chosen = frame.picked(result)
chosen = chosen if chosen in pairs else pairs[0]  # the smallest n to begin with
left, right = st.columns(2)
shown = after[0] if private else before
made = "after = []\n"
if private:
    made = f"tries = [replace(s, draw=s.draw + d) for d in range({TRIES})]\n"
    made += "after = [exposure(run(one)) for one in tries]\n"
with left:
    st.subheader("Who is exposed")
    st.caption(
        "Cosine of every upload to the node nearest to it, of all nodes in the graph. A dotted "
        "frame marks n = 1: without noise that upload is the smoothed node itself."
    )
    said = f"Heat map of cosines; {alone} uploads stand for one node, {found:g} of them are found."
    figure = figures.exposed(result, shown, chosen)
    first = "after[0]" if private else "before"
    code = f"{privacy_views.SEEN}{made}draw.exposed(off, {first}, {chosen})"
    show.chart(figure, "privacy_exposed", said, on_pick=frame.pick_cell, code=code)
with right:
    st.subheader("Is this node in the mean?")
    st.caption(
        "The server compares a node with the upload of its client and class. Look at small n: "
        "without noise a node that stands alone is always told from the others."
    )
    said = f"AUC over n; on average {before.membership:.2f} without noise"
    said += f", {auc:.2f} with it." if private else "."
    code = "draw.membership(off, before, after)"
    show.chart(figures.membership(result, before, after), "privacy_members", said, code=code)

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
with st.container(key="privacy_lone"):
    if len(lone):
        st.dataframe(lone.head(200), hide_index=True, height=min(35 * len(lone) + 37, 144))
    else:
        st.info(f"No upload stands for a single node; the smallest n is {before.counts.min()}.")

if CATALOGUE[settings.dataset].picture:
    privacy_views.digit(result, settings, before, int(order[pairs.index(chosen)]))
privacy_views.promise(result, settings, held, width)

# what it costs ---------------------------------------------------------------------------------
tables = {"exposed uploads": exposed, "what sketches reveal": sketch_views.section(result)}
lines = ["from spear_core.studies.exposure import exposure", "seen = exposure(r)"]
lines += ["print(seen.membership, seen.found[seen.alone].sum(), seen.alone.sum())"]
with curve:
    table = privacy_views.price(result, settings, now, pin)
if table is not None:
    tables["accuracy over epsilon"] = table
    lines += ["", "from spear_core.explain.privacy_cost import words"]
    lines += ["from spear_core.studies.privacy_cost import privacy_cost"]
    lines += ['print(*words(privacy_cost(s)), sep="\\n")']
show.export(tables)
show.same_in_python(settings, f"Privacy on {settings.dataset}", *lines)
