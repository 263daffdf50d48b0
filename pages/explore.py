"""Explore: one run with the settings of the sidebar, everything at a glance."""

from functools import partial

import pandas as pd
import streamlit as st

from pages.shared import card, estimator, frame, header, link, mapview, message, runs, show
from pages.shared.pinned import pinned_result, same_graph, silhouettes_alike
from spear_core import figures
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.explain.references import PLAIN
from spear_core.explain.summary import lines
from spear_core.explain.words import pulled_towards, weight_formula
from spear_core.measures.spread import mean_and_spread, percent, points, signed, with_spread

STRIP = """from dataclasses import replace
from spear_core import PAPER_SEEDS
from spear_core.explain.references import references
seeds = [run(replace(s, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]
simpler = {name: run(one).metrics.accuracy for name, one in references(s).items()}
"""
SILHOUETTE, CONFUSION, PROTOTYPES, TIME = link.choices("view")

settings = frame.settings()
result = runs.result_or_stop(settings)
pinned = pinned_result(result)
pinned_here = same_graph(pinned, result)
before = frame.last_shown(result)
also = ", pinned=pinned" if pinned_here else ""  # in the lines that draw a picture
metrics, graph, names = result.metrics, result.graph, result.graph.names
ridge = result.estimate.ridge is not None


# the run in words and in figures: what takes longer is drawn last, the old stays until then -----
words = st.container(key="summary")
with st.container(key="figures"):
    now, over, gain, tight, line = st.columns([1.15, 1.35, 1, 1.3, 2.2])
change, still = None, False
if before and before.accuracy is not None and metrics.accuracy is not None:
    by = 100 * (metrics.accuracy - before.accuracy)
    change, still = f"{signed(by)} since the last", round(by, 1) == 0
now.container(key="accuracy").metric(
    "Accuracy on test nodes",
    percent(metrics.accuracy),
    change,
    "off" if still else "normal",
    delta_arrow="off" if still else "auto",
)
runs.let_go()

# the map, the message and the weights --------------------------------------------------------
left, right = st.columns([1, 1] if pinned_here else [8, 5])
chosen = frame.picked(result)
with left, st.container(border=True, key="card_map"):
    if mapview.draw(result, before.result if before else None, chosen, pinned_here):
        runs.let_go(0.1)
with right:
    if pinned_here:
        with st.container(border=True, key="card_pinned"):
            mapview.draw_pinned(pinned_here)
    about = (left if pinned_here else right).container(border=True, key="card_message")
    beside = st.container(key="beside") if pinned_here else st.container()
    with beside, st.container(border=True, key="card_weights"):
        unread = "λ, which the ridge does not read"
        st.markdown(f"**Who leans on the others**: {unread if ridge else 'λ, click a cell'}")
        show.chart(
            figures.weights(result, chosen, pinned_here),
            "weights",
            f"λ of {len(result.uploads.label)} prototypes by client and class.",
            on_pick=frame.pick_cell,
            code=f"figures.weights(r{f', {chosen}' if chosen else ''}{also})",
        )
        if chosen:
            client, label = chosen
            st.markdown(
                f"Client {client}, class {names[label]}: "
                f"**{weight_formula(result, client, label)}**. "
                f"{pulled_towards(result, client, label)}"
            )
    with beside if pinned_here else right:  # never over the map of A
        card.draw(result, card.view_of(result))

# one view at a time --------------------------------------------------------------------------
views = [v for v in link.choices("view") if v != PROTOTYPES or CATALOGUE[settings.dataset].picture]
if st.session_state["view"] not in views:  # not every dataset has pictures
    st.session_state["view"] = views[0]
view = show.switch("More of this run", views, "view", label_visibility="collapsed")
costly = graph.num_nodes * graph.num_features > runs.LARGE
if view == SILHOUETTE:
    st.caption(
        "How tightly the true classes lie together, -1 to 1, by cosine, on the test nodes: before "
        "and after smoothing on the full graph. The labels are used only to measure. "
        "The dots are beside the accuracy."
    )
    if costly:
        costly = not st.toggle("Compute it: this graph is large, it takes some seconds")
    if pinned and not costly:
        st.caption(silhouettes_alike(pinned, result))
elif view == CONFUSION:
    a, b = st.columns(2)
    with a:
        since = "Colour: change since the pinned setting; more on the diagonal is better."
        st.caption(since if pinned_here else "Test nodes; the diagonal is right.")
        figure = figures.confusion(result, pinned_here)
        show.chart(figure, "confusion", "Confusion matrix.", code=f"figures.confusion(r{also})")
    with b:
        st.caption("Share of each class that is right.")
        figure, said = figures.class_accuracy(result, pinned_here), "Accuracy of each class."
        show.chart(figure, "class_accuracy", said, code=f"figures.class_accuracy(r{also})")
elif view == PROTOTYPES:
    numbers = [str(c) for c in range(len(names))]
    if st.session_state["digit"] not in numbers:
        st.session_state["digit"] = numbers[0]
    by_name = {"format_func": lambda number: names[int(number)]}
    label = chosen[1] if chosen else int(show.switch("Class", numbers, "digit", **by_name))
    figure, code = figures.pictures(result, label, pinned_here), f"r, {label}{also}"
    said = f"Prototypes of class {label}."
    show.chart(figure, "pictures", said, code=f"figures.pictures({code})")
elif view == TIME:
    a, b = st.columns([2, 3])
    shown = {"this run": result} | ({"pinned": pinned} if pinned else {})
    stages = {n: {k: f"{1000 * v:.2f} ms" for k, v in r.seconds.items()} for n, r in shown.items()}
    a.dataframe(pd.DataFrame(stages))
    with b:
        code = f"figures.traffic(r{', pinned' if pinned else ''})"
        show.chart(figures.traffic(result, pinned), "traffic", "Bytes sent.", code=code)
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
show.export({"weights": pairs, "measures": partial(runs.measures_of, settings)})
show.same_in_python(
    settings,
    f"{estimator.name_of(settings)} on {settings.dataset}",
    "print(r.metrics.accuracy, r.metrics.silhouette_smoothed, r.metrics.bytes_up_total)",
)

with about:
    message.draw(result)

# the further runs come last, so that nothing above waits for them --------------------------------
simpler: dict[str, float] = {}
few = graph.num_nodes <= runs.SMALL and not runs.heavy(result)
if few and metrics.accuracy is not None:
    seeds = [value for value in runs.over_seeds(settings) if value is not None]
    simpler = {k: v for k, v in runs.references(settings).items() if v is not None}
    if seeds:
        mean, std = mean_and_spread(seeds)
        over.metric("Mean of five seeds", f"{with_spread(100 * mean, 100 * std)} %")
    more = metrics.accuracy - simpler.get(PLAIN, metrics.accuracy)
    gain.metric("Over the plain mean", points(100 * more))
    then = pinned.metrics.accuracy if pinned else None
    with line:
        st.caption("accuracy, from 0 to 100 %")
        figure = figures.accuracy_strip(metrics.accuracy, seeds, simpler, then)
        said = "Accuracy of this run, its seeds and references."
        also = ", pinned.metrics.accuracy" if pinned else ""
        code = f"{STRIP}figures.accuracy_strip(r.metrics.accuracy, seeds, simpler{also})"
        show.chart(figure, "strip", said, bare=True, code=code, at=0)
with words:
    header.say(lines(result, simpler.get(PLAIN)))
if not costly:
    with tight:
        ends = (metrics.silhouette_raw, metrics.silhouette_smoothed)
        told = " → ".join("–" if v is None else f"{v:.3f}" for v in ends)
        both = "A = B " if pinned and silhouettes_alike(pinned, result) else ""
        st.caption(f"silhouette {both}{told}")
        figure = figures.silhouettes(result, pinned)
        said, also = f"Silhouette, raw to smoothed: {told}.", ", pinned" if pinned else ""
        code = f"figures.silhouettes(r{also})"
        show.chart(figure, "silhouettes", said, bare=True, code=code, at=0)
