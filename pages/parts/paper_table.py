"""A table of the paper as HTML: print and measurement in every cell, each a link to its setting."""

import html
from urllib.parse import urlencode

import streamlit as st

from pages.shared import link
from spear_core.paper.measured import AGREES, DIFFERS, FAR, NEW, OPEN, Measured
from spear_core.paper.tables import Entry, Table

MARKS = {AGREES: ("●", "#0072B2"), DIFFERS: ("◐", "#56B4E9"), FAR: ("▲", "#D55E00")}
MARKS |= {OPEN: ("–", "#8A8A8A"), NEW: ("○", "#8A8A8A")}
STYLE = """<style>
.paper { overflow-x: auto; }
.paper table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.85rem; }
.paper th, .paper td { padding: 0.35rem 0.7rem; border-bottom: 1px solid rgba(128,128,128,0.3);
  text-align: right; white-space: nowrap; }
.paper th:first-child { text-align: left; }
.paper a { color: inherit; text-decoration: underline dotted; text-underline-offset: 0.2rem; }
.paper small { opacity: 0.7; }
</style>"""


def draw(table: Table) -> None:
    """The table with its legend."""
    head = "".join(f'<th scope="col">{_pretty(name)}</th>' for name in ("", *table.columns))
    body = "".join(
        f'<tr><th scope="row">{_pretty(name)}</th>{"".join(map(_cell, entries))}</tr>'
        for name, entries in table.rows.items()
    )
    caption = f"<caption class='alt'>{html.escape(table.about)}</caption>"
    inner = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    st.html(f'{STYLE}<div class="paper" tabindex="0">{inner}</div>')
    st.caption(" · ".join(f"{MARKS[mark][0]} {mark}" for mark in MARKS))


def setting_url(entry: Entry) -> str:
    """The explorer at the cell's setting, as an address on this server."""
    assert entry.cell is not None
    return f"{_base()}?{urlencode(link.as_query(entry.cell.settings))}"


def _cell(entry: Entry) -> str:
    sign, colour = MARKS[entry.mark]
    made = entry.measured
    digits = made.digits if made else 2
    printed = entry.printed
    if isinstance(printed, float) and entry.cell:
        printed = f"{printed:.{digits}f}"
    small = f"<br><small>printed {printed}</small>" if printed is not None else ""
    if entry.cell is None and made:
        title = f"{entry.mark}. {made.note}, seeds {made.seeds}. Opens the page Compare."
        words, href = _words(entry), f"{_base()}compare?dataset={made.column}"
        return (
            f'<td title="{html.escape(title)}"><span style="color:{colour}">{sign}</span> '
            f'<a href="{html.escape(href)}" target="_self">{words}</a>{small}</td>'
        )
    if entry.cell is None:
        why = "OOM in the paper" if printed == "OOM" else "a rival; see the page Compare"
        return f'<td title="{why}"><span style="color:{colour}">{sign}</span>{small}</td>'
    words = _words(entry)
    title = f"{entry.mark}{_errors(made)}. {made.note if made else ''} Opens the explorer there."
    return (
        f'<td title="{html.escape(title)}"><span style="color:{colour}">{sign}</span> '
        f'<a href="{html.escape(setting_url(entry))}" target="_self">{words}</a>{small}</td>'
    )


def _errors(made: Measured | None) -> str:
    """The standard error that the mark is made with, and over how many seeds."""
    if made is None or made.error == 0:
        return ""
    return f", standard error {made.error:.{made.digits}f} over {len(made.seeds.split())} seeds"


def _words(entry: Entry) -> str:
    return entry.measured.words if entry.measured else "not measured"


def _pretty(name: str) -> str:
    return html.escape(name.replace(" beta=", ", β = "))


def _base() -> str:
    """The address of the first page, where Explore lives."""
    return (st.context.url or "/").split("?")[0].removesuffix("paper")
