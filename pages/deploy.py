"""Deploy: the commands that run the present settings between real machines, and a run's report."""

import pandas as pd
import streamlit as st

from pages.shared import engine, frame, show
from spear_core import SpearError
from spear_core.federation.commands import demo_line, export_line, node_lines, run_line
from spear_core.federation.report import read_report
from spear_core.figures import human_bytes

settings = frame.settings()
result = engine.result_or_stop(settings)

st.markdown("#### From here to several machines")
st.markdown(
    "The same functions run on [Flower](https://flower.ai): each machine keeps its graph, is asked "
    "once, and answers with prototypes and counts. `docs/federation.md` has the whole way, with "
    "certificates and the firewall."
)
st.markdown("**All of it on this machine first**, with TLS and node keys, compared with this page:")
st.code(demo_line(settings), language="bash")
left, right = st.columns(2)
with left:
    st.markdown("**On every client**: its own file, then its node.")
    st.code("\n".join([export_line(settings), *node_lines()]), language="bash", wrap_lines=True)
    st.caption("A real client has its own graph already: name it as data-path instead.")
with right:
    st.markdown("**On the server**: one run with the present settings.")
    st.code(run_line(settings), language="bash", wrap_lines=True)
    up = human_bytes(result.metrics.bytes_up_per_client)
    st.caption(
        f"Expect {len(result.uploads.client)} prototypes, {up} from a client on average, and "
        f"{100 * (result.metrics.accuracy or 0):.2f} % on the whole graph."
    )

st.markdown("#### The report of a run")
given = st.file_uploader("report.json, as the server wrote it", type="json", key="deploy_report")
if given is None:
    st.caption("Nothing is loaded. The server writes it to the folder named as out.")
else:
    try:
        report = read_report(given.getvalue().decode("utf-8", errors="replace"))
    except SpearError as error:
        st.error(f"{error} Choose the report.json of a run.")
        st.stop()
    if report.failure:
        st.error(f"The run failed: {report.failure}")
    a, b, c = st.columns(3)
    a.metric("Nodes that answered", f"{len(report.answered)} of {len(report.asked)}")
    b.metric("Prototypes", report.rows, f"explorer {len(result.uploads.client)}", delta_color="off")
    own = "–" if report.accuracy is None else f"{100 * report.accuracy:.2f} %"
    c.metric("Right at home", own, help="Each client tests on its own graph, with its own edges.")
    theirs = {"counted": report.counted_bytes, "in Flower's records": report.record_bytes}
    rows = [{"bytes": name, "run": value} for name, value in theirs.items()]
    rows[0]["explorer"] = result.metrics.bytes_up_total
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    if report.dropped:
        st.markdown("**Dropped**")
        st.dataframe(pd.DataFrame(report.dropped), hide_index=True)
    differs = {
        name: (value, settings.to_dict()[name])
        for name, value in report.settings.items()
        if settings.to_dict()[name] != value
    }
    if differs:
        words = ", ".join(f"{k} {v[0]} there, {v[1]} here" for k, v in differs.items())
        st.info(f"The run had other settings than this page: {words}.")
show.same_in_python(
    settings,
    "What a federation would send",
    "print(len(r.uploads.client), r.metrics.bytes_up_total, r.metrics.accuracy)",
)
