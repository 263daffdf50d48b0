"""Parts of the Privacy page: an upload under more and more noise, the promise, and the price."""

import math
from dataclasses import replace

import pandas as pd
import streamlit as st
from torch import Tensor

from pages.shared import controls, runs, show
from pages.shared.pinned import same_graph
from spear_core import Result, Settings, run
from spear_core.errors import SettingError
from spear_core.explain.privacy_cost import words
from spear_core.figures import privacy as figures
from spear_core.settings import equation
from spear_core.studies.exposure import Exposure, work
from spear_core.studies.privacy_cost import DRAWS, EPSILONS, Cost, privacy_cost
from spear_core.transforms.calibration import gaussian_mu
from spear_core.transforms.privacy import (
    COUNT_SHARE,
    ENERGY_SHARE,
    Noise,
    energy_noise,
    energy_sensitivity,
    share_of_sums,
)

MOST_COMPARED = 30_000_000_000  # multiplications: some seconds
MOST_TOUCHED = 5_000_000  # numbers in a run of which many are made on every click
SEEN = """from dataclasses import replace
from spear_core.figures import privacy as draw
from spear_core.studies.exposure import exposure
off = run(replace(s, epsilon=float("inf")))
before = exposure(off)
"""
COST = """from dataclasses import replace
from spear_core.figures import privacy as draw
from spear_core.studies.privacy_cost import privacy_cost
"""
LADDER = """client, label, node = {client}, {label}, {node}
def sent(epsilon):
    up = run(replace(s, epsilon=epsilon)).sent
    there = (up.client == client) & (up.label == label) & (up.counts > 0)
    return up.prototypes[there][0] if there.any() else None
"""
RUNGS = (1000.0, 100.0, 10.0, 1.0)  # values of ε at which a digit is shown


@st.cache_data(
    max_entries=32, show_spinner=f"{len(EPSILONS)} values of ε, 5 seeds, {DRAWS} draws …"
)
def cost_of(settings: Settings) -> Cost | None:
    return privacy_cost(settings)


@st.cache_data(max_entries=64, show_spinner=False)
def sent_by(settings: Settings, client: int, label: int) -> Tensor | None:
    """The upload of one client and class, None if there is none or its count came out as 0."""
    up = run(settings).sent
    there = (up.client == client) & (up.label == label) & (up.counts > 0)
    rows = there.nonzero().flatten()
    return up.prototypes[rows[0]].cpu() if len(rows) else None


def affordable(result: Result, runs: int) -> None:
    """Refuse what would compare more uploads with more nodes than anybody waits for."""
    if work(result) * runs > MOST_COMPARED:
        uploads = int(result.held.train_counts.count_nonzero())
        raise SettingError(
            f"This page compares every upload with every node, {uploads:,} × "
            f"{result.graph.num_nodes:,} here; choose fewer clients or a smaller graph."
        )


def _touched(result: Result) -> int:
    """About how many numbers one run with noise goes through."""
    graph, steps = result.graph, result.settings.steps
    released = result.held.clients * graph.num_features
    return graph.classes * ((graph.num_edges + graph.num_nodes) * (steps + 1) + released)


def digit(result: Result, settings: Settings, before: Exposure, row: int) -> None:
    """What the server sees of one upload: without noise, then under more and more of it."""
    client, label, n = int(before.client[row]), int(before.label[row]), int(before.counts[row])
    off, now = replace(settings, epsilon=math.inf), settings.epsilon
    name = result.graph.names[label]
    st.subheader(f"What the server sees of client {client}, class {name}, n = {n}")
    st.caption("Click a cell above for another upload. Every picture is in its own range of grey.")
    rungs = sorted({*RUNGS, *([now] if now < math.inf else [])}, reverse=True)
    node: Tensor | None = result.graph.features[int(before.nearest[row])]
    tiles = [("the node" if n == 1 else "nearest<br>node", node)]
    tiles.append(("sent,<br>no noise", sent_by(off, client, label)))
    for e in rungs:
        word = "now,<br>" if e == now else "sent,<br>"
        tiles.append(
            (word + equation("epsilon", e), sent_by(replace(settings, epsilon=e), client, label))
        )
    said = "A real node, the upload without noise, then under more and more noise."
    words = [word for word, _ in tiles]
    code = LADDER.format(client=client, label=label, node=int(before.nearest[row]))
    code += f"said, rungs = {words}, {[math.inf, *rungs]}\n".replace("inf", 'float("inf")')
    code += "pictures = [off.graph.features[node], *(sent(epsilon) for epsilon in rungs)]\n"
    code += "draw.ladder(off, list(zip(said, pictures)))"
    show.chart(figures.ladder(result, tiles), "privacy_digit", said, code=code)


def promise(result: Result, settings: Settings, held: Tensor, width: Noise | None) -> None:
    """How much noise is added at the client that needs most, and what that promises.

    `held` says how far one node can move the sums of each client; `width` is None without noise.
    """
    client = int(held.argmax())
    st.subheader("How much noise, and what it promises")
    st.markdown(
        "**Protected:** the features and the label of any one node. **Not protected:** the edges, "
        "and which nodes are labelled. Each client sends, for every class, a noisy sum and a noisy "
        "count, also for classes it does not hold; then the mean is taken, cut to length 1, the "
        "count rounded. One upload is one release: the ε of several add up."
    )
    with st.container(key="privacy_formulas"):
        if width is None:
            st.caption("No noise is added now, so there is nothing to scale.")
        else:
            _formulas(result, settings, client, float(held[client]), width)
    smoothing = ", ".join(equation(name, getattr(settings, name)) for name in ("alpha", "steps"))
    ridge = settings.head == "ridge"
    with st.container(key="lines4_promise"):
        st.caption(
            f"Δ = {held[client]:.2f}: as far as one changed node of client {client} can move its "
            "class sums, itself and through the neighbours it is smoothed into "
            f"({smoothing}). κ = {COUNT_SHARE:g} of the budget goes to the counts"
            f"{f', κ_q = {ENERGY_SHARE:g} to the energy' if ridge else ''}. An "
            "onlooker's odds about a node change by a factor of at most e^ε, so an ε far above 10 "
            "promises little on paper, whatever these two attacks fail to see. docs/privacy.md "
            "has the derivation."
        )


def _formulas(result: Result, settings: Settings, client: int, moved: float, width: Noise) -> None:
    """The noise on sums and counts; beside it, under the ridge head, that on the energy."""
    share, ridge = share_of_sums(settings), settings.head == "ridge"
    rest = r"1-\kappa-\kappa_q" if ridge else r"1-\kappa"
    parts = st.columns(2) if ridge else [st.container()]
    with parts[0]:
        if settings.mechanism == "gaussian":
            mu = gaussian_mu(settings.epsilon, settings.delta)
            below = rf"{mu:.3g}\cdot\sqrt{{{share:g}}}"
            st.latex(
                rf"\sigma = \frac{{\Delta}}{{\mu\sqrt{{{rest}}}}} = "
                rf"\frac{{{moved:.2f}}}{{{below}}} = {width.sums:.3g}"
            )
            st.latex(rf"\sigma_n = \frac{{\sqrt 2}}{{\mu\sqrt\kappa}} = {width.counts:.3g}")
        else:
            st.latex(
                rf"b = \frac{{\Delta\sqrt F}}{{({rest})\,\varepsilon}} = "
                rf"\frac{{{moved:.2f}\cdot\sqrt{{{result.graph.num_features}}}}}"
                rf"{{{share:g}\cdot {settings.epsilon:g}}} = {width.sums:.3g}"
            )
            st.latex(rf"b_n = \frac{{2}}{{\kappa\,\varepsilon}} = {width.counts:.3g}")
    if ridge:
        with parts[1]:
            _energy(result, settings, client)


def _energy(result: Result, settings: Settings, client: int) -> None:
    """The noise on the one number that the ridge head asks for."""
    moved, width = (
        float(of(result.held, settings)[client]) for of in (energy_sensitivity, energy_noise)
    )
    if settings.mechanism == "gaussian":
        st.latex(rf"\sigma_q = \frac{{\Delta_q}}{{\mu\sqrt{{\kappa_q}}}} = {width:.3g}")
    else:
        st.latex(rf"b_q = \frac{{\Delta_q}}{{\kappa_q\,\varepsilon}} = {width:.3g}")
    st.caption(
        f"The ridge head also asks for the energy q = Σ‖z‖², which one node moves by at most "
        f"Δ_q = {moved:.2f}. With a finite ε no sketch is sent, and nobody asks the gate."
    )


def price(
    result: Result, settings: Settings, now: float | None, pinned: Result | None
) -> pd.DataFrame | None:
    """Accuracy over ε with `now`, that of this page; its table once the runs are made."""
    st.subheader("What privacy costs")
    runs.let_go()
    if now is None:
        st.info("There is no test node, so accuracy cannot be measured.")
        return None
    size = result.graph.num_nodes * result.graph.num_features
    quick = size <= runs.LARGE and _touched(result) <= MOST_TOUCHED
    many = len(EPSILONS) * 5 * DRAWS
    if not quick and not st.button(
        f"Make the {many} runs", help="This graph is large: it takes a while."
    ):
        return None
    plain = _plain(settings)
    other = controls.pinned() if same_graph(pinned, result) else None
    theirs = _plain(other) if other else plain
    cost = cost_of(plain)
    if cost is None:  # another seed has no test node
        return None
    said = " ".join(words(cost))
    show.sentence(said, "price", 3)
    here = (settings.epsilon, 100 * now)
    then = cost_of(theirs) if theirs != plain else None
    figure = figures.accuracy_over_epsilon(cost, here, then)
    off = 'epsilon=float("inf"), seed=42, draw=0'
    also = f", pinned=privacy_cost(replace(pinned.settings, {off}))" if then else ""
    code = f"{COST}cost = privacy_cost(replace(s, {off}))\n"
    code += f"draw.accuracy_over_epsilon(cost, (s.epsilon, {100 * now}){also})"
    show.chart(figure, "privacy_cost", f"Accuracy over ε. {said}", code=code, at=0)
    st.caption(f"Mean ± standard deviation over 5 seeds with {DRAWS} draws of the noise each.")
    return pd.DataFrame(cost.table())


def _plain(settings: Settings) -> Settings:
    """The settings without what the curve goes over: noise, seed and draw."""
    return replace(settings, epsilon=math.inf, seed=42, draw=0)
