"""The table of pages: what every entry must have, and a page added by one entry and one file."""

import re
import subprocess
import sys

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import link, pages
from pages.shared.pages import PAGES, STRESS, Notebook, Page
from pages.shared.view_notebook import mirror
from spear_core import Settings
from spear_core.paper.tables import PRINTED
from tests.apptest import said, sound
from tests.browser import ROOT

TOY = Page(
    str(ROOT / "tests" / "apps" / "toy.py"),
    "Toy",
    STRESS,
    "Nothing to do.",
    Notebook("03_split", "A page for a test.", r"1 + 1 = 2"),
    {"toy_view": ("Nodes", "All nodes")},
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_has_its_files_and_a_line_in_the_readme(page):
    assert (ROOT / page.script).is_file()
    assert page.notebook is None or mirror(page.name).is_file()
    assert page.title in titles_in_readme()


def titles_in_readme():
    """What is bold in the first column of a table there."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"\*\*(.+?)\*\*", "".join(re.findall(r"^\|([^|]*\*\*[^|]*)\|", text, re.M)))


def test_every_script_is_a_page():
    scripts = {f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")}
    assert scripts == {page.script for page in PAGES}


def test_no_parameter_of_the_link_has_two_owners():
    owned = [name for page in PAGES for name in page.views]
    others = {*link.SETTINGS, *link.OTHERS, link.BESIDE, link.VERSION, "scenario"}
    assert len({*owned, *others}) == len(owned) + len(others)


def test_groups_are_not_torn_apart():
    """A group that is left and taken up again would be offered in another order than listed."""
    groups = [page.group for page in PAGES]
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)


def test_every_printed_table_can_be_chosen():
    assert link.choices("paper_table") == tuple(PRINTED)


def test_the_table_is_read_without_the_engine():
    heavy = "{'torch', 'spear_core', 'streamlit', 'plotly', 'pandas'}"
    code = f"import sys, pages.shared.pages; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def with_toy(monkeypatch, entry, **query):
    """The app with one more page, opened there."""
    monkeypatch.setattr(pages, "PAGES", (*PAGES, entry))
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    for name, value in ({"dataset": "karate", "clients": "3"} | query).items():
        app.query_params[name] = value
    return sound(sound(app.run()).switch_page(entry.script).run())


def test_a_page_is_one_entry_and_one_file(monkeypatch):
    app = with_toy(monkeypatch, TOY)
    assert app.session_state["_page"] == "toy"
    assert "Nodes of 34" in said(app)
    assert "toy_view" not in app.query_params  # the default
    app.segmented_control(key="toy_view").set_value("All nodes").run()
    assert "All nodes of 34" in said(app)
    assert app.query_params["toy_view"] == "All nodes"
    buttons = [button.proto.label for button in app.get("download_button")]
    assert "The notebook of this page (03_split.ipynb)" in buttons


def test_a_link_opens_the_new_page_at_its_view_and_hides_its_control(monkeypatch):
    app = with_toy(monkeypatch, TOY, toy_view="All nodes", hide="toy_view")
    assert not app.warning
    assert "All nodes of 34" in said(app)
    assert "toy_view" not in [group.key for group in app.get("button_group")]


def test_a_page_without_a_notebook_offers_its_view_alone(monkeypatch):
    own = Page(TOY.script, "Toy", "Its own group", "Nothing to do.", views=TOY.views)
    app = with_toy(monkeypatch, own)
    buttons = [button.proto.label for button in app.get("download_button")]
    assert buttons == ["Download this view as a notebook"]


def test_new_parameters_follow_the_old_ones(monkeypatch):
    before = list(link.views())
    monkeypatch.setattr(pages, "PAGES", (TOY, *PAGES))
    assert list(link.views()) == [*before, "toy_view"]
    assert link.parse({"toy_view": "All nodes"})[0]["toy_view"] == "All nodes"
    assert link.parse({"toy_view": "Edges"})[1]


def test_links_have_their_parameters_in_the_old_order():
    other = {name: choices[-1] for name, choices in link.views().items()}
    assert [name for name in link.short(Settings(), other) if name in link.OLD] == list(link.OLD)
