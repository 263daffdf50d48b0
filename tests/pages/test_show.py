"""What pages hand out: lines that run, and a notebook that is one."""

import math
import re
from urllib.parse import parse_qsl, urlparse

import nbformat
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from notebooks.build import FIGURE, HTML, execute
from pages.shared import linked, show
from pages.shared.drawn import Picture
from pages.shared.pages import PAGES
from pages.shared.view_notebook import mirror, view_notebook
from spear_core import Settings, run
from tests.browser import ROOT

VIEWS = [
    Settings(),
    Settings(dataset="karate", clients=3, gamma=math.inf),
    Settings(dataset="synthetic", nodes=300, classes=3, homophily=0.1, shrinkage=False),
]


@pytest.mark.parametrize("settings", VIEWS, ids=lambda s: s.dataset)
def test_the_lines_give_the_same_run(settings):
    code = show.python_lines(settings, "a = r.metrics.accuracy", "f = figures.weights(r)")
    names = {}
    exec(code, names)
    assert names["s"] == settings
    assert names["a"] == run(settings).metrics.accuracy
    assert names["f"].data


def test_only_what_is_used_is_imported():
    assert "figures" not in show.python_lines(Settings(), "print(r.metrics.accuracy)")


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_the_notebook_is_valid_and_holds_pictures_and_lines(page):
    pictures = [Picture("Two bars.", "from x import y\ny(r, pinned)"), Picture("", "z(r)")]
    given = Settings(alpha=0.5), pictures, ["from a import b", "b(r)"], Settings(seed=7)
    book = nbformat.reads(view_notebook("A view", page, "http://x/?a=1", *given), as_version=4)
    nbformat.validate(book)
    sources = [cell.source for cell in book.cells if cell.cell_type == "code"]
    assert "alpha=0.5" in sources[0]
    assert 'pinned = run(Settings(dataset="digits", seed=7))' in sources[0]
    assert sources[0].startswith("from a import b\n")
    assert sources[-3:] == ["y(r, pinned)", "z(r)", "b(r)"]
    assert "Two bars." in [cell.source for cell in book.cells]
    assert "http://x/?a=1" in book.cells[0].source
    assert mirror(page).is_file()


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_the_notebook_of_every_page_links_back_to_its_view(page, monkeypatch):
    files = {}

    def kept(label, data, **more):
        files[label] = data

    monkeypatch.setattr(st, "download_button", kept)
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    app.session_state["dataset"], app.session_state["clients"] = "karate", 3
    app.session_state["alpha"] = 0.5
    app.switch_page(f"pages/{page}.py").run()
    book = nbformat.reads(files["Download this view as a notebook"](), as_version=4)
    address = re.search(r"\]\((.*)\)", book.cells[0].source)[1]
    values, notes = linked.parse(dict(parse_qsl(urlparse(address).query)))
    assert not notes
    assert (values["dataset"], values["clients"], values["alpha"]) == ("karate", 3, 0.5)


@pytest.mark.notebook
@pytest.mark.parametrize(
    ("page", "changes"),
    [
        ("explore", {"dataset": "karate", "clients": 3}),
        ("attack", {"dataset": "karate", "clients": 3, "attackers": "chosen", "chosen": "1"}),
        ("deploy", {"dataset": "karate", "clients": 3, "gamma": math.inf}),
    ],
)
def test_the_notebook_of_a_view_runs(page, changes, monkeypatch):
    files = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, **_: files.update({label: data}))
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    for name, value in changes.items():
        app.session_state[name] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    book = nbformat.reads(files["Download this view as a notebook"](), as_version=4)
    shown = [out for cell in execute(book).cells for out in cell.get("outputs", [])]
    assert "accuracy" in "".join(out.get("text", "") for out in shown)
    assert any({FIGURE, HTML} & set(out.get("data", {})) for out in shown)
