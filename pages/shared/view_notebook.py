"""The present view as a notebook, in the form of those in `notebooks/`: prose, formula, code."""

import json
from collections.abc import Sequence
from pathlib import Path

from pages.shared.pages import page_named

FOLDER = Path(__file__).parents[2] / "notebooks"


def mirror(page: str) -> Path | None:
    """The notebook in the project that mirrors a page, if it names one."""
    notebook = page_named(page).notebook
    return FOLDER / f"{notebook.name}.ipynb" if notebook else None


def view_notebook(title: str, page: str, address: str, code: str) -> str:
    """A notebook that gives what a page shows, ready to run in the project's folder."""
    head, _, rest = code.partition("r = run(s)")
    entry = page_named(page)
    about = f"\n\n{entry.notebook.about}" if entry.notebook else ""
    formula = f"\n\n$${entry.notebook.formula}$$" if entry.notebook else ""
    cells = [
        _prose(f"# {title}\n\nThe page of this notebook: [{entry.title}]({address}){about}"),
        _code(head.strip()),
        _prose(f"## The run{formula}"),
        _code(
            'r = run(s)\nprint(f"{s.dataset}: accuracy {100 * (r.metrics.accuracy or 0):.1f} %")'
        ),
    ]
    if rest.strip():
        cells += [_prose("## What the page shows"), _code(rest.strip())]
    cells.append(_prose("**To try:** change one value in the first cell and run all again."))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def _prose(text: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(text: str) -> dict[str, object]:
    empty: Sequence[object] = []
    return {
        "cell_type": "code",
        "metadata": {},
        "source": text,
        "outputs": empty,
        "execution_count": None,
    }
