"""Deploy: the commands that run the present settings between real machines, and a run's report."""

import streamlit as st

from pages.parts import deploy_report
from pages.shared import drawn, frame, runs, show
from pages.shared.plain import plain
from spear_core import SpearError
from spear_core.federation import lines
from spear_core.federation.names import offered, sends, shaped
from spear_core.federation.report import read_report
from spear_core.figures import human_bytes, message
from spear_core.figures.machines import machines
from spear_core.measures.spread import percent

MACHINES = """from IPython.display import HTML
from spear_core.figures.machines import machines
HTML(machines(r))"""

settings = frame.settings()
result = runs.result_or_stop(settings)
told = shaped(settings, result.graph)

show.sentence(
    "The same functions run on [Flower](https://flower.ai): each machine keeps its graph, is asked "
    f"once, and answers with {sends(told)}.",
    "deploy_sends",
)
st.markdown(machines(result), unsafe_allow_html=True)
drawn.add(MACHINES, "What runs where.")
try:
    offered(settings)
    fits = "These settings run between machines as they are."
except SpearError as error:
    fits = f":orange[:material/warning:] {plain(error, 500)}"
show.sentence(
    f"{fits} `docs/federation.md` has the whole way, with certificates and the firewall.", "deploy"
)
st.markdown("**All of it on this machine first**, with TLS and node keys, compared with this page:")
st.code(lines.demo_line(settings), language="bash", wrap_lines=True, height=122)
left, right = st.columns(2)
with left:
    st.markdown("**On every client**: its own file, then its node.")
    several = [lines.export_line(settings), *lines.node_lines()]
    st.code("\n".join(several), language="bash", wrap_lines=True, height=256)
    st.caption(
        "A real client has its own graph already: name it as data-path instead. max-epsilon, "
        "max-answers and max-sketch beside it limit what the node tells, whatever a run asks for."
    )
with right:
    st.markdown("**On the server**: one run with the present settings.")
    st.code(lines.federate_line(told), language="bash", wrap_lines=True, height=144)
    st.caption("The same in Flower's words; this line exits with 0 even if the run failed:")
    st.code(lines.run_line(told), language="bash", wrap_lines=True, height=144)
    sketched = message.sketched(result)
    up = human_bytes(result.metrics.bytes_up_per_client)
    st.caption(
        f"Expect {len(result.uploads.client)} prototypes{sketched}, {up} from a client on average, "
        f"and {percent(result.metrics.accuracy)} on the whole graph."
    )

st.markdown("#### The report of a run")
given = st.file_uploader(
    "report.json, as the server wrote it",
    type="json",
    key="deploy_report",
    max_upload_size=20,  # MB: a report of 100,000 nodes has a quarter of that
)
if given is None:
    st.caption("Nothing is loaded. The server writes it to the folder named as out.")
else:
    try:
        deploy_report.draw(read_report(given.getvalue().decode("utf-8", errors="replace")), result)
    except SpearError as error:
        st.error(f"{plain(error)} Choose the report.json of a run.")
show.same_in_python(
    settings,
    "What a federation would send",
    "print(len(r.uploads.client), r.metrics.bytes_up_total, r.metrics.accuracy)",
)
