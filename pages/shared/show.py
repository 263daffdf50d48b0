"""What every page shows in the same way: charts, the code behind them, and exports."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.shared import drawn, link
from pages.shared.livemap import live_chart
from pages.shared.view_notebook import mirror, view_notebook
from spear_core import Settings
from spear_core.fields import as_call

NOTEBOOK = "application/x-ipynb+json"
Table: TypeAlias = pd.DataFrame | Callable[[], pd.DataFrame]


def shown(name: str) -> bool:
    """Whether a control is drawn: a teacher's link can hide it, as in hide=beta,view."""
    return name not in st.session_state.get(link.HIDE, "").split(",")


def switch(label: str, options: Sequence[str], key: str, **look: Any) -> str:
    """One of a few views, as the link says; the switch for it is drawn unless it is hidden."""
    st.session_state.setdefault(key, options[0])
    if shown(key):
        st.segmented_control(label, options, key=key, required=True, **look)
    return st.session_state[key]


def chart(
    figure: go.Figure,
    key: str,
    alt: str = "",
    picks: bool = False,
    on_pick: Callable[[Any], None] | None = None,
    bare: bool = False,
    code: str = "",
    at: int | None = None,
) -> Any:
    """A figure at full width, updated in place; the camera saves the chosen picture format.

    With `picks`, gives the `customdata` of the point that was just clicked, else None; `on_pick`
    is called with it before the page is drawn again. A `bare` chart has no camera. `code` are the
    lines of Python that draw it, for a download, `at` is its place there if not the last.
    """
    if code:
        drawn.add(code, alt, at)
    form = st.session_state.get("picture", "png")
    config: dict[str, Any] = {
        "modeBarButtonsToRemove": ["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
        "toImageButtonOptions": {"filename": f"spear-{key}", "scale": 2},
        "formats": [form],
    }
    return live_chart(
        figure, key, alt, {"displayModeBar": False} if bare else config, picks, on_pick
    )


def sentence(text: str, key: str, lines: int = 2) -> None:
    """A sentence with room for so many lines, so that a longer one moves nothing below it."""
    with st.container(key=f"lines{lines}_{key}"):
        st.markdown(text)


def python_lines(settings: Settings, *body: str) -> str:
    """The few lines that give what a page shows: every setting that is not a default, the run."""
    lines = [f"s = {as_call(settings)}", "r = run(s)", *body]
    drawn = "figures, " if any("figures." in line for line in lines) else ""
    return "\n".join([f"from spear_core import Settings, {drawn}run", "", *lines])


def same_in_python(settings: Settings, title: str, *body: str) -> None:
    """The lines behind the page, to copy and as a notebook, and the notebook that mirrors it."""
    code = python_lines(settings, *body)
    page = st.session_state["_page"]
    book = mirror(page)
    here = link.address(settings)  # while the visitor is known: a file is made later
    text = st.session_state.get(link.PIN, "")
    pictures, pinned = drawn.on_page(), link.unpin(text)[0] if text else None
    with st.expander("The same in Python", icon=":material/code:"):
        st.code(code, language="python")
        with st.container(horizontal=True):
            st.download_button(
                "Download this view as a notebook",
                lambda: view_notebook(title, page, here, settings, pictures, body, pinned),
                file_name=f"{_slug(title)}.ipynb",
                mime=NOTEBOOK,
                on_click="ignore",
            )
            if book:
                st.download_button(
                    f"The notebook of this page ({book.name})",
                    book.read_text,
                    file_name=book.name,
                    mime=NOTEBOOK,
                    on_click="ignore",
                )


def export(tables: Mapping[str, Table]) -> None:
    """CSV files of what is shown, and the format in which charts are saved.

    A function is called when its file is asked for. Streamlit keeps it as long as the visit, so it
    should not hold a result: a part of a module's function and the settings does not.
    """
    with st.popover("Export", icon=":material/download:"):
        for name, table in tables.items():
            st.download_button(
                f"{name} (CSV)",
                _csv(table),
                file_name=f"spear-{_slug(name)}.csv",
                mime="text/csv",
                on_click="ignore",
            )
        st.radio(
            "The camera on a chart saves",
            ["png", "svg"],
            key="picture",
            horizontal=True,
            format_func=str.upper,
        )


def _csv(table: Table) -> Callable[[], str]:
    """The file, made when it is asked for."""
    return lambda: (table() if callable(table) else table).to_csv(index=False)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
