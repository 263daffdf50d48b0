"""Files that a visitor drops: how they are to be read, what came of them, and keeping that."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.shared import controls, link
from pages.shared.plain import plain
from spear_core import SpearError, own
from spear_core.datasets import mine
from spear_core.settings import defaults

MOST_MB = 500  # of one file; they lie in the app's memory
ROWS = 5  # of the table that is shown before anything is kept
TABLES = ("csv", "tsv", "txt", "parquet", "pq", "edges", "tab")
WANTED: dict[str, dict[str, tuple[str, tuple[str, ...], bool]]] = {
    # kind -> part -> what to say, endings, several
    "Two tables": {
        "edges": ("Edges: two columns of ids", TABLES, False),
        "nodes": ("Nodes: id, label, and more", TABLES, False),
        "features": ("Features, if apart: a row a node", ("npz", "npy", "parquet"), False),
    },
    "GraphML": {"graphml": ("GraphML: nodes with a label", ("graphml", "xml"), False)},
    "Geom-GCN": {"folder": ("Its two text files and the splits", ("txt", "npz"), True)},
    "A shared graph": {"compact": ("A file of a kept graph", ("npz",), False)},
}
COLUMNS = {
    "id": "id",
    "label": "label",
    "split": "split: train, val, test",
    "owner": "owner: who holds a node",
    "text": "text",
}
Files = Mapping[str, list[UploadedFile]]


@dataclass(frozen=True, eq=False)
class Read:
    """What was read from which files; it stays in the session until it is kept or others come."""

    key: Any
    draft: own.Draft


def uploaders(kind: str) -> Files:
    """What was dropped for each part, by the kind of files."""
    found = {}
    with st.container(horizontal=True):
        for part, (words, endings, several) in WANTED[kind].items():
            given: Any = st.file_uploader(
                words,
                type=list(endings),
                key=f"your_{part}_{st.session_state.get('_your_round', 0)}",
                accept_multiple_files=several,
                max_upload_size=MOST_MB,
            )
            found[part] = given if several else [given] if given else []
    return found


def choices(kind: str) -> own.Choices | None:
    """How the files are to be read; None, with the sentence, where that makes no sense."""
    chosen: dict[str, Any] = {}
    with st.popover("How to read them", icon=":material/tune:"):
        if kind in ("Two tables", "GraphML"):
            st.caption("Columns are found by their names; say here what they are called otherwise.")
            left, right = st.columns(2)
            for i, (role, words) in enumerate(COLUMNS.items()):
                chosen[role] = (left, right)[i % 2].text_input(words, key=f"your_{role}").strip()
        chosen["directed"] = st.toggle(
            "Edges go one way only",
            key="your_directed",
            help="Else an edge that is given one way is taken both ways.",
        )
        chosen["drawn"] = st.text_input(
            "Training nodes, where no split is given",
            "20%",
            key="your_drawn",
            help="A share as in 10%, or so many of each class as in 20; drawn by the seed.",
        )
        made = st.selectbox(
            "Features, where none are given", ["by size", *own.MADE], key="your_made"
        )
        chosen["features"] = "" if made == "by size" else made
        chosen["terms"] = st.number_input(
            "Terms of a text at most", 1, 100_000, own.MOST_TERMS, key="your_terms"
        )
    try:
        return own.Choices(**chosen)
    except SpearError as error:
        st.error(plain(error))
        return None


def preview(files: Files, choices: own.Choices) -> None:
    """Read what was dropped, show it, and keep it under a name when asked to."""
    key = tuple((part, *(f.file_id for f in some)) for part, some in files.items()), choices
    if not any(files.values()):
        st.caption("Nothing is dropped yet.")
        return
    state = st.session_state
    if "edges" in files and not (files["edges"] and files["nodes"]):
        lacking = "edges" if files["nodes"] else "nodes"
        st.info(f"Drop the table of {lacking} too: a graph needs edges, and nodes with labels.")
        return
    read: Read | None = state.get("_your_draft")
    if read is None or read.key != key:
        try:
            read = state["_your_draft"] = Read(key, _read(files, choices))
        except SpearError as error:
            st.error(plain(error, 500))
            return
    _show(read.draft)
    _keep(read.draft)


def _read(files: Files, choices: own.Choices) -> own.Draft:
    """The graph in the files; a click on anything, as on Cancel, ends the reading."""
    place = st.empty()
    with place.container(key="under_way_reading"):
        bar = st.progress(0.0, "Reading")
        st.button("Cancel", key="your_cancel", on_click=_let_go)
    try:
        parts: dict[str, Any] = {}
        for part, some in files.items():
            taken = tuple(own.given_file(f.name, f.getvalue()) for f in some)
            if taken:
                parts[part] = taken if part == "folder" else taken[0]
        sources = own.Sources(**parts)
        return own.read_graph(sources, choices, lambda words, part: bar.progress(part, words))
    finally:
        place.empty()


def _let_go() -> None:
    """Forget the files that were dropped: the uploaders are others from here on."""
    state = st.session_state
    state.pop("_your_draft", None)
    state["_your_round"] = state.get("_your_round", 0) + 1


def _show(draft: own.Draft) -> None:
    about = draft.about
    st.markdown("##### What was read")
    numbers = {
        "Nodes": about["nodes"],
        "Edges": about["edges"],
        "Features": about["features"],
        "Classes": about["classes"] - about["unlabelled"],
    }
    for column, (name, value) in zip(st.columns(4), numbers.items(), strict=True):
        column.metric(name, f"{value:,}")
    st.markdown("\n".join(f"- {plain(line, 400)}" for line in own.described(draft)[1:]))
    st.dataframe(_head(draft), hide_index=True)


def _head(draft: own.Draft) -> pd.DataFrame:
    """The first nodes as they were understood."""
    arrays, about = draft.arrays, draft.about
    ids = arrays[mine.IDS].tobytes().decode().split("\n") if mine.IDS in arrays else []
    degree = np.bincount(arrays["edge_index"][0], minlength=len(arrays["y"]))
    rows = range(min(ROWS, len(arrays["y"])))
    table = {
        "id": [ids[i] if ids else str(i) for i in rows],
        "label": [about["class_names"][arrays["y"][i]] for i in rows],
        "neighbours": degree[: len(rows)],
    }
    if mine.OWNER in arrays:
        table["owner"] = [about["owners"][arrays[mine.OWNER][i]] for i in rows]
    return pd.DataFrame(table)


def _keep(draft: own.Draft) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name of the dataset", "mine", key="your_name", max_chars=40)
        if not st.button("Keep it as a dataset", type="primary", key="your_keep"):
            return
    try:
        entry = own.keep(draft, name.strip())
    except SpearError as error:
        st.error(plain(error))
        return
    st.cache_data.clear()  # of another graph that had this name
    _let_go()
    choose(entry.name)
    link.redraw()


def choose(name: str) -> None:
    """Make a dataset the present one before the controls are drawn again."""
    controls.put(defaults(name))
