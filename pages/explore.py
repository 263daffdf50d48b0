"""Explore: one run of SPEAR with the settings of the sidebar, everything at a glance."""

import statistics

import pandas as pd
import streamlit as st

from pages.shared import frame, link, mapview, runs, show
from pages.shared.pinned import pinned_result, same_graph
from spear_core import figures
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.explain.words import pulled_towards, weight_formula
from spear_core.figures.common import class_names

SILHOUETTE, CONFUSION, PROTOTYPES, TIME = link.choices("view")

settings = frame.settings()
result = runs.result_or_stop(settings)
pinned = pinned_result(result)
pinned_here = same_graph(pinned, result)
before = frame.last_shown(result)
metrics, graph, names = result.metrics, result.graph, class_names(result)


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f} %"


# accuracy, its spread and its references -----------------------------------------------------
now, over, line = st.columns([1.1, 1.3, 3], vertical_alignment="center")
change = None
if before and before.accuracy is not None and metrics.accuracy is not None:
    change = f"{100 * (metrics.accuracy - before.accuracy):+.2f} since the last setting"
now.metric("Accuracy on test nodes", percent(metrics.accuracy), change)
spread, strip = over.empty(), line.empty()
runs.let_go()

# the map and the weights ---------------------------------------------------------------------
left, right = st.columns([3, 2])
chosen = frame.picked(result)
with left:
    if mapview.draw(result, before.result if before else None, chosen, pinned_here):
        runs.let_go(0.1)
with right:
    st.markdown("**Who is pulled to the peers**: λ near 1, few samples. Click a cell.")
    event = show.chart(
        figures.weights(result, chosen, pinned_here),
        "weights",
        f"λ of {len(result.uploads.label)} prototypes by client and class.",
        on_select="rerun",
        selection_mode="points",
    )
    frame.pick_from(event)
    if chosen:
        client, label = chosen
        st.markdown(
            f"Client {client}, class {names[label]}: "
            f"**{weight_formula(result, client, label)}**. "
            f"{pulled_towards(result, client, label)}"
        )

# one view at a time --------------------------------------------------------------------------
views = [v for v in link.choices("view") if v != PROTOTYPES or CATALOGUE[settings.dataset].picture]
if st.session_state["view"] not in views:  # not every dataset has pictures
    st.session_state["view"] = views[0]
view = show.switch("More of this run", views, "view", label_visibility="collapsed")
if view == SILHOUETTE:
    st.caption(
        "How tightly the true classes lie together, -1 to 1, by cosine, on the test nodes: before "
        "and after smoothing on the full graph. The labels are used only to measure."
    )
    costly = graph.num_nodes * graph.num_features > runs.LARGE
    if not costly or st.toggle("Compute it: this graph is large, it takes some seconds"):
        show.chart(figures.silhouettes(result, pinned), "silhouettes", "Silhouette, raw, smoothed.")
elif view == CONFUSION:
    a, b = st.columns(2)
    with a:
        since = "Colour: change since the pinned setting; more on the diagonal is better."
        st.caption(since if pinned_here else "Test nodes; the diagonal is right.")
        show.chart(figures.confusion(result, pinned_here), "confusion", "Confusion matrix.")
    with b:
        st.caption("Share of each class that is right.")
        show.chart(
            figures.class_accuracy(result, pinned_here), "class_accuracy", "Accuracy of each class."
        )
elif view == PROTOTYPES:
    numbers = [str(c) for c in range(len(names))]
    if st.session_state["digit"] not in numbers:
        st.session_state["digit"] = numbers[0]
    by_name = {"format_func": lambda number: names[int(number)]}
    label = chosen[1] if chosen else int(show.switch("Class", numbers, "digit", **by_name))
    show.chart(
        figures.pictures(result, label, pinned_here), "pictures", f"Prototypes of class {label}."
    )
elif view == TIME:
    a, b = st.columns([2, 3])
    shown = {"this run": result} | ({"pinned": pinned} if pinned else {})
    stages = {n: {k: f"{1000 * v:.2f} ms" for k, v in r.seconds.items()} for n, r in shown.items()}
    a.dataframe(pd.DataFrame(stages))
    with b:
        show.chart(figures.traffic(result, pinned), "traffic", "Bytes sent.")
        st.caption(
            f"One client sends {figures.human_bytes(metrics.bytes_up_per_client)} on average, "
            f"{figures.human_bytes(metrics.bytes_up_prototypes)} of it prototypes. FedAvg is not "
            f"run here: 100 rounds of a 2-layer GCN with 256 hidden units, both ways, "
            f"{settings.clients} clients."
        )

if result.notes:
    with st.expander(f"What was out of the ordinary ({len(result.notes)})"):
        st.markdown("\n".join(f"- {note}" for note in result.notes))
up = result.uploads
columns = {"client": up.client, "class": up.label, "n": up.counts}
columns["lambda"] = result.estimate.weights[up.client, up.label]
pairs = pd.DataFrame({name: values.tolist() for name, values in columns.items()})
show.export({"weights": pairs, "measures": lambda: pd.DataFrame([metrics.to_dict()])})
show.same_in_python(
    settings,
    f"SPEAR on {settings.dataset}",
    "print(r.metrics.accuracy, r.metrics.silhouette_smoothed, r.metrics.bytes_up_total)",
    "figures.weights(r).show()",
)

# the further runs come last, so that nothing above waits for them --------------------------------
if graph.num_nodes <= runs.SMALL and metrics.accuracy is not None:
    seeds = [value for value in runs.over_seeds(settings) if value is not None]
    simpler = {k: v for k, v in runs.references(settings).items() if v is not None}
    mean, std = statistics.mean(seeds), statistics.pstdev(seeds)
    spread.metric("Mean of five seeds", f"{100 * mean:.2f} ± {100 * std:.2f} %")
    strip.plotly_chart(
        figures.accuracy_strip(
            metrics.accuracy,
            seeds,
            simpler,
            pinned.metrics.accuracy if pinned else None,
        ),
        key="strip",
        config={"displayModeBar": False},
    )
