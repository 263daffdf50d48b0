"""Shrink: who is pulled to the peers, whether that helps, and whether its theory holds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import controls, engine, frame, show
from spear_core import PAPER_SEEDS, Settings, defaults, risk
from spear_core.ablation import Ablation, ablation, gamma_curve, gamma_words
from spear_core.figures import shrink as figures
from spear_core.figures.common import class_names

GAMMA, GAIN, THEORY, MODEL = (
    "Accuracy over γ",
    "What carries the gain",
    "Proposition 1",
    "Does the model hold",
)
BAND = 10_000  # nodes up to which the γ curve is drawn for five seeds

settings = frame.settings()
result = engine.result_or_stop(settings)
pin = controls.pinned()
other = engine.result_or_stop(pin) if pin and pin.dataset == settings.dataset else None
metrics, names, up = result.metrics, class_names(result), result.uploads


def choose(key: str, options: tuple[str, ...]) -> str:
    st.session_state.setdefault(key, options[0])
    return st.segmented_control(key, options, key=key, required=True, label_visibility="collapsed")


def pick(column: Any, label: str, key: str, options: str, start: str) -> float:
    st.session_state.setdefault(key, start)
    return float(column.select_slider(label, options.split(), key=key))


@st.cache_data(max_entries=64, show_spinner=False)
def curve(settings: Settings, gammas: tuple[float, ...], seeds: tuple[int, ...]) -> np.ndarray:
    return gamma_curve(settings, gammas, seeds)


@st.cache_data(max_entries=64, show_spinner="Eight variants with five seeds …")
def eight(settings: Settings) -> Ablation | None:
    return ablation(settings, accuracy=engine.accuracy_of)


# who is pulled, and what that does to the prototypes -----------------------------------------
lam = result.estimate.weights[up.client, up.label]
columns = {"client": up.client, "class": up.label, "n": up.counts, "lambda": lam}
columns["pulled"] = (result.partition.train_counts > 0).sum(0)[up.label] > 1
pairs = pd.DataFrame({name: values.tolist() for name, values in columns.items()})
pulled = pairs[pairs["pulled"]].sort_values("n")
left, right = st.columns(2)
with left:
    st.markdown("#### Who is pulled to the peers")
    st.caption("Each dot is an uploaded prototype. Look at small n: there the pull is strong.")
    said = f"λ over n, {len(pulled)} prototypes pulled, {len(pairs) - len(pulled)} lone ones not."
    show.chart(figures.weight_curve(result, pin), "lambda", said)
    if not settings.shrinkage:
        st.caption("Shrinkage is off under Variants, so λ = 0 everywhere.")
    elif settings.reliability == "degree":
        st.caption("Trust counts degrees too here, so the dots lie below the curve of n alone.")
    elif len(pulled) and settings.gamma < float("inf"):
        n, lam = pulled.iloc[0][["n", "lambda"]]
        numbers = rf"\frac{{1}}{{1 + {settings.gamma:g} \cdot {n}}} = {lam:.2f}"
        st.latex(r"\lambda = \frac{1}{1 + \gamma n} = " + numbers)
        client, label = pulled.iloc[0][["client", "class"]]
        st.caption(f"Client {client}, class {names[label]}: the smallest n that is pulled.")
with right:
    st.markdown("#### Local → shrunk → global")
    st.caption("Cosine distance to the true centroid: look how far each step moves to the left.")
    reading = choose("centroid", (risk.TEST, risk.EVERY))
    centroids = "centroids" if reading == risk.TEST else "centroids_all"
    errors = risk.class_errors(result.estimate, getattr(metrics, centroids))
    pinned = risk.class_errors(other.estimate, getattr(other.metrics, centroids)) if other else None
    if errors["class"]:
        on_average = (f"{s} {np.mean(errors[s]):.3f}" for s in ("local", "shrunk", "spear"))
        said = f"Distances to the centroids by class; on average {', '.join(on_average)}."
        show.chart(figures.error_steps(errors, names, pinned), "errors", said)
    else:
        st.info("No class has both a training node and a node to take the centroid over.")
means = pd.DataFrame(risk.error_table(result))
st.table(means.set_index(""))
if settings.dataset in risk.PRINTED:
    alike = settings == replace(defaults(settings.dataset), seed=settings.seed)
    said = "The paper's figures are for K = 10 and β = 0.05; the difference is ours minus printed."
    st.caption(said if alike else said + " The present settings are others.")

# one view at a time --------------------------------------------------------------------------
view = choose("shrink", (GAMMA, GAIN, THEORY, MODEL))
tables, lines = {"weights": pairs, "prototype errors": means}, []
if metrics.accuracy is None and view in (GAMMA, GAIN):
    st.info("There is no test node, so accuracy cannot be measured.")
elif view == GAMMA:
    gammas = tuple(sorted({*controls.GAMMAS, settings.gamma}))
    plain = replace(settings, gamma=0.5)  # the curve is the same whatever γ is now
    small = result.graph.num_nodes <= BAND
    band = curve(replace(plain, seed=42), gammas, PAPER_SEEDS) if small else None
    mine = curve(plain, gammas, (settings.seed,))[0]
    theirs = curve(replace(pin, gamma=0.5), gammas, (pin.seed,))[0] if pin and other else None
    said, here = gamma_words(gammas, mine, settings.gamma), (settings.gamma, 100 * metrics.accuracy)
    st.markdown(f"Look at how much of the curve is flat. {said}")
    show.chart(figures.accuracy_over_gamma(gammas, mine, here, band, theirs), "over-gamma", said)
    tables["accuracy over gamma"] = pd.DataFrame({"gamma": gammas, "accuracy %": mine})
    values = ", ".join(f"{g:g}" for g in gammas).replace("inf", 'float("inf")')
    lines = ["from spear_core.ablation import gamma_curve", f"gammas = [{values}]"]
    lines += ["print(gamma_curve(s, gammas, seeds=[s.seed]))"]
elif view == GAIN:
    small = result.graph.num_nodes <= engine.SMALL
    if small or st.button("Make the 40 runs", help="Eight variants with five seeds each."):
        found = eight(settings)
        st.markdown("\n".join(f"- {sentence}" for sentence in found.words()))
        cells, effects = pd.DataFrame(found.cell_table()), pd.DataFrame(found.effect_table())
        a, b = st.columns(2)
        with a:
            st.caption("Look at the slope of a line (shrinkage) and at the gap between the lines.")
            show.chart(figures.ablation_lines(found), "ablation", " ".join(found.words()))
        with b:
            st.caption(
                "What a switch changes, in points: with the other two off, on average over them, "
                "and with both on, as in SPEAR. Smoothing is the paper's PPR. One test node is "
                f"{100 / len(result.graph.test_nodes):.2f} points."
            )
            st.table(effects.set_index("switch"))
        st.table(cells.set_index("smoothing"))
        tables |= {"ablation": cells, "effects": effects}
    lines = ["from spear_core.ablation import ablation", 'print(*ablation(s).words(), sep="\\n")']
elif view == THEORY:
    st.markdown(
        "A prototype with variance σ₀²/n and a peer mean with variance τ² are mixed with weight λ. "
        "Look whether the simulated points are lowest at the star."
    )
    a, b, c = st.columns(3)
    sigma2 = pick(a, "σ₀², variance of one node", "sigma2", "0.1 0.2 0.5 1 2 5 10", "1")
    tau2 = pick(b, "τ², variance of the peers", "tau2", "0 0.01 0.05 0.1 0.2 0.5 1 2 5", "0.5")
    n = int(pick(c, "n, nodes of the prototype", "samples", "1 2 3 5 8 10 20 50 100", "3"))
    seen = risk.simulate(sigma2, tau2, n)
    own = f"{sigma2 / n:.3g}"
    st.latex(
        r"\lambda^* = \frac{\sigma_0^2/n}{\sigma_0^2/n + \tau^2} = "
        rf"\frac{{{own}}}{{{own} + {tau2:g}}} = {seen.best:.3f}"
    )
    show.chart(figures.risk_curve(seen), "risk", seen.words())
    st.markdown(f"{seen.words()}\n\n{risk.inflation_words(result)}")
    lines = ["from spear_core import risk", f"seen = risk.simulate({sigma2:g}, {tau2:g}, {n})"]
    lines += ['print(seen.words(), risk.inflation_words(r), sep="\\n")']
else:
    checked = risk.check(result, reading)
    words = checked.words()
    st.markdown(
        f"Squared errors to the centroids over {reading} (chosen above): look how close the points "
        "are to their lines. The fit takes prototypes as independent and one σ₀² for all classes."
    )
    fitted = {"σ₀², one node": checked.sigma2, "τ², the peers": checked.tau2}
    fitted |= {"γ̂ = τ²/σ₀²": checked.gamma_hat, "γ, present": checked.gamma}
    for column, (label, value) in zip(st.columns(4), fitted.items(), strict=True):
        column.metric(label, "–" if value is None else f"{value:.3g}".replace("inf", "∞"))
    asked = float(f"{checked.gamma_hat:.3g}") if checked.gamma_hat else None
    there = engine.accuracy_of(replace(settings, gamma=asked)) if asked else None
    said = f" With γ = {asked} accuracy would be {100 * there:.2f} %, now " if there else ""
    st.markdown(words["gamma"] + (said and f"{said}it is {100 * metrics.accuracy:.2f} %."))
    a, b = st.columns(2)
    with a:
        st.markdown("**Does the error fall as 1/n?** " + words["slope"])
        show.chart(figures.error_over_count(checked, names), "over-n", words["slope"])
    with b:
        st.markdown("**Is one τ² enough for all peers?** " + words["peers"])
        show.chart(figures.peer_variance(checked, names), "peer-variance", words["peers"])
    tables["model"] = pd.DataFrame(checked.table())
    lines = ["from spear_core.risk import check", f'print(check(r, "{reading}").words())']

show.export(tables)
measured = f"print(class_errors(r.estimate, r.metrics.{centroids}))"
imported = "from spear_core.risk import class_errors"
show.same_in_python(settings, f"Shrinkage on {settings.dataset}", imported, measured, *lines)
