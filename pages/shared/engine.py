"""Calls into the engine as pages make them: with progress while loading, and kept afterwards."""

import streamlit as st

from spear_core import Result, Settings, SpearError, load, run


def result_or_stop(settings: Settings) -> Result:
    """The run with these settings; a sentence on the page instead when it cannot be made."""
    note = st.empty()
    try:
        load(settings, progress=lambda words, part: note.progress(part, words))
        result = _run(settings)
    except SpearError as error:
        note.empty()
        st.error(str(error))
        st.stop()
    note.empty()
    return result


@st.cache_resource(max_entries=32, show_spinner=False)
def _run(settings: Settings) -> Result:
    return run(settings)
