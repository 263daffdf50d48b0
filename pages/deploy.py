"""Deploy: the commands that run the present settings between real machines, and a run's report."""

import streamlit as st

from pages.parts import deploy_report
from pages.shared import frame, runs, show
from spear_core import SpearError
from spear_core.federation import lines
from spear_core.federation.names import offered
from spear_core.federation.report import read_report
from spear_core.figures import human_bytes

settings = frame.settings()
result = runs.result_or_stop(settings)

st.markdown("#### From here to several machines")
st.markdown(
    "The same functions run on [Flower](https://flower.ai): each machine keeps its graph, is asked "
    "once, and answers with prototypes and counts. `docs/federation.md` has the whole way, with "
    "certificates and the firewall."
)
try:
    offered(settings)
except SpearError as error:
    st.warning(str(error))
st.markdown("**All of it on this machine first**, with TLS and node keys, compared with this page:")
st.code(lines.demo_line(settings), language="bash", wrap_lines=True)
left, right = st.columns(2)
with left:
    st.markdown("**On every client**: its own file, then its node.")
    several = [lines.export_line(settings), *lines.node_lines()]
    st.code("\n".join(several), language="bash", wrap_lines=True)
    st.caption("A real client has its own graph already: name it as data-path instead.")
with right:
    st.markdown("**On the server**: one run with the present settings.")
    st.code(lines.federate_line(settings), language="bash", wrap_lines=True)
    st.caption("The same in Flower's words; this line exits with 0 even if the run failed:")
    st.code(lines.run_line(settings), language="bash", wrap_lines=True)
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
        deploy_report.draw(read_report(given.getvalue().decode("utf-8", errors="replace")), result)
    except SpearError as error:
        st.error(f"{error} Choose the report.json of a run.")
show.same_in_python(
    settings,
    "What a federation would send",
    "print(len(r.uploads.client), r.metrics.bytes_up_total, r.metrics.accuracy)",
)
