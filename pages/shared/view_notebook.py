"""The present view as a notebook, in the form of those in `notebooks/`: prose, formula, code."""

import json
from collections.abc import Sequence
from pathlib import Path

from pages.shared.drawn import Picture
from pages.shared.pages import page_named
from spear_core import Settings
from spear_core.fields import as_call

FOLDER = Path(__file__).parents[2] / "notebooks"
FIRST = "from spear_core import Settings, figures, run"


def mirror(page: str) -> Path | None:
    """The notebook in the project that mirrors a page, if it names one."""
    notebook = page_named(page).notebook
    return FOLDER / f"{notebook.name}.ipynb" if notebook else None


def view_notebook(
    title: str,
    page: str,
    address: str,
    settings: Settings,
    pictures: Sequence[Picture] = (),
    body: Sequence[str] = (),
    pinned: Settings | None = None,
) -> str:
    """A notebook that gives what a page shows, its pictures in their order and then its numbers.

    It runs wherever the project is installed.
    """
    entry = page_named(page)
    about = f"\n\n{entry.notebook.about}" if entry.notebook else ""
    formula = f"\n\n$${entry.notebook.formula}$$" if entry.notebook else ""
    blocks = [_parted(picture.code.splitlines()) for picture in pictures]
    last = _parted(body)
    imports = dict.fromkeys((FIRST, *(line for found, _ in (*blocks, last) for line in found)))
    given = [f"s = {as_call(settings)}"]
    if pinned and any("pinned" in line for _, lines in blocks for line in lines):
        given.append(f"pinned = run({as_call(pinned)})")
    told = 'print(f"{s.dataset}: accuracy {100 * (r.metrics.accuracy or 0):.1f} %")'
    cells = [
        _prose(f"# {title}\n\nThe page of this notebook: [{entry.title}]({address}){about}"),
        _code("\n".join([*sorted(imports), "", *given])),
        _prose(f"## The run{formula}"),
        _code(f"r = run(s)\n{told}"),
    ]
    if blocks:
        cells.append(_prose("## What the page shows"))
    for picture, (_, lines) in zip(pictures, blocks, strict=True):
        cells += [_prose(picture.alt)] if picture.alt else []
        cells.append(_code("\n".join(lines).strip()))
    if any(last[1]):
        cells += [_prose("## In numbers"), _code("\n".join(last[1]).strip())]
    cells.append(_prose("**To try:** change one value in the first cell and run all again."))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def _parted(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The imports, which go to the top of the notebook, and the rest."""
    imports = [line for line in lines if line.startswith(("from ", "import "))]
    return imports, [line for line in lines if line not in imports]


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
