"""Every notebook: in step with its script, runs, and shows what a run gives today."""

import re

import nbformat
import pytest

from notebooks.build import HERE, execute, outputs, read, sources
from pages.shared.pages import PAGES

SCRIPTS = sources()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_the_pair_is_in_step(script):
    built = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    nbformat.validate(built)
    wanted = [(cell.cell_type, cell.source) for cell in read(script).cells]
    assert [(cell.cell_type, cell.source) for cell in built.cells] == wanted, "say make notebooks"


@pytest.mark.notebook
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_it_runs_and_its_outputs_are_those_of_today(script):
    stored = list(outputs(nbformat.read(script.with_suffix(".ipynb"), as_version=4)))
    again = list(outputs(execute(read(script))))
    assert len(again) == len(stored)
    for (cell, now), (_, kept) in zip(again, stored, strict=True):
        if "text" in now:
            assert now == kept, f"cell {cell} prints something else; say make notebooks"
            continue
        for one, other in zip(now["figure"], kept["figure"], strict=True):
            assert one[:2] == other[:2]
            assert one[2:] == pytest.approx(other[2:], rel=1e-3, abs=1e-3), f"figure of cell {cell}"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_its_links_lead_somewhere(script):
    text = script.read_text()
    pages = re.findall(r"http://localhost:8501/(\w*)", text)
    assert pages, "a notebook opens with the link to its page"
    assert set(pages) <= {"", *(page.name for page in PAGES)}
    for target in re.findall(r"\]\(([^)#:]+)\)", text):  # links to files beside it
        assert (HERE / target).exists(), target


def test_every_notebook_has_a_script():
    assert {p.stem for p in HERE.glob("*.ipynb")} == {s.stem for s in SCRIPTS}
