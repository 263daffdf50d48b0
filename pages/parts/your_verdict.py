"""The verdict on the present dataset, prototypes in words, and what to take along."""

import pandas as pd
import streamlit as st

from pages.shared import controls, lab, link, runs
from pages.shared.plain import plain
from spear_core import Settings, load
from spear_core.exports import predictions_csv, prototypes_npz, report_html, strongest_terms
from spear_core.exports.terms import GLOBAL
from spear_core.memory.budget import remembered
from spear_core.run import Result
from spear_core.verdict import GRID, Verdict, verdict

MOST_LOCAL = 60  # local prototypes whose words are listed


@remembered(most=8)
def _verdict(settings: Settings, fedavg: bool) -> Verdict:
    return verdict(settings, None, fedavg, _told)


def _told(words: str, part: float) -> None:
    bar = st.session_state.get("_verdict_bar")
    if bar is not None:
        bar.progress(part, words)


def draw(settings: Settings) -> None:
    """Ask, and show what was found; a click on anything ends the asking."""
    st.markdown(f"##### The verdict on {plain(settings.dataset)}")
    st.caption(
        "Training nodes are left out in turn and predicted by the others, for twelve settings. No "
        "label of a test node is read: where a draw of clients needs one, a predicted one stands "
        "in for it, so its lost edges differ a little from those on Split."
    )
    state = st.session_state
    with st.container(horizontal=True, vertical_alignment="bottom"):
        go = st.button("Is training-free a good idea here?", type="primary", key="verdict_go")
        fedavg = st.toggle(
            "Train FedAvg too", key="verdict_fedavg", help="20 rounds on each part; takes a while."
        )
    asked = settings, bool(fedavg)
    if go:
        state["_verdict"] = asked, _found(*asked)
    held: tuple[tuple[Settings, bool], Verdict] | None = state.get("_verdict")
    if held is None or held[0][0] != settings:
        return
    _show(held[1])


def _found(settings: Settings, fedavg: bool) -> Verdict:
    load(settings)
    place = st.empty()
    with place.container(key="under_way_verdict"):
        st.session_state["_verdict_bar"] = st.progress(0.0, "Leaving out training nodes")
        st.button("Cancel", key="verdict_cancel")
    try:
        return _verdict(lab.cleaned(settings), fedavg)
    finally:
        st.session_state.pop("_verdict_bar", None)
        place.empty()


def _show(found: Verdict) -> None:
    first, *reasons = found.lines
    st.success(plain(first, 500))
    st.markdown("\n".join(f"- {plain(line, 400)}" for line in reasons))
    st.button(
        "Set the controls to it", key="verdict_take", on_click=_take, args=(found.recommended,)
    )
    with st.expander("Every number, and where it is shown"):
        query = link.address(found.settings).partition("?")[2]
        lines = []
        for fact in found.facts:
            page = "" if fact.page == "explore" else fact.page
            lines.append(f"- {plain(fact.words)} ([{fact.page}](/{page}?{query}))")
        st.markdown("\n".join(lines))
        rows = [
            {
                "head": head,
                "smoothing": smoothing,
                "left-out nodes right, %": round(100 * found.grid[head, smoothing].value, 1),
                "± (two errors)": round(200 * found.grid[head, smoothing].error, 1),
            }
            for head, smoothing in GRID
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True)


def _take(settings: Settings) -> None:
    controls.put(settings)


def words(result: Result) -> None:
    """What sets the prototypes apart: terms of a text, or names and numbers of features."""
    st.markdown("##### Prototypes in words")
    graph = result.graph
    found = strongest_terms(result)
    if not graph.extra.lines("words"):
        st.caption("The names of these features are not known: they are called by their numbers.")
    local = [t for t in found if t.client != GLOBAL]
    rows = [
        {
            "class": graph.names[t.label],
            "of": "all clients" if t.client == GLOBAL else _client(result, t.client),
            "furthest above the mean": ", ".join(t.words),
        }
        for t in [*(t for t in found if t.client == GLOBAL), *local[:MOST_LOCAL]]
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, height=280)
    if len(local) > MOST_LOCAL:
        st.caption(f"The first {MOST_LOCAL} of {len(local)} local prototypes are listed.")


def _client(result: Result, k: int) -> str:
    owners = result.partition.owners
    return owners[k] if owners else f"client {k}"


def take_along(settings: Settings) -> None:
    """Files of the present run, made when they are asked for."""
    held = st.session_state.get("_verdict")
    lines = held[1].lines if held and held[0][0] == settings else ()
    here, name = link.address(settings), settings.dataset
    st.markdown("##### Take it along")
    with st.container(horizontal=True):
        st.download_button(
            "Predictions (CSV)",
            lambda: predictions_csv(runs.result_of(settings)),
            file_name=f"spear-{name}-predictions.csv",
            mime="text/csv",
            on_click="ignore",
            help="Every node with its class; confidence is the lead over the second class.",
        )
        st.download_button(
            "Global prototypes (.npz)",
            lambda: prototypes_npz(runs.result_of(settings)),
            file_name=f"spear-{name}-prototypes.npz",
            on_click="ignore",
        )
        st.download_button(
            "A report to mail (HTML)",
            lambda: report_html(runs.result_of(settings), lines, here),
            file_name=f"spear-{name}.html",
            mime="text/html",
            on_click="ignore",
            help="One file without anything to fetch.",
        )
