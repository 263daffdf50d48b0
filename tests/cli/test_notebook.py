"""`spear notebook`: the notebook of a page or of a link, ready to be run."""

import json

import nbformat
import pytest

from pages.shared import linked
from pages.shared.pages import PAGES
from spear_core import Settings
from spear_core.cli import main, notebook
from spear_core.fields import as_call

LINK = "http://127.0.0.1:8501/split?v=2&dataset=karate&clients=3&gamma=inf&split_count=all+nodes"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_page_gets_its_notebook_with_what_it_shows(here, capsys):
    assert main(["notebook", "shrink"]) == 0
    assert "jupyter lab 05_shrink.ipynb" in capsys.readouterr().out
    book = nbformat.read(here / "05_shrink.ipynb", as_version=4)
    nbformat.validate(book)
    shown = [out.get("data", {}) for cell in book.cells for out in cell.get("outputs", [])]
    assert any("image/png" in data for data in shown)
    assert "notebook noise" in book.cells[-1].source  # the one beside it is not here
    assert main(["notebook", "shrink"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["notebook", "shrink", "--out", "mine.ipynb"]) == 0


def test_a_link_gets_the_notebook_of_its_page_with_its_settings(here):
    assert main(["notebook", "--settings", LINK]) == 0
    book = json.loads((here / "03_split.ipynb").read_text())
    nbformat.validate(nbformat.from_dict(book))
    assert LINK in book["cells"][0]["source"]
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    wanted = Settings(dataset="karate", clients=3, gamma="inf")
    assert f"settings = {as_call(wanted)}" in code[0]["source"]
    assert all(cell["outputs"] == [] for cell in code)


@pytest.mark.parametrize(
    "settings",
    [Settings(), Settings(dataset="Cora", alpha=0.3, shrinkage=False), Settings(gamma=0.0)],
)
def test_a_link_is_read_as_the_app_reads_it(settings):
    query = "&".join(f"{k}={v}" for k, v in linked.short(settings, {}).items())
    assert notebook.read_link(f"http://x/shrink?{query}") == (f"http://x/shrink?{query}", settings)
    assert notebook.read_link(query)[1] == settings


def test_every_notebook_takes_the_settings_of_a_link():
    books = notebook.offered()
    assert [page.name for page in PAGES] == list(books)[: len(PAGES)]
    for path in books.values():
        text = json.dumps(notebook.written(path, "http://x/?v=2", Settings(gamma=0.25)))
        assert text.count("gamma=0.25)  # as in the link") == 1, path.name


@pytest.mark.parametrize(
    ("words", "said"),
    [(["fly"], "There is no notebook fly"), (["--settings", "beta=x"], "beta must be a number")],
)
def test_what_cannot_be_written_is_said(here, capsys, words, said):
    assert main(["notebook", *words]) == 2
    assert said in capsys.readouterr().err
    assert list(here.iterdir()) == []
