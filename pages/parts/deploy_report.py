"""The report of a federated run beside the explorer's own figures."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from spear_core import Result
from spear_core.errors import one_line
from spear_core.federation.names import shaped
from spear_core.federation.report import Report
from spear_core.measures.spread import percent

OWN = (
    "Each client tests its own nodes with its own edges only. The explorer's figure beside it is "
    "for the whole graph."
)
MOST = 1000  # lines that are shown of a report
STAGES = {
    "join": "until enough nodes had joined",
    "upload": "until the uploads were there",
    "estimate": "estimate",
    "evaluate": "until the clients had tested",
}


def draw(report: Report, result: Result) -> None:
    """Who answered, who was dropped and why, bytes and seconds."""
    if report.failure:
        st.error("The run failed:")
        st.text(cut(report.failure))
    _other_settings(report, result)
    a, b, c, d = st.columns(4)
    a.metric("Nodes that answered", f"{len(report.answered)} of {len(report.asked)}")
    _beside(b, "Prototypes", str(report.rows), str(len(result.uploads.client)))
    own, here = percent(report.accuracy), percent(result.metrics.accuracy)
    _beside(c, "Right at home", own, here, OWN)
    d.metric("Seconds", f"{sum(report.seconds.values()):.1f}")
    if report.dropped:
        st.markdown("**Dropped**")
        st.text("\n".join(_dropped(report)))
    for note in [*filter(None, [report.ties]), *report.notes[:MOST]]:
        st.text(cut(note))
    if report.answered:
        with st.expander(f"The nodes that answered ({len(report.answered)})"):
            st.text(cut(", ".join(report.answered), 20_000))
    left, right = st.columns(2)
    with left:
        st.markdown("**Bytes**")
        st.table(_bytes(report, result))
        if report.wire_up is None:
            st.caption("`python -m spear_core federate` adds what the SuperLink counted.")
        else:
            st.caption(
                "On the wire is everything between the SuperLink and its nodes, in Flower's "
                "envelopes."
            )
    with right:
        st.markdown("**Seconds**")
        st.table(_seconds(report, result))


def _beside(
    column: DeltaGenerator, name: str, value: str, here: str, help: str | None = None
) -> None:
    column.metric(name, value, f"explorer: {here}", "off", delta_arrow="off", help=help)


def _dropped(report: Report) -> list[str]:
    """All that was wrong with each node, a line a node; nodes may have written it."""
    why: dict[str, list[str]] = {}
    for one in report.dropped:
        why.setdefault(one["node"], []).append(one["reason"])
    return [cut(f"node {node}: {'; '.join(why[node])}") for node in list(why)[:MOST]]


def cut(text: str, most: int = 300) -> str:
    """Text of others on one line, cut at a length; `st.text` shows it as it is."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[:most]} …"


def _bytes(report: Report, result: Result) -> pd.DataFrame:
    rows = {
        report.parts: (report.counted_bytes, result.metrics.bytes_up_total),
        "the same in Flower's records": (report.record_bytes, None),
        "on the wire, up": (report.wire_up, None),
        "on the wire, down": (report.wire_down, None),
    }
    return _table(rows, "{:,}")


def _seconds(report: Report, result: Result) -> pd.DataFrame:
    rows = {
        said: (report.seconds[name], result.seconds.get(name))
        for name, said in STAGES.items()
        if name in report.seconds
    }
    return _table(rows, "{:.3f}")


def _table(rows: Mapping[str, tuple[float | None, float | None]], form: str) -> pd.DataFrame:
    """This run beside the explorer's, a dash where there is nothing."""
    said = [["–" if n is None else form.format(n) for n in pair] for pair in rows.values()]
    return pd.DataFrame(said, index=list(rows), columns=["run", "explorer"])


def _other_settings(report: Report, result: Result) -> None:
    here = shaped(result.settings, result.graph).to_dict()
    differs = [
        f"{name} {cut(str(value), 40)} there, {here[name]} here"
        for name, value in report.settings.items()
        if name in here and here[name] != value
    ]
    if differs:
        st.info("The run had other settings than this page:")
        st.text(", ".join(differs))
