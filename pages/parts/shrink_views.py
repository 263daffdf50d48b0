"""The views of the Shrink page: each draws itself and gives its tables and its lines of Python."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.shrink_lines import CHECKED, SIMULATED, lines_over_gamma
from pages.shared import knobs, link, runs, show
from pages.shared.pinned import same_graph
from spear_core import PAPER_SEEDS, Result, Settings
from spear_core.explain import ablation as sentences
from spear_core.explain.risk import held, inflated, simulated
from spear_core.fields import plain
from spear_core.figures import shrink as figures
from spear_core.figures.theory import error_over_count, peer_variance, risk_curve
from spear_core.measures.spread import percent
from spear_core.paper.errors import error_table
from spear_core.settings import equation, symbol, written
from spear_core.studies.ablation import Ablation, ablation, gamma_curve
from spear_core.studies.risk import simulate
from spear_core.studies.risk_check import check

BAND = 10_000  # nodes up to which the γ curve is drawn for five seeds

Shown = tuple[dict[str, pd.DataFrame], list[str]]


@st.cache_data(max_entries=64, show_spinner=False)
def curve(settings: Settings, gammas: tuple[float, ...], seeds: tuple[int, ...]) -> np.ndarray:
    return gamma_curve(settings, gammas, seeds)


@st.cache_data(max_entries=64, show_spinner="Eight variants with five seeds …")
def eight(settings: Settings) -> Ablation | None:
    return ablation(settings, accuracy=runs.accuracy_of)


def formula_of(result: Result, pulled: pd.DataFrame) -> str:
    """λ with the numbers of the smallest prototype that is pulled, in LaTeX."""
    s, rule = result.settings, r"\lambda = \frac{1}{1 + \gamma n}"
    if not s.shrinkage or pulled.empty or s.reliability == "degree":
        return rule if s.shrinkage and len(pulled) else r"\lambda = 0"
    trust = written("gamma", s.gamma).replace("∞", r"\infty")
    n, weight = pulled.iloc[0][["n", "lambda"]]
    return rf"{rule} = \frac{{1}}{{1 + {trust} \cdot {n}}} = {weight:.2f}"


def unread(result: Result) -> str:
    """Why γ plays no part where the head is ridge; empty where it does."""
    if result.estimate.ridge is None:
        return ""
    return (
        "**γ plays no part in the ridge head.** It adds up what clients sent, a mean of n nodes "
        "weighing n: one of few nodes hardly counts, so it need not be pulled to its peers. "
        "Below is what SPEAR would do with the same message."
    )


def said_of(result: Result, pulled: pd.DataFrame) -> str:
    """Whose λ the formula is, or why nothing is pulled."""
    if not result.settings.shrinkage:
        return "Shrinkage is off under Variants, so λ = 0 everywhere."
    if pulled.empty:
        return "Here no class has two holders, so nothing is pulled."
    if result.settings.reliability == "degree":
        return "Trust counts degrees too here, so the dots lie below the curve of n alone."
    client, label, n, weight = pulled.iloc[0][["client", "class", "n", "lambda"]]
    return (
        f"Here client {client} has {n} of class {result.graph.names[label]}, the smallest n: "
        f"{percent(weight, 0)} of its prototype comes from the peers."
    )


def mean_errors(result: Result, pinned: Result | None) -> pd.DataFrame:
    """Mean distances to the true centroids, ours, printed and pinned."""
    table = pd.DataFrame(error_table(result))
    if pinned:
        old = pd.DataFrame(error_table(pinned))
        old = old[old[""].str.startswith("here")].replace("here", "pinned", regex=True)
        table = pd.concat([table, old])
    return table


def over_gamma(result: Result, pinned: Result | None, _reading: str) -> Shown:
    """Accuracy over γ, with the present one."""
    settings, accuracy = result.settings, result.metrics.accuracy
    if accuracy is None:
        st.info("There is no test node, so accuracy cannot be measured.")
        return {}, []
    gammas = tuple(sorted({*knobs.GAMMAS, settings.gamma}))
    values = ", ".join(f"{g:g}" for g in gammas).replace("inf", 'float("inf")')
    lines = ["from spear_core.studies.ablation import gamma_curve", f"gammas = [{values}]"]
    lines.append("print(gamma_curve(s, gammas, seeds=[s.seed]))")
    if not _small(result) and not st.toggle(
        "Draw the curve: this graph is large", key="shrink_curve"
    ):
        return {}, lines

    def of(one: Settings) -> np.ndarray:  # the curve is the same whatever γ is now
        return curve(replace(one, gamma=0.5), gammas, (one.seed,))[0]

    mine, plain = of(settings), replace(settings, gamma=0.5, seed=42)
    band = curve(plain, gammas, PAPER_SEEDS) if result.graph.num_nodes <= BAND else None
    said = sentences.gamma_words(gammas, mine, settings.gamma)
    st.markdown(f"Look at how much of the curve is flat. {said}")
    here = (settings.gamma, 100 * accuracy)
    then = of(pinned.settings) if pinned and _small(pinned) else None
    code = lines_over_gamma(gammas, band is not None, then is not None)
    figure = figures.accuracy_over_gamma(gammas, mine, here, band, then)
    show.chart(figure, "over-gamma", said, code=code)
    every = mine[None] if band is None else band
    mean = {"x": gammas, "mean": every.mean(0), "std": every.std(0), "n": len(every)}
    names = [f"seed {seed}" for seed in PAPER_SEEDS] if band is not None else []
    each = {"x": gammas, "this seed": mine} | dict(zip(names, every, strict=False))
    name = "accuracy over gamma"
    return {name: pd.DataFrame(mean), f"{name}, single seeds": pd.DataFrame(each)}, lines


def gain(result: Result, pinned: Result | None, _reading: str) -> Shown:
    """What carries the gain: smoothing, shrinkage and count weights, each on and off."""
    if result.metrics.accuracy is None:
        st.info("There is no test node, so accuracy cannot be measured.")
        return {}, []
    lines = [
        "from spear_core.explain.ablation import words",
        "from spear_core.studies.ablation import ablation",
        'print(*words(ablation(s)), sep="\\n")',
    ]
    if not _small(result) and not st.toggle("Make the 40 runs: this graph is large", key="forty"):
        return {}, lines
    found = eight(result.settings)
    before = eight(pinned.settings) if pinned and _small(pinned) else None
    if found is None:  # another seed has no test node
        return {}, lines
    said = sentences.words(found)
    st.markdown("\n".join(f"- {sentence}" for sentence in said))
    cells, effects = pd.DataFrame(found.cell_table()), pd.DataFrame(found.effect_table())
    a, b = st.columns(2)
    with a:
        st.caption("Look at the slope of a line (shrinkage) and at the gap between the lines.")
        chart = figures.ablation_lines(found, before)
        also = ", ablation(pinned.settings)" if before else ""
        code = f"{lines[1]}\ndraw.ablation_lines(ablation(s){also})"
        show.chart(chart, "ablation", " ".join(said), code=code)
    with b:
        each = cells[["which is", "accuracy, %"]]
        if before:
            each = each.assign(pinned=before.cell_table()["accuracy, %"])
        st.table(each.set_index("which is"))
    st.caption(
        "What a switch changes, in points: with the other two off, on average over them, and with "
        "both on, as in SPEAR. Smoothing is the paper's PPR. One test node is "
        f"{100 / len(result.graph.test_nodes):.2f} points."
    )
    st.table(effects.set_index("switch").T)  # three columns fit on a phone
    return {"ablation": cells, "effects": effects}, lines


def theory(result: Result, pinned: Result | None, _reading: str) -> Shown:
    """Proposition 1 simulated; it knows no graph, so nothing of it can be pinned."""
    st.markdown(
        "A prototype with variance σ₀²/n and a peer mean with variance τ² are mixed with weight λ. "
        "Look whether the simulated points are lowest at the star."
        + (
            " It depends on these three alone, so the pinned setting has no part in it."
            * bool(pinned)
        )
    )
    labels = {"sigma2": "σ₀², variance of one node", "tau2": "τ², variance of the peers"}
    labels["samples"] = "n, nodes of the prototype"
    for column, (key, label) in zip(st.columns(3), labels.items(), strict=True):
        if show.shown(key):
            column.select_slider(label, sorted(link.choices(key), key=float), key=key)
    sigma2, tau2, n = (float(st.session_state[key]) for key in labels)
    seen, own = simulate(sigma2, tau2, int(n)), f"{sigma2 / n:.3g}"
    st.latex(
        r"\lambda^* = \frac{\sigma_0^2/n}{\sigma_0^2/n + \tau^2} = "
        rf"\frac{{{own}}}{{{own} + {tau2:g}}} = {seen.best:.3f}"
    )
    said = simulated(seen)
    code = f"{SIMULATED}theory.risk_curve(simulate({sigma2:g}, {tau2:g}, {n:g}))"
    show.chart(risk_curve(seen), "risk", said, code=code)
    st.markdown(f"{said}\n\n{inflated(result)}")
    lines = [
        "from spear_core.explain.risk import inflated, simulated",
        "from spear_core.studies.risk import simulate",
        f"seen = simulate({sigma2:g}, {tau2:g}, {n:g})",
        'print(simulated(seen), inflated(r), sep="\\n")',
    ]
    return {}, lines


def model(result: Result, pinned: Result | None, reading: str) -> Shown:
    """The model of Proposition 1 held against the prototypes of this run."""
    names, settings, accuracy = result.graph.names, result.settings, result.metrics.accuracy
    old = same_graph(pinned, result)
    seen, then = check(result, reading), check(old, reading) if old else None
    words = held(seen)
    st.markdown(
        f"Squared errors to the centroids over {reading} (chosen above): look how close the points "
        "are to their lines. The fit takes prototypes as independent and one σ₀² for all classes."
    )
    fitted = {"σ₀², one node": "sigma2", "τ², the peers": "tau2", "γ̂ = τ²/σ₀²": "gamma_hat"}
    fitted[f"{symbol('gamma')}, present"] = "gamma"
    for column, (label, name) in zip(st.columns(4), fitted.items(), strict=True):
        before = f"pinned: {_short(getattr(then, name))}" if then else None
        column.metric(label, _short(getattr(seen, name)), before, "off", delta_arrow="off")
    asked = float(f"{seen.gamma_hat:.3g}") if seen.gamma_hat else None
    there = runs.accuracy_of(replace(settings, gamma=asked)) if asked else None
    said = ""
    if there and accuracy is not None:
        said = f" With {equation('gamma', asked)} accuracy would be {percent(there)}, now it is "
        said += f"{percent(accuracy)}."
    st.markdown(words["gamma"] + said)
    given = f"check(r, {reading!r}), r.graph.names{f', check(pinned, {reading!r})' * bool(then)}"
    a, b = st.columns(2)
    with a:
        st.markdown("**Does the error fall as 1/n?** " + words["slope"])
        figure = error_over_count(seen, names, then)
        show.chart(figure, "over-n", words["slope"], code=f"{CHECKED}error_over_count({given})")
    with b:
        st.markdown("**Is one τ² enough for all peers?** " + words["peers"])
        figure = peer_variance(seen, names, then)
        show.chart(figure, "peer-variance", words["peers"], code=f"theory.peer_variance({given})")
    lines = [
        "from spear_core.explain.risk import held",
        "from spear_core.studies.risk_check import check",
        f'print(held(check(r, "{reading}")))',
    ]
    return {"model": pd.DataFrame(seen.table())}, lines


def _small(result: Result) -> bool:
    """Whether many more runs are made at once on this graph."""
    return runs.quick(result)


def _short(value: float | None) -> str:
    return "–" if value is None else plain(float(f"{value:.3g}"))


VIEWS: dict[str, Callable[[Result, Result | None, str], Shown]] = dict(
    zip(link.choices("shrink"), (over_gamma, gain, theory, model), strict=True)
)
