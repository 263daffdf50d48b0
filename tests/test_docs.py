"""The docs that are made from the code are those of today's code."""

import doctest

import spear_core
from docs import build


def test_the_api_page_is_in_step():
    assert build.FILE.read_text(encoding="utf-8") == build.page(), "say make api"


def test_every_public_name_is_described():
    text = build.page()
    for name in spear_core.__all__:
        assert f"### `{name}`\n\n" in text or f"- `{name} = " in text
    assert not doctest.testmod(build).failed
