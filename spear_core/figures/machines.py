"""The machines of a federation as a picture: a server, its clients, what goes up and down.

One self-contained SVG in the colour of the text around it; no script and no address.
"""

from collections import Counter
from html import escape

from spear_core.figures.message import sketched
from spear_core.figures.palette import BLUE, GREEN, ORANGE
from spear_core.measures.spread import human_bytes
from spear_core.run import Result

WIDTH, ROW, COLUMNS, MOST = 640, 84, 5, 10  # of the picture; clients a row, and all that are drawn
TOP = 190  # where the clients begin


def machines(result: Result) -> str:
    """The server above its clients, each with the prototypes and bytes it sends in this run."""
    clients, sent = result.partition.clients, Counter(result.sent.client.tolist())
    bytes_up = result.metrics.client_bytes_up
    boxes = [
        _client(i, f"client {i}", _prototypes(sent[i]), human_bytes(bytes_up[i]))
        for i in range(clients if clients <= MOST else MOST - 1)
    ]
    if clients > MOST:
        rest = range(MOST - 1, clients)
        more = _prototypes(sum(sent[i] for i in rest)), human_bytes(sum(bytes_up[i] for i in rest))
        boxes.append(_client(MOST - 1, f"{len(rest):,} more", *more))
    high = TOP + ROW * ((len(boxes) - 1) // COLUMNS + 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" role="img" '
        f'aria-label="{escape(told(result))}" width="100%" style="max-width:{WIDTH + 160}px" '
        'fill="currentColor" font-family="inherit" font-size="13" text-anchor="middle">'
        f"{_server(result)}{_arrows(result)}{''.join(boxes)}</svg>"
    )


def told(result: Result) -> str:
    """The picture in a sentence."""
    m, up = result.metrics, len(result.sent.client)
    given = "global prototypes" if result.estimate.ridge is None else "ridge head"
    return (
        f"{result.partition.clients:,} clients send {_prototypes(up)} with their counts"
        f"{sketched(result)} to the server once, {human_bytes(m.bytes_up_total)} in all; each gets "
        f"the {given} back, {human_bytes(m.bytes_down_per_client)}."
    )


def _server(result: Result) -> str:
    seen = int(result.estimate.seen.sum())
    words = _text(320, 36, "server", 'font-weight="600"')
    words += _text(320, 56, f"★ {seen} of {result.graph.classes} classes")
    return _box(220, 10, 200, 64, BLUE) + words


def _arrows(result: Result) -> str:
    """One way up, one way down, and what goes there."""
    m, foot = result.metrics, TOP - 14
    up = f'<path d="M290 {foot}V84m-7 9l7 -10 7 10" {_line(ORANGE, 3)}/>'
    down = f'<path d="M350 82V{foot - 2}m-7 -9l7 10 7 -10" {_line(GREEN, 3)}/>'
    left, right = 'text-anchor="end"', 'text-anchor="start"'
    plain = result.sent.residuals is None
    sent = "and counts" if plain else "counts and residuals"
    given = "global prototypes ★" if result.estimate.ridge is None else "the ridge head ★"
    words = _text(276, 112, f"up, once: prototypes ◆{',' * (not plain)}", left)
    words += _text(276, 130, f"{sent}, {human_bytes(m.bytes_up_total)} in all", left)
    words += _text(364, 112, f"down, once: {given}", right)
    words += _text(364, 130, f"{human_bytes(m.bytes_down_per_client)} to each client", right)
    across = f'<path d="M64 {foot + 6}H{WIDTH - 64}" {_line("currentColor", 1)} opacity="0.4"/>'
    return across + up + down + words


def _client(place: int, name: str, pairs: str, size: str) -> str:
    x, y = 128 * (place % COLUMNS) + 6, TOP + ROW * (place // COLUMNS)
    middle = x + 58
    words = _text(middle, y + 22, name, 'font-weight="600"')
    words += _text(middle, y + 41, pairs) + _text(middle, y + 59, size, 'opacity="0.8"')
    return f"<g>{_box(x, y, 116, 70, 'currentColor')}{words}</g>"


def _prototypes(n: int) -> str:
    return "1 prototype" if n == 1 else f"{n:,} prototypes"


def _box(x: int, y: int, wide: int, high: int, colour: str) -> str:
    place = f'x="{x}" y="{y}" width="{wide}" height="{high}" rx="8"'
    return f'<rect {place} fill="none" stroke="{colour}" stroke-width="1.6" stroke-opacity="0.7"/>'


def _line(colour: str, width: int) -> str:
    return f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-linecap="round"'


def _text(x: int, y: int, words: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" {more}>{escape(words)}</text>'
