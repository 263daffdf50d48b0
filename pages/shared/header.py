"""The head of every page: the mark and the name, what this is, the page's title, what to do."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

import streamlit as st

from pages.shared.pages import Page

NAME = "SPEAR explorer"
LINE = (
    "Federated graph learning in one message: every client sends its class means once, "
    "nobody trains."
)
# a prototype on its way to become a global one; `st.html` takes pictures but no <svg>
MARK = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 52 20">'
    '<path d="M8 3l7 7-7 7-7-7z" fill="#E69F00"/>'
    '<path d="M18 10h9m-4-4l4 4-4 4" fill="none" stroke="#8A8A8A" stroke-width="2"/>'
    '<path d="M41 0l3 7 7.5.6-5.7 5 1.8 7.4-6.6-4-6.6 4 1.8-7.4-5.7-5 7.5-.6z"'
    ' fill="#4C5BD4"/></svg>'
)
NO_BREAK = "\u00a0"
FIGURE = re.compile(r"\d[\d.,]* (?:%|[KMG]iB|B\b)")
STYLE = f"<style>{Path(__file__).with_name('header.css').read_text(encoding='utf-8')}</style>"


def draw(page: Page) -> None:
    """The head of this page, in the same form and size on all."""
    st.html(
        f'<header class="head"><div class="head-name">'
        f'<img src="data:image/svg+xml,{quote(MARK)}" alt=""><strong>{NAME}</strong>'
        f"<span>{escape(LINE)}</span></div>"
        f'<div class="head-page"><h1>{escape(page.title)}</h1><p>{escape(page.task)}</p></div>'
        "</header>"
    )


def say(lines: Sequence[str]) -> None:
    """A run in words, its figures in bold; the room is kept, so that nothing below moves."""
    words = "  \n".join(lines)  # each begins anew, so that one does not push the other along
    st.markdown(FIGURE.sub(lambda found: f"**{found[0].replace(' ', NO_BREAK)}**", words))
