"""What every page shows in the same way: charts, the code behind them, and exports."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import fields

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from spear_core import Settings


def chart(figure: go.Figure, key: str, alt: str = "", **options: object) -> object:
    """A figure at full width; the camera in its corner saves the chosen picture format."""
    form = st.session_state.get("picture", "png")
    config = {
        "displaylogo": False,
        "toImageButtonOptions": {"format": form, "filename": f"spear-{key}", "scale": 2},
    }
    shown = st.plotly_chart(figure, key=key, config=config, **options)
    if alt:
        st.html(f'<p class="alt">{html.escape(alt)}</p>')
    return shown


def python_lines(settings: Settings, *body: str) -> str:
    """The few lines that give what a page shows: every setting that is not a default, the run."""
    usual = Settings()
    changed = {
        f.name: getattr(settings, f.name)
        for f in fields(Settings)
        if f.name == "dataset" or getattr(settings, f.name) != getattr(usual, f.name)
    }
    words = {k: '"inf"' if v == float("inf") else repr(v) for k, v in changed.items()}
    call = ", ".join(f"{k}={v}" for k, v in words.items()).replace("'", '"')
    lines = [
        "from spear_core import Settings, figures, run",
        "",
        f"s = Settings({call})",
        "r = run(s)",
    ]
    text = "\n".join([*lines, *body])
    return (
        text
        if "figures." in text.split("\n", 1)[1]
        else text.replace("Settings, figures, run", "Settings, run")
    )


def same_in_python(settings: Settings, title: str, *body: str) -> None:
    """The lines behind the page, to copy, and as a notebook to download."""
    code = python_lines(settings, *body)
    with st.expander("The same in Python", icon=":material/code:"):
        st.code(code, language="python")
        st.download_button(
            "Download as a notebook",
            lambda: notebook(title, code),
            file_name=f"{_slug(title)}.ipynb",
            mime="application/x-ipynb+json",
            on_click="ignore",
        )


def notebook(title: str, code: str) -> str:
    """A plain Jupyter notebook with a title and one cell."""
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": f"# {title}"},
        {
            "cell_type": "code",
            "id": "run",
            "metadata": {},
            "source": code,
            "outputs": [],
            "execution_count": None,
        },
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def export(tables: dict[str, pd.DataFrame | Callable[[], pd.DataFrame]]) -> None:
    """CSV files of what is shown, and the format in which charts are saved.

    A function is called when its file is asked for.
    """
    with st.popover("Export", icon=":material/download:"):
        for name, table in tables.items():
            st.download_button(
                f"{name} (CSV)",
                lambda t=table: (t() if callable(t) else t).to_csv(index=False),
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


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
