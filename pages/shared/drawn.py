"""The pictures of a page as lines of Python: what draws each one again, in the page's order.

In the lines `s` are the settings, `r` is their run and `pinned` that of the pinned setting.
"""

from dataclasses import dataclass

import streamlit as st

HELD = "_drawn"


@dataclass(frozen=True)
class Picture:
    """What it shows in words, and the lines that draw it; the last is the picture."""

    alt: str
    code: str


def begin() -> None:
    """A page begins: nothing is drawn yet."""
    st.session_state[HELD] = []


def add(code: str, alt: str = "", at: int | None = None) -> None:
    """One more picture; `at` is its place on the page where it is not drawn last there."""
    pictures = on_page()
    pictures.insert(len(pictures) if at is None else at, Picture(alt, code))


def on_page() -> list[Picture]:
    """The pictures so far; those that the page draws later join the same list."""
    return st.session_state.setdefault(HELD, [])
