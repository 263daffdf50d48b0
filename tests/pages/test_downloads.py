"""What a page hands out as a notebook draws what is on the screen, in the page's order."""

import ast
import os

import nbformat
import plotly.graph_objects as go
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from notebooks.build import digest
from pages.shared.pages import PAGES
from tests.apptest import live, sound
from tests.browser import ROOT

VIEWS = {  # page -> what is set, one after the other
    "explore": [{"view": v} for v in ("Silhouette", "Confusion", "Prototypes", "Time and bytes")]
    + [{"pick": "2,8", "node": "8", "show": "global", "colour": "client"}],
    "learn": [{"learn": str(i), "learn_answer": i % 2} for i in range(1, 9)],
    "split": [{"split_count": v} for v in ("all nodes", "training nodes")],
    "smooth": [
        {"smooth_curve": v} for v in ("Accuracy over α", "Accuracy over T", "Silhouette over α")
    ]
    + [{"smoothing": "gated", "head": "ridge", "sketch": 8.0}],
    "shrink": [{"shrink": v} for v in next(p.views["shrink"] for p in PAGES if p.name == "shrink")],
    "noise": [
        {"noise_view": "Features", "feature_noise": 0.5},
        {"noise_view": "The paper's table"},
    ],
    "attack": [
        {"attack_view": v, "attacker_count": 3, "flip": "next"}
        for v in ("Classes", "Map", "Pictures", "Damage")
    ]
    + [{"attack_view": "Map", "defence": "median"}, {"attack_view": "Defences"}],
    "privacy": [{}, {"epsilon": 100.0}],
    "sensitivity": [
        {},
        {"sens": "Two knobs", "sens_x": "alpha", "sens_y": "steps"},
        {"sens": "Homophily and α"},
    ],
    "paper": [{"paper": "Curves"}, {"paper": "Where it does not hold"}, {"paper": "Tables"}],
    "compare": [{"compare": "Over β", "dataset": "karate", "clients": 3}],
    "beyond": [{"beyond": v} for v in ("This graph", "All eight", "Bytes", "The gate")]
    + [{"beyond": "All eight", "beyond_part": "IID"}, {"beyond": "Where it loses"}],
    "deploy": [{}],
    "your_graph": [{}],
}


@pytest.fixture
def files(monkeypatch):
    """What the download buttons of the page hold, by their labels."""
    found = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, **_: found.update({label: data}))
    return found


def drawn_by(book, names):
    """The figures that the cells of a notebook show, run from an empty folder's point of view."""
    figures = []
    for cell in book.cells:
        if cell.cell_type != "code":
            continue
        tree = ast.parse(cell.source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
        if isinstance(shown, go.Figure):
            figures.append(shown)
    return figures


@pytest.mark.slow
@pytest.mark.parametrize("pin", ["", "alpha:0.8,steps:5"], ids=["alone", "pinned"])
@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_a_download_draws_what_is_on_the_screen(page, pin, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = AppTest.from_file(ROOT / "app.py", default_timeout=300).run()
    app.switch_page(f"pages/{page}.py").run()
    app.session_state["pin"] = pin
    for values in VIEWS[page] if not pin else VIEWS[page][:2]:
        for name, value in values.items():
            if name == "learn_answer":
                app.session_state["_learn_seen"] = {int(values["learn"])} if value else set()
            else:
                app.session_state[name] = value
        sound(app.run())
        on_screen = [go.Figure(data["figure"]) for data in live(app).values()]
        book = nbformat.reads(files["Download this view as a notebook"](), as_version=4)
        nbformat.validate(book)
        made = drawn_by(book, {})
        assert len(made) == len(on_screen), values
        for number, (one, other) in enumerate(zip(made, on_screen, strict=True)):
            now, then = (digest(figure.to_plotly_json()) for figure in (one, other))
            assert [part[:2] for part in now] == [part[:2] for part in then], (values, number)
            for a, b in zip(now, then, strict=True):
                assert a[2:] == pytest.approx(b[2:], rel=1e-3, abs=1e-3), (values, number, a[0])
    assert os.listdir(tmp_path) == []
