"""What pages hand out: lines that run, and a notebook that is one."""

import json
import math

import nbformat
import pytest

from pages.shared import show
from spear_core import Settings, run

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


def test_the_notebook_is_valid_and_holds_the_lines():
    code = show.python_lines(Settings(alpha=0.5), "r.metrics.accuracy")
    book = nbformat.reads(show.notebook("A view", code), as_version=4)
    nbformat.validate(book)
    assert book.cells[1].source == code
    assert json.loads(show.notebook("A view", code))["nbformat"] == 4
