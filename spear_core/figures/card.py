"""Why a node is named as it is, as bars in plain HTML, for a page as for a notebook."""

from html import escape

from spear_core.explain import node as look
from spear_core.explain.node import View
from spear_core.figures.palette import class_colours
from spear_core.measures.spread import percent
from spear_core.run import Result

ROWS = 4  # classes and clients named
BARS = """
.bars { display: grid; grid-template-columns: minmax(3rem, max-content) 1fr 3.2rem;
  gap: 0.2rem 0.5rem; align-items: center; font-size: 0.82rem; }
.bars .track { position: relative; height: 0.7rem; background: rgba(128, 128, 128, 0.15); }
.bars .bar { position: absolute; inset: 0 auto 0 0; }
.bars .was { position: absolute; top: -2px; bottom: -2px; width: 2px; background: currentColor; }
.bars .number { text-align: right; font-variant-numeric: tabular-nums; }
.bars .name { max-width: 9rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
"""


def similarity_bars(result: Result, view: View) -> str:
    """The classes most similar to the node, and its own, as bars with a tick where each was."""
    names, colours = result.graph.names, class_colours(result.graph.classes)
    after, before = view.after.nan_to_num(-2).tolist(), view.before.nan_to_num(0).tolist()
    order = sorted((c for c in range(len(after)) if after[c] > -2), key=lambda c: -after[c])[:ROWS]
    if view.true not in order and after[view.true] > -2:
        order[-1] = view.true
    return _bars([(names[c], after[c], before[c], colours[c], f"{after[c]:.2f}") for c in order])


def builder_bars(result: Result, view: View) -> str:
    """The clients with the largest shares in the prototype that won."""
    made = look.builders(result, view.predicted)
    colour = class_colours(result.graph.classes)[view.predicted]
    rows = list(zip(made.client, made.share, strict=True))[:ROWS]
    return _bars([(f"client {k}", share, None, colour, percent(share, 0)) for k, share in rows])


def _bars(rows: list[tuple[str, float, float | None, str, str]]) -> str:
    """Rows of name, bar and number; lengths are parts of one."""
    out = []
    for name, value, was, colour, number in rows:
        tick = "" if was is None else f'<span class="was" style="left:{_part(was)}"></span>'
        bar = f'<span class="bar" style="width:{_part(value)};background:{colour}"></span>'
        out.append(
            f'<span class="name">{escape(name)}</span><span class="track">{bar}{tick}</span>'
            f'<span class="number">{number}</span>'
        )
    return f'<div class="bars">{"".join(out)}</div>'


def _part(value: float) -> str:
    return f"{100 * min(1.0, max(0.0, value)):.1f}%"
