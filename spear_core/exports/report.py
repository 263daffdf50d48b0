"""The present run as one HTML file: tables and words alone, nothing is fetched, nothing runs."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from spear_core.errors import one_line
from spear_core.exports.terms import GLOBAL, strongest_terms
from spear_core.fields import changed
from spear_core.measures.spread import percent
from spear_core.run import Result
from spear_core.settings import named, written

MOST_CLASSES, MOST_CLIENTS = 40, 50  # rows and columns of a table
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #1c2033; background: #fff; }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid #dfe2ec; padding: 0.2rem 0.6rem; text-align: right; }
th:first-child, td.text { text-align: left; }
.wide { overflow-x: auto; }
.large { font-size: 2rem; font-weight: 600; }
@media (prefers-color-scheme: dark) {
  body { color: #e8eaf2; background: #12151f; }
  th, td { border-color: #363b49; }
}
"""


def report_html(result: Result, verdict: Sequence[str] = (), address: str = "") -> str:
    """Settings, accuracy, classes, weights, words and notes; `verdict` adds its sentences."""
    s, graph = result.settings, result.graph
    title = f"SPEAR on {s.dataset}"
    body = [
        f"<h1>{_e(title)}</h1>",
        f'<p class="large">{_e(percent(result.metrics.accuracy))}</p>',
        f"<p>accuracy on {int(graph.test.sum()):,} test nodes of {graph.num_nodes:,}, "
        f"{result.partition.clients:,} clients</p>",
        *_list("The verdict", verdict),
        "<h2>Settings</h2>",
        _table(
            ("setting", "value"),
            [("dataset", s.dataset)]
            + [(named(n), written(n, v)) for n, v in changed(s).items() if n != "dataset"],
        ),
        "<h2>Classes</h2>",
        _table(("class", "training nodes", "test nodes", "right"), _classes(result)),
        "<h2>True class (rows) and predicted class</h2>",
        _confusion(result),
        "<h2>What sets the prototypes apart</h2>",
        _table(("class", "strongest features"), _words(result), text=(1,)),
        "<h2>How far each prototype is pulled to its peers, λ</h2>",
        _weights(result),
        *_list("To know", result.notes),
    ]
    if address.startswith(("http://", "https://")):
        body.append(f"<p>This view, where the app runs: {_e(address)}</p>")
    csp = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{csp}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{_e(title)}</title><style>{STYLE}</style></head><body>"
        + "\n".join(body)
        + "</body></html>\n"
    )


def _classes(result: Result) -> list[Any]:
    graph = result.graph
    train = result.partition.train_counts.sum(0).tolist()
    test = result.metrics.confusion.sum(1).tolist()
    right = result.metrics.class_accuracy
    rows = zip(graph.names, train, test, map(percent, right), strict=False)
    return list(rows)[:MOST_CLASSES]


def _words(result: Result) -> list[Sequence[object]]:
    names = result.graph.names
    some = [t for t in strongest_terms(result, local=False) if t.client == GLOBAL]
    return [(names[t.label], ", ".join(t.words)) for t in some[:MOST_CLASSES]]


def _confusion(result: Result) -> str:
    names = result.graph.names[:MOST_CLASSES]
    counts = result.metrics.confusion[:MOST_CLASSES, :MOST_CLASSES].tolist()
    rows = [(name, *row) for name, row in zip(names, counts, strict=True)]
    return _table(("", *names), rows, shaded=True)


def _weights(result: Result) -> str:
    names = result.graph.names[:MOST_CLASSES]
    clients = result.partition.owners or [f"client {k}" for k in range(result.partition.clients)]
    held = result.uploads.table(result.uploads.counts)
    lam = result.estimate.weights
    rows = [
        (
            clients[k],
            *(f"{lam[k, c]:.2f}" if held[k, c] > 0 else "" for c in range(len(names))),
        )
        for k in range(min(len(clients), MOST_CLIENTS))
    ]
    return _table(("", *names), rows)


def _table(
    head: Iterable[object],
    rows: Iterable[Sequence[object]],
    text: tuple[int, ...] = (),
    shaded: bool = False,
) -> str:
    lines = ["<tr>" + "".join(f"<th>{_e(cell)}</th>" for cell in head) + "</tr>"]
    for row in rows:
        numbers = [cell for cell in row[1:] if isinstance(cell, int)]
        total = max(1, sum(numbers))
        cells = []
        for i, cell in enumerate(row):
            kind = ' class="text"' if i in text or i == 0 else ""
            if shaded and isinstance(cell, int):
                kind = f' style="background: rgba(76, 91, 212, {0.6 * cell / total:.2f})"'
            cells.append(f"<td{kind}>{_e(cell)}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _list(title: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    items = "".join(f"<li>{_e(line)}</li>" for line in lines)
    return [f"<h2>{_e(title)}</h2>", f"<ul>{items}</ul>"]


def _e(text: object) -> str:
    return escape(one_line(text))
