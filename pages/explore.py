"""Explore: one run of SPEAR with the settings of the sidebar."""

import streamlit as st

from pages.shared import frame
from pages.shared.engine import result_or_stop
from spear_core import figures

settings = frame.settings()
result = result_or_stop(settings)
metrics, graph = result.metrics, result.graph

st.title("SPEAR on " + settings.dataset)
st.caption(
    f"{graph.num_nodes:,} nodes · {graph.num_edges:,} edges · {graph.num_features:,} features · "
    f"{graph.classes} classes · no training, one message per client"
)

accuracy, f1, sent, time = st.columns(4)
accuracy.metric("Accuracy on test nodes", f"{100 * metrics.accuracy:.2f} %")
f1.metric("Macro F1", f"{100 * metrics.macro_f1:.2f} %")
sent.metric(
    "Sent per client",
    f"{metrics.bytes_up_per_client / 1024:.1f} KiB",
    help=f"{metrics.bytes_up_total / 1024:.1f} KiB by all {settings.clients} clients together.",
)
time.metric(
    "Time",
    f"{1000 * result.method_seconds:.1f} ms",
    help="All clients, the server and inference; loading and splitting left out.",
)

left, right = st.columns(2)
with left:
    st.subheader("Who holds what")
    st.plotly_chart(figures.counts(result), key="counts")
    st.caption("Training nodes of each client and class: the count n sent with every prototype.")
with right:
    st.subheader("Who is pulled to the peers")
    st.plotly_chart(figures.weights(result), key="weights")
    st.caption("λ = 1/(1 + γn). Near 1: few samples, so the prototype is pulled to its peers.")

if result.notes:
    with st.expander(f"What was out of the ordinary ({len(result.notes)})"):
        st.markdown("\n".join(f"- {note}" for note in result.notes))
