"""Compare: SPEAR beside the trained methods, stored runs and live ones."""

import statistics

import pandas as pd
import streamlit as st

from pages.shared import engine, frame, show, training
from spear_core import PAPER_SEEDS
from spear_core.baselines import METHODS
from spear_core.baselines.views import beta_trend
from spear_core.figures import compare as figures
from spear_core.figures import human_bytes
from spear_core.figures.common import class_names
from spear_core.paper.cells import reported
from spear_core.sweep import sweep

TABLE, ROUNDS, PARETO, BETA, SPACE = (
    "Accuracy", "Over rounds", "Time against accuracy", "Over β", "Representations",
)  # fmt: skip
LATER = ("DENSE", "FedCVAE", "FedSD2C", "GHOST", "OASIS")

settings = frame.settings()
result = engine.result_or_stop(settings)
rows = training.all_rows()
found = training.at(settings, rows)
seeds = [100 * a for a in engine.over_seeds(settings) if a is not None]
spear = (statistics.mean(seeds), statistics.pstdev(seeds)) if seeds else (0.0, 0.0)
table = reported()["main_accuracy"]
printed = {}
if settings.dataset in table["columns"] and (settings.beta, settings.clients) == (0.05, 10):
    i = table["columns"].index(settings.dataset)
    printed = {name: values[i] for name, values in table["rows"].items() if values[i] != "OOM"}

st.markdown("#### SPEAR beside the trained methods")
st.caption(
    f"{settings.dataset}, K = {settings.clients}, β = {settings.beta:g}: the same split, the same "
    f"labels, tested on the full graph. SPEAR, five seeds: {spear[0]:.2f} ± {spear[1]:.2f} %."
)
view = st.segmented_control(
    "View", (TABLE, ROUNDS, PARETO, BETA, SPACE), key="compare", required=True,
    label_visibility="collapsed",
)  # fmt: skip
columns = ["method", "recipe", "rounds", "seeds", "accuracy, %", "±", "printed, %", "seconds"]
shown = pd.DataFrame(
    [
        {
            "method": METHODS[s.method],
            "recipe": "no weight decay" if s.recipe == "default" else "weight decay 5e-4",
            "rounds": s.rounds,
            "seeds": len(s.seeds),
            "accuracy, %": round(100 * s.accuracy, 2),
            "±": round(100 * s.spread, 2),
            "printed, %": printed.get(METHODS[s.method]),
            "seconds": round(s.seconds, 2),
            "sent": human_bytes(s.bytes_up + s.bytes_down),
            "always one class": len(s.constant),
        }
        for s in found
    ],
    columns=[*columns, "sent", "always one class"],
)
if not found and view in (TABLE, ROUNDS, PARETO):
    st.info(
        "No run is stored for this dataset, K and β. Run one now, or choose Cora, CiteSeer or "
        "PubMed with K = 10 and β = 0.05."
    )
elif view == TABLE:
    alt = f"Accuracy of {len(found)} stored methods, SPEAR {spear[0]:.1f} %."
    show.chart(figures.accuracies(found, spear, printed), "compare-table", alt)
    st.dataframe(shown, hide_index=True)
    st.caption(
        "Every method is trained as we found it to do well, without weight decay; the usual 5e-4 "
        "is shown beside it, since FedAvg collapses with it under strong skew."
    )
    beaten = [
        f"{METHODS[s.method]} ({100 * s.accuracy:.1f} against {printed[METHODS[s.method]]:.1f})"
        for s in found
        if s.recipe == "default" and 100 * s.accuracy > printed.get(METHODS[s.method], 100)
    ]
    if beaten:
        st.markdown(f"**Better here than printed**: {', '.join(beaten)}.")
    ahead = [METHODS[s.method] for s in found if 100 * s.accuracy > spear[0]]
    if ahead:
        names = ", ".join(dict.fromkeys(ahead))
        st.markdown(f"**Ahead of SPEAR here**: {names}, after {found[0].rounds} rounds.")
    if printed:
        rest = ", ".join(f"{n} {printed[n]:.2f}" for n in LATER if n in printed)
        st.caption(f"Not measured, printed only: {rest}.")
elif view == ROUNDS:
    show.chart(figures.over_rounds(found, spear), "compare-rounds", "Accuracy after every round.")
elif view == PARETO:
    now = (result.method_seconds, spear[0], settings.clients)
    show.chart(figures.pareto(found, now), "compare-pareto", "Seconds against accuracy.")
    st.caption(
        "Processor seconds of all clients and the server, one after another on one machine; the "
        "figure of SPEAR is this very run."
    )
elif view == BETA:
    betas = (0.05, 0.1, 0.3, 0.5, 1.0)
    lines = {}
    for alpha in (0.15, 0.8):
        swept = sweep(settings, seed=PAPER_SEEDS, beta=betas, alpha=[alpha])
        groups = [(b, 100 * g["accuracy"]) for b, g in swept.groupby("beta")]
        lines[f"SPEAR, α = {alpha:g}"] = [(b, g.mean(), g.std(ddof=0)) for b, g in groups]
    trends = {
        f"{METHODS['fedavg']}{words}": trend
        for recipe, words in (("default", ""), ("literature", ", weight decay 5e-4"))
        if (trend := beta_trend(rows, settings.dataset, "fedavg", settings.clients, recipe))
    }
    show.chart(figures.boundary(trends, lines), "compare-beta", "Accuracy over β.")
    if not trends:
        st.caption("No FedAvg run over β is stored for this dataset; Cora has some.")
else:
    st.caption(
        "Do trained clients pull the classes apart? The same test nodes in five representations, "
        "three of them the hidden layer after 50 rounds, with the cosine silhouette of each."
    )
    if st.toggle("Train three methods and map them: about a minute on a small graph"):
        panels = training.representations(result)
        label = result.graph.y[training.mapped(result)].cpu().numpy()
        drawn = figures.representations(panels, label, class_names(result))
        show.chart(drawn, "compare-space", "Five maps with their silhouettes.")
st.markdown("##### Run one now")
training.live(settings)
show.export({"methods": shown})
show.same_in_python(
    settings,
    "SPEAR beside FedAvg",
    "from spear_core.baselines import defaults",
    "from spear_core.baselines.loop import train",
    'f = train(s, defaults("fedavg", rounds=5))',
    "print(r.metrics.accuracy, f.accuracy, f.histogram)",
)
