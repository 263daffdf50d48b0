"""Every notebook: in step with its script, complete, runs, and shows what a run gives today."""

import re

import nbformat
import pytest

from notebooks.build import CORA, HERE, execute, outputs, read, sources
from pages.shared.pages import PAGES
from spear_core.datasets import CATALOGUE, store

SCRIPTS = sources()
MOST = 1_500_000  # bytes of a notebook


def built(script):
    return nbformat.read(script.with_suffix(".ipynb"), as_version=4)


def tagged(book, tag):
    return [cell for cell in book.cells if tag in cell.metadata.get("tags", [])]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_the_pair_is_in_step(script):
    book = built(script)
    nbformat.validate(book)
    wanted = [(cell.cell_type, cell.source) for cell in read(script).cells]
    assert [(cell.cell_type, cell.source) for cell in book.cells] == wanted, "say make notebooks"


@pytest.mark.notebook
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_it_runs_and_its_outputs_are_those_of_today(script):
    stored = built(script)
    here = store.on_disk(CATALOGUE["Cora"])
    for cell in () if here else tagged(stored, CORA):
        cell.outputs = []
    kept_outputs, again = list(outputs(stored)), list(outputs(execute(read(script, cora=here))))
    assert len(again) == len(kept_outputs)
    for (cell, now), (_, kept) in zip(again, kept_outputs, strict=True):
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


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_it_is_a_lesson_that_reads_without_a_kernel(script):
    book = built(script)
    (solution,) = tagged(book, "solution")
    assert solution.metadata["jupyter"] == {"source_hidden": True, "outputs_hidden": True}
    assert tagged(book, CORA)
    data = [out.get("data", {}) for cell in book.cells for out in cell.get("outputs", [])]
    assert any("text/latex" in one for one in data), "a formula with its numbers"
    assert sum("image/png" in one for one in data) >= 1
    assert not any("application/vnd.jupyter.widget-view+json" in one for one in data)
    assert "widgets" not in book.metadata
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert "explore(" in code[-1].source
    assert "image/png" in code[-1].outputs[0].data
    assert script.with_suffix(".ipynb").stat().st_size < MOST


def test_every_page_has_a_notebook_in_reading_order():
    names = [page.notebook.name for page in PAGES]
    order = {script.stem: i for i, script in enumerate(SCRIPTS)}
    assert [name.partition("_")[2] for name in names] == [page.name for page in PAGES]
    assert sorted(names) == sorted(names, key=order.__getitem__)
    assert set(order) - set(names) == {"15_fast_algebra"}


def test_every_notebook_has_a_script():
    assert {p.stem for p in HERE.glob("*.ipynb")} == {s.stem for s in SCRIPTS}
