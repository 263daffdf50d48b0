"""Beyond: every view stands, its figures are those of the files, and it says where it loses."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import link
from spear_core.studies import beyond, beyond_tables, lance_table
from tests.apptest import said, sound
from tests.browser import ROOT


def opened(view, **query):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    for name, value in ({"v": "2", "dataset": "karate", "beyond": view} | query).items():
        app.query_params[name] = value
    return sound(sound(app.run()).switch_page("pages/beyond.py").run())


@pytest.mark.parametrize("view", link.choices("beyond"))
def test_every_view_stands(view):
    app = opened(view)
    assert not app.error, [error.value for error in app.error]
    assert "LANCE" in said(app)


def test_it_says_where_lance_loses_and_what_a_split_reads():
    app = opened("Where it loses")
    words = " ".join([said(app), *(caption.value for caption in app.caption)])
    assert "LANCE ends below SPEAR in" in words
    assert "a tie" in words
    assert "labels of *all* nodes" in words


def test_another_split_shows_its_own_runs():
    assert "Louvain: LANCE is ahead" in said(opened("All eight", beyond_part="Louvain"))


def test_the_splits_of_the_page_are_those_of_the_file():
    assert tuple(beyond_tables.PARTS) == link.choices("beyond_part")
    assert {key[1] for key in beyond_tables.cells()} == set(beyond_tables.PARTS)
    rows = lance_table.rows(lance_table.STORED)
    first = [r for r in rows if r["dataset"] in lance_table.TEN and r["split"] == "0"]
    again = [r for r in first if r["seed"] != "42"]  # ten splits weigh alike
    shown = sum(len(c.each) for c in beyond_tables.cells().values())
    assert shown == len(rows) - len(again)
    assert len(again) == 4 * len(first) / 5


def test_the_stored_file_has_what_is_planned():
    assert set(beyond.rows()) == {key for key, _ in beyond.plan()}


def test_a_gain_is_between_equal_seeds_and_splits():
    mean, _ = beyond_tables.gains(beyond_tables.USUAL)["Cora"]
    found = beyond_tables.cells()
    lance = found["Cora", beyond_tables.USUAL, beyond_tables.LANCE]
    assert mean == pytest.approx(lance.mean - found["Cora", beyond_tables.USUAL, "SPEAR"].mean)


def test_a_stored_line_is_what_the_code_gives_today():
    key, settings = next(p for p in beyond.plan() if p[0][:2] == ("affinity", "Cora"))
    from spear_core.datasets import CATALOGUE, store

    if not store.on_disk(CATALOGUE["Cora"]):
        pytest.skip("Cora is not on disk")
    assert beyond.value(key, settings) == pytest.approx(beyond.rows()[key], abs=1e-5)
