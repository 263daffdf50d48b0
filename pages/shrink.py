"""Shrink: who is pulled to the peers, whether that helps, and whether its theory holds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts import shrink_views
from pages.shared import frame, link, runs, show
from pages.shared.pinned import pinned_result, same_graph
from spear_core import defaults
from spear_core.figures import shrink as figures
from spear_core.measures.prototype_error import class_errors
from spear_core.paper import printed

IMPORT = "from spear_core.figures import shrink as draw\n"
ERRORS = "from spear_core.measures.prototype_error import class_errors\n"

settings = frame.settings()
result = runs.result_or_stop(settings)
pinned = pinned_result(result)
pinned_here = same_graph(pinned, result)
names, up, metrics = result.graph.names, result.uploads, result.metrics
lam = result.estimate.weights[up.client, up.label]
columns = {"client": up.client, "class": up.label, "n": up.counts, "lambda": lam}
columns["pulled"] = (result.partition.train_counts > 0).sum(0)[up.label] > 1
pairs = pd.DataFrame({name: values.tolist() for name, values in columns.items()})
pulled = pairs[pairs["pulled"].astype(bool)].sort_values("n")  # no upload: no type either

# what λ is for, who is pulled, and what that does to the prototypes --------------------------
words, formula = st.columns([3, 2])
with words:
    show.sentence(
        shrink_views.unread(result)
        or "A mean of few nodes is a poor guess. **λ says how much of it is taken from its "
        "peers**, the other clients that hold the class: much where n is small, hardly any where "
        f"n is large. {shrink_views.said_of(result, pulled)}",
        "shrink",
        4,
    )
with formula:
    st.latex(shrink_views.formula_of(result, pulled))
left, right = st.columns(2)
with left:
    st.subheader("Who is pulled to the peers")
    st.caption("Each dot is an uploaded prototype. Look at small n: there the pull is strong.")
    said = f"λ over n, {len(pulled)} prototypes pulled, {len(pairs) - len(pulled)} lone ones not."
    code = f"{IMPORT}draw.weight_curve(r{', pinned' if pinned else ''})"
    show.chart(figures.weight_curve(result, pinned), "lambda", said, code=code)
with right:
    st.subheader("Local → shrunk → global")
    st.caption("Cosine distance to the true centroid: look how far each step moves to the left.")
    reading = show.switch("True centroid of", link.choices("centroid"), "centroid")
    errors = class_errors(result.estimate, metrics.centroids_of(reading))
    old = None
    if pinned_here:
        old = class_errors(pinned_here.estimate, pinned_here.metrics.centroids_of(reading))
    if errors["class"]:
        on_average = (f"{s} {np.mean(errors[s]):.3f}" for s in ("local", "shrunk", "spear"))
        said = f"Distances to the centroids by class; on average {', '.join(on_average)}."
        of = "class_errors({0}.estimate, {0}.metrics.centroids_of(" + repr(reading) + "))"
        also = f", {of.format('pinned')}" if old else ""
        code = f"{ERRORS}draw.error_steps({of.format('r')}, r.graph.names{also})"
        show.chart(figures.error_steps(errors, names, old), "errors", said, code=code)
    else:
        st.info("No class has both a training node and a node to take the centroid over.")
means = shrink_views.mean_errors(result, pinned)
st.table(means.set_index(""))
if settings.dataset in printed.errors():
    usual = settings == replace(defaults(settings.dataset), seed=settings.seed)
    said = "The paper's figures are for K = 10 and β = 0.05; the difference is ours minus printed."
    st.caption(f"{said} The present settings are {'these' if usual else 'others'}.")

# one view at a time --------------------------------------------------------------------------
views = link.choices("shrink")
view = show.switch("More of this run", views, "shrink", label_visibility="collapsed")
tables, lines = shrink_views.VIEWS[view](result, pinned, reading)
show.export({"weights": pairs, "prototype errors": means, **tables})
show.same_in_python(
    settings,
    f"Shrinkage on {settings.dataset}",
    ERRORS.strip(),
    f"print(class_errors(r.estimate, r.metrics.centroids_of({reading!r})))",
    *lines,
)
