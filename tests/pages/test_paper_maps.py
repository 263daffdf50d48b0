"""The Paper page's maps, while a UMAP is made: the page is never cut short by one that is ready."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import paper_maps
from pages.shared import background
from spear_core import embed
from spear_core.embed import Job


def a_page():
    import streamlit as st

    from pages.parts import paper_maps
    from spear_core import Settings

    paper_maps.draw(Settings())
    st.caption("the end")


@pytest.fixture
def runs_of_the_page(monkeypatch):
    """How often the page was drawn; its one map has just been fitted, and none of it is kept."""
    done, drawn = Job(None, value="a map"), []
    done.ended.set()
    columns = {"main_accuracy": {"columns": ["karate"]}, "heterophily": {"columns": []}}
    monkeypatch.setattr(paper_maps, "reported", lambda: columns)
    monkeypatch.setattr(embed, "ready", lambda *which: drawn.append(which))
    monkeypatch.setattr(background.Visitor, "fit", lambda *which: done)
    return drawn


def shown():
    page = AppTest.from_function(a_page, default_timeout=600).run()
    assert not page.exception
    return [one.value for one in page.caption]


def test_a_run_of_the_page_itself_is_drawn_to_its_end(runs_of_the_page):
    assert shown()[-1] == "the end"
    assert len(runs_of_the_page) == 1


def test_the_timer_draws_the_page_again(runs_of_the_page, monkeypatch):
    monkeypatch.setattr(background, "by_timer", lambda: len(runs_of_the_page) == 1)
    assert shown()[-1] == "the end"
    assert len(runs_of_the_page) == 2
