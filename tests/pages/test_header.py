"""The head of a page: the same on all of them, and once."""

import pytest

from pages.shared import header
from pages.shared.pages import PAGES
from tests.apptest import opened, put


def heads(page):
    """What the head of a page under the test runner holds, in its HTML."""
    return [block.proto.body for block in page.get("html") if 'class="head"' in block.proto.body]


@pytest.mark.parametrize("entry", PAGES, ids=lambda page: page.name)
def test_every_page_has_one_head_and_no_title_beside_it(entry):
    page = opened(entry.name)
    (head,) = heads(page)
    for words in (header.NAME, header.LINE, f"<h1>{entry.title}</h1>", entry.task):
        assert words in head
    assert not page.title
    assert "<svg" not in head  # `st.html` would remove it: the mark is a picture
    assert "http" not in head.replace("http%3A//www.w3.org", "")


def test_a_task_is_one_short_sentence():
    for page in PAGES:
        assert page.task.endswith(".")
        assert len(page.task) <= 90


def test_explore_says_the_run_in_words():
    page = opened("explore")
    now = page.metric[0].value
    told = [block.value for block in page.markdown if "in all, once." in block.value]
    assert len(told) == 1
    assert f"**{float(now.split()[0]):.1f}\u00a0%** of the test nodes right" in told[0]
    put(page, clients=1)
    assert any(block.value.startswith("One client, ") for block in page.markdown)
