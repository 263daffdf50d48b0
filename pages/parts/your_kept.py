"""The graphs that this machine keeps: what they are, what to do with them."""

from pathlib import Path

import streamlit as st

from pages.parts.your_files import choose
from pages.shared.plain import plain
from spear_core import Settings, SpearError
from spear_core.datasets import mine, store
from spear_core.datasets.entry import Entry


def draw(settings: Settings) -> None:
    """A line for each, with a button that chooses, one that hands it out and one that removes."""
    kept = mine.entries()
    st.markdown("##### Graphs kept here")
    if said := st.session_state.pop("_your_removed", ""):
        st.info(said)
    if not kept:
        st.caption("None yet. What you keep is in every menu of datasets, on this machine alone.")
        return
    for entry in kept.values():
        with st.container(horizontal=True, vertical_alignment="center", key=f"kept_{entry.name}"):
            st.markdown(
                f"**{plain(entry.name)}**: {entry.nodes:,} nodes, {entry.edges:,} edges, "
                f"{entry.classes - entry.unlabelled} classes, {entry.features:,} features"
                + (f", {len(entry.owners)} owners" if entry.owners else "")
            )
            if entry.name == settings.dataset:
                st.badge("on every page now")
            else:
                st.button("Use it", key=f"use_{entry.name}", on_click=choose, args=(entry.name,))
            path = _path(entry)
            if path is not None:
                st.download_button(
                    "Hand it out",
                    path.read_bytes,
                    file_name=path.name,
                    key=f"out_{entry.name}",
                    on_click="ignore",
                    help="One file; somebody else adds it as a shared graph.",
                )
            st.button("Remove", key=f"remove_{entry.name}", on_click=_remove, args=(entry.name,))


def _path(entry: Entry) -> Path | None:
    root = store.found(entry)
    return root / entry.folder / entry.files[0] if root else None


def _remove(name: str) -> None:
    try:
        mine.remove(name)
        st.session_state["_your_removed"] = f"{name} is removed; the files it came from are yours."
    except SpearError as error:
        st.session_state["_your_removed"] = plain(error)
    st.cache_data.clear()
    if st.session_state.get("dataset") == name:
        choose(Settings().dataset)
