"""How a page gets the settings of the sidebar: from the frame in app.py, started if need be.

Streamlit runs a file of `pages/` by itself until `st.navigation` has been called once in the
server's life, so a link straight to a page may arrive without the frame around it.
"""

import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import streamlit as st

from spear_core import Settings

STYLE = """
<style>
.ends { display: flex; justify-content: space-between; margin-top: -1.1rem;
        font-size: 0.75rem; opacity: 0.7; }
section[data-testid="stSidebar"] [data-testid="stVerticalBlock"] { gap: 0.6rem; }
.block-container { padding-top: 3.2rem; padding-bottom: 2rem; }
[data-testid="stMetricValue"] { font-variant-numeric: tabular-nums; }
</style>
"""

_current: ContextVar[Settings | None] = ContextVar("settings", default=None)


@contextmanager
def around(settings: Settings) -> Iterator[None]:
    """Hold the settings while a page runs."""
    token = _current.set(settings)
    try:
        yield
    finally:
        _current.reset(token)


def settings() -> Settings:
    """The settings of the sidebar."""
    held = _current.get()
    if held is None:
        runpy.run_path(str(Path(__file__).parents[2] / "app.py"))
        st.stop()
    return held
