"""Noise: spoil edges, features or labels, and see what that costs and what smoothing repairs."""

import pandas as pd
import streamlit as st

from pages.parts import noise_views
from pages.shared import frame, link, runs, show
from pages.shared.pinned import pinned_result, same_graph
from spear_core.settings import choices, titled, told
from spear_core.studies.noise_curve import KNOBS

RATES = {  # setting -> what the ends of its slider mean
    "edge_noise": ("clean", "half are new"),
    "feature_noise": ("clean", "nothing left"),
    "label_noise": ("clean", "all wrong"),
}
RULES = {  # setting -> its choices in words, and what to know of them
    "noise_when": (
        {"after": "after the split", "before": "before the split"},
        "After: inside each client. Before: anywhere, also between clients.",
    ),
    "feature_rule": (
        {"entries": "entries", "half": "in half the nodes"}
        | {"nodes": "whole nodes", "columns": "whole columns"},
        "Rows are brought to unit length after that.",
    ),
}


def controls() -> None:
    """The knobs of the noise; they are in the link like those of the sidebar."""
    *columns, last = st.columns([5, 5, 5, 4])
    for column, (name, (low, high)) in zip(columns, RATES.items(), strict=True):
        if show.shown(name):
            with column:
                st.slider(
                    titled(name),
                    0.0,
                    1.0,
                    step=0.05,
                    key=name,
                    help=told(name),
                    on_change=noise_views.follow,
                    args=(name,),
                )
                st.html(f'<div class="ends"><span>{low}</span><span>{high}</span></div>')
    if show.shown("draw"):
        last.number_input(titled("draw"), 0, 2**32 - 1, step=1, key="draw", help=told("draw"))
    if show.shown("noise_test"):
        last.toggle(titled("noise_test"), key="noise_test", help=told("noise_test"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, (words, help) in RULES.items():
            look = {"format_func": words.__getitem__, "help": help}
            look |= {"on_change": noise_views.follow, "args": (name,)}
            show.switch(titled(name), choices(name), name, **look)


settings = frame.settings()
result = runs.result_or_stop(settings)
controls()
pinned = pinned_result(result)
small = runs.quick(result)

# one view at a time: that of the slider that was moved last -----------------------------------
views = link.choices("noise_view")
view = show.switch("View", views, "noise_view", label_visibility="collapsed")
tables, lines = noise_views.VIEWS[view](result, same_graph(pinned, result))

# what it costs, and what smoothing repairs ---------------------------------------------------
st.subheader("What it costs, and what smoothing repairs")
if result.metrics.accuracy is None:
    st.info("There is no test node, so accuracy cannot be measured.")
    table = pd.DataFrame()
else:
    st.caption(
        "Look at the last column: it is what the graph is worth, with this noise and without. "
        + ("Mean ± standard deviation over five seeds, " if small else "This seed alone, ")
        + "differences taken seed by seed, in points."
    )
    table = noise_views.costs(settings, small)
    st.table(table.set_index(""))
    spoiled = any(getattr(settings, knob) for knob in KNOBS)
    quiet = "No edge is changed." if spoiled else "There is no noise yet: move a slider above."
    edges = settings.edge_noise > 0
    show.sentence(noise_views.homophily_words(result) if edges else quiet, "noise_edges")
show.export({"costs": table, **tables})
clean = {knob: 0 for knob in KNOBS if getattr(settings, knob)}
measured = [f"clean = run(replace(s, {', '.join(f'{k}={v}' for k, v in clean.items())}))"]
measured += ["print(r.metrics.accuracy, clean.metrics.accuracy)"]
lines = [*measured, *lines] if clean else ["print(r.metrics.accuracy)", *lines]
imports = ["from dataclasses import replace"] if any("replace(" in line for line in lines) else []
show.same_in_python(settings, f"Noise on {settings.dataset}", *imports, *lines)
