"""What smoothing does to one node: who is around it, what it is compared with and made of."""

import numpy as np
import plotly.graph_objects as go

from spear_core.explain.neighbourhood import ego
from spear_core.explain.node import Builders, View, class_shares
from spear_core.figures.common import layout
from spear_core.figures.palette import BLUE, GREY, PINNED, class_colours
from spear_core.figures.split import bare_axes, ink, lines
from spear_core.figures.traces import Trace, bar_trace, dot_trace
from spear_core.measures.spread import percent
from spear_core.run import Result

ROWS = 12  # classes or clients named in a chart before the rest is put together
EDGE = {"color": "rgba(128,128,128,0.8)", "width": 1.5}
FAINT = {"color": "rgba(128,128,128,0.3)", "width": 1}


def neighbourhood(result: Result, view: View) -> go.Figure:
    """The node in the middle, its neighbours around it, some of theirs outside; classes colour."""
    graph, part = result.graph, ego(result.graph, view.node)
    at, weight = part.rings(), view.rows[-1][part.nodes].tolist()
    label = graph.y[part.nodes].tolist()
    names, colours = result.graph.names, class_colours(graph.classes)
    figure = go.Figure()
    for middle, style in ((False, FAINT), (True, EDGE)):
        xs, ys = lines([e for e in part.edges if (0 in e) == middle], at)
        figure.add_scatter(x=xs, y=ys, mode="lines", line=style, hoverinfo="skip", showlegend=False)
    for c in sorted(set(label)):
        some = [i for i, y in enumerate(label) if y == c]
        sizes, edge = [(34, 17, 10)[part.depth[i]] for i in some], {"color": "white", "width": 1}
        marker = {"color": colours[c], "size": sizes, "opacity": 1, "line": edge}
        said = "node %{customdata[0]}, class %{customdata[1]}, weight %{customdata[2]:.3f}"
        look: Trace = {key: {"marker": {"opacity": 1}} for key in ("selected", "unselected")}
        look |= {"mode": "markers+text", "textfont": {"color": ink(colours[c]), "size": 11}}
        look["text"] = [str(part.nodes[i]) if part.depth[i] == 0 else "" for i in some]
        look["customdata"] = [(part.nodes[i], names[c], weight[i]) for i in some]
        x, y = [at[i][0] for i in some], [at[i][1] for i in some]
        figure.add_trace(dot_trace(x, y, f"class {names[c]}", marker, said, **look))
    bare_axes(figure)
    reach = max([*part.depth, 1]) + 0.25
    figure.update_xaxes(range=[-reach, reach])
    figure.update_yaxes(range=[-reach, reach])
    layout(figure, 430, dragmode=False, clickmode="event+select")
    return figure.update_layout(legend_itemsizing="constant")


def similarities(result: Result, view: View, pinned: View | None = None) -> go.Figure:
    """Cosine to each global prototype before and after smoothing, the most similar on top.

    `pinned` is the same node in another run.
    """
    names = result.graph.names
    after, before = view.after.nan_to_num(-2).tolist(), view.before.nan_to_num(-2).tolist()
    order = sorted((c for c in range(len(after)) if after[c] > -2), key=lambda c: -after[c])[:ROWS]
    if view.true not in order and after[view.true] > -2:
        order[-1] = view.true
    label = [named(names[c], c == view.predicted, c == view.true) for c in order]
    figure = go.Figure()
    xs, ys = [], []
    for c, word in zip(order, label, strict=True):
        xs += [before[c], after[c], None]
        ys += [word, word, None]
    line = {"color": GREY, "width": 2}
    figure.add_scatter(x=xs, y=ys, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    marks = [
        ("before smoothing", before, {"color": GREY, "symbol": "circle-open", "size": 11}),
        ("after", after, {"color": BLUE, "symbol": "circle", "size": 11}),
    ]
    if pinned is not None:
        old = [None if c != c else c for c in pinned.after.tolist()]
        hollow = {"color": PINNED, "symbol": "diamond-open", "size": 11}
        marks.append(("after, pinned", old, hollow))
    for name, values, marker in marks:
        x, said = [values[c] for c in order], "class %{y}: %{x:.3f} " + name
        figure.add_trace(dot_trace(x, label, name, {**marker, "line": {"width": 2}}, said))
    title = "cosine similarity" if view.measure == "similarity" else "score"
    figure.update_xaxes(title=title, exponentformat="none", nticks=6)
    figure.update_yaxes(autorange="reversed", type="category", title="class")
    return layout(figure, 130 + 25 * max(4, min(ROWS, len(names))))


def named(name: str, predicted: bool, true: bool) -> str:
    said = " and ".join(w for w, on in (("predicted", predicted), ("true", true)) if on)
    return f"<b>{name} ({said})</b>" if said else name


def built_by(makers: Builders, pinned: Builders | None = None) -> go.Figure:
    """Each client's share in a global prototype, with the count it sent."""
    shown, rest = makers.share[:ROWS], makers.share[ROWS:]
    label = [f"client {k}" for k in makers.client[:ROWS]]
    words = [f"{percent(s, 1)}, n = {n}" for s, n in zip(shown, makers.count, strict=False)]
    if rest:
        label.append(f"{len(rest)} others")
        words.append(f"{percent(sum(rest), 1)}, n = {sum(makers.count[ROWS:])}")
    x = [100 * share for share in (*shown, *([sum(rest)] if rest else []))]
    look = {"orientation": "h", "textposition": "auto"}
    name = "this run" if pinned is not None else ""
    bars = bar_trace(x, label, name, BLUE, "%{y}: %{text}", text=words, **look)
    figure = go.Figure(bars)
    if pinned is not None:
        then = dict(zip(pinned.client, pinned.share, strict=True))
        x = [100 * then.get(k, 0.0) for k in makers.client[:ROWS]]
        marker = {"color": PINNED, "symbol": "diamond-open", "size": 11, "line": {"width": 2}}
        said = "%{y}, pinned: %{x:.1f} %"
        figure.add_trace(dot_trace(x, label[: len(shown)], "pinned", marker, said))
    figure.update_xaxes(title="share in the prototype", ticksuffix=" %", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", type="category")
    return layout(figure, 340)


def mixture_by_class(result: Result, view: View) -> go.Figure:
    """How much of the smoothed vector comes from each class after every step."""
    shares = 100 * class_shares(result.graph, view).cpu().numpy()  # (T + 1, C + 1)
    names, colours = result.graph.names, class_colours(result.graph.classes)
    figure, steps = go.Figure(), list(range(len(shares)))
    own = f"the node itself (class {names[view.true]})"
    bars = [(own, len(names), colours[view.true], "/")]
    for c in np.argsort(-shares[:, :-1].sum(axis=0), kind="stable").tolist():
        bars.append((f"others of class {names[c]}", c, colours[c], ""))
    for name, column, colour, hatch in bars:
        height = shares[:, column]
        if height.max() == 0:
            continue
        marker = {"color": colour, "pattern": {"shape": hatch, "fgopacity": 0.6}}
        look = {"marker": marker, "showlegend": bool(height.max() > 1)}
        said = f"{name}: %{{y:.1f}} % after step %{{x}}"
        figure.add_trace(bar_trace(steps, height, name, colour, said, **look))
    figure.update_xaxes(title="t, smoothing step", dtick=max(1, len(shares) // 12))
    figure.update_yaxes(title="share of the weight", ticksuffix=" %", range=[0, 100])
    layout(figure, 340, barmode="stack")
    return figure.update_layout(legend_traceorder="normal")
