"""Figures of an attack: who lies, which classes break, what was sent, what it cost."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from spear_core.client import upload
from spear_core.defences import DEFENCES
from spear_core.embed import Map
from spear_core.figures.common import clip, layout
from spear_core.figures.heat import FEW, Table, heat, leaning
from spear_core.figures.map.places import placed
from spear_core.figures.palette import BLUE, GREEN, GREY, ORANGE, PINNED, class_colours
from spear_core.figures.tiles import Tile, tiles
from spear_core.figures.traces import bar_trace, click_trace, dot_trace
from spear_core.run import Result
from spear_core.studies.damage import ORACLE, UNDEFENDED, Defended, Draw

PICTURES = 24  # uploads of liars shown as pictures at most
EVERY_CELL = 5000  # cells up to which an empty one can be clicked too
DOTTED = {"color": GREY, "dash": "dot"}
SKY = "#56B4E9"  # nodes that are not trained on, as on Split
COLOURS = {"clean": BLUE, "attacked": ORANGE, "defended": GREEN, "pinned": PINNED}


def liars(result: Result) -> go.Figure:
    """Training nodes of every client and class; the rows of liars are framed.

    Beside it the two sizes of a client: all its nodes and those it trains on. Every cell and bar
    carries its client as `customdata`, so that a click can turn it.
    """
    counts = result.partition.train_counts.cpu().numpy()
    lying = set(result.attackers)
    said = [
        [f"{n} training nodes" + "<br>this client lies" * (k in lying) for n in row]
        for k, row in enumerate(counts.tolist())
    ]
    table = Table(
        np.where(counts > 0, counts, np.nan), np.array(said, dtype=object), range(len(counts))
    )
    top = float(max(1, counts.max(initial=1)))
    trace, look, hover = heat(result.graph.names, table, None, "n", "Viridis", top)
    look["xaxis"] |= leaning(result.graph.names)
    figure = go.Figure([trace], look)
    every = np.ones_like(counts) if counts.size <= EVERY_CELL else counts
    client, label = np.nonzero(every)
    figure.add_trace(click_trace(label, client, hover[client, label], client[:, None]))
    _sizes_beside(figure, result)
    for k in lying:
        box = {"xref": "paper", "x0": 0, "x1": 1, "y0": k - 0.46, "y1": k + 0.46}
        figure.add_shape(type="rect", **box, line={"color": ORANGE, "width": 3})
    return figure


def _sizes_beside(figure: go.Figure, result: Result) -> None:
    """To the right of a heat map of clients, a bar for each: its nodes, the trained ones darker."""
    nodes = result.partition.sizes.tolist()
    trained = result.partition.train_counts.sum(1).tolist()
    few, rows = len(nodes) <= FEW, list(range(len(nodes)))
    clients = [[k] for k in rows]  # what a click finds
    said = [
        f"client {k}: {n:,} nodes, {t:,} of them training nodes"
        for k, (n, t) in enumerate(zip(nodes, trained, strict=True))
    ]
    for values, colour in ((nodes, SKY), (trained, BLUE)):
        look = {"orientation": "h", "xaxis": "x2", "showlegend": False, "width": 0.8}
        look |= {"customdata": clients, "hovertext": said, "hoverinfo": "text"}
        figure.add_trace(bar_trace(values, rows, "", colour) | look)
    if few:  # the words are the last trace, so that no bar lies over them
        words = [f" {t:,} of {n:,}" for n, t in zip(nodes, trained, strict=True)]
        look = {"mode": "text", "textposition": "middle right", "xaxis": "x2", "hoverinfo": "skip"}
        figure.add_scatter(x=nodes, y=rows, text=words, showlegend=False, cliponaxis=False, **look)
        figure.data[0].showscale = False  # every cell has its number
    top = max([1, *nodes]) * (1.9 if few else 1.05)
    figure.update_layout(
        barmode="overlay",
        xaxis_domain=[0, 0.7],
        margin_t=30,
        xaxis2={
            "domain": [0.73, 1],
            "range": [0, top],
            "title": {"text": "trained of all", "font": {"size": 11}},
            "side": "top",  # below it would meet the names of the classes
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
        },
    )


def class_bars(runs: Mapping[str, Result]) -> go.Figure:
    """Accuracy of each class in several runs on the same graph: clean, attacked, defended."""
    figure = go.Figure()
    for name, one in runs.items():
        values = [None if v is None else 100 * v for v in one.metrics.class_accuracy]
        x, said = [clip(c) for c in one.graph.names], f"%{{x}}, {name}: %{{y:.1f}} %"
        figure.add_trace(bar_trace(x, values, name, COLOURS[name], said))
    figure.update_xaxes(title="class", type="category")
    figure.update_yaxes(title="accuracy", ticksuffix=" %", range=[0, 100])
    return layout(figure, 360, barmode="group", bargap=0.25)


def with_liars(figure: go.Figure, plane: Map, result: Result) -> go.Figure:
    """The map with a ring round every prototype that a liar sent."""
    up, names = result.uploads, result.graph.names
    lying = np.isin(up.client.cpu().numpy(), result.attackers)
    xy = placed(plane, result).local[lying]
    rows = np.flatnonzero(lying).tolist()
    said = [
        f"<b>client {int(up.client[i])} lies</b><br>sent as class {names[int(up.label[i])]}, "
        f"n = {float(up.counts[i]):,.10g}"
        for i in rows
    ]
    ring = {"symbol": "circle-open", "size": 26, "color": ORANGE, "line": {"width": 3}}
    return figure.add_trace(dot_trace(xy[:, 0], xy[:, 1], "sent by liars", ring, said))


def sent_pictures(result: Result) -> go.Figure:
    """What liars sent as pictures: what they hold above, what they sent below.

    A flipped label shows in the title alone; a forged prototype in the picture.
    """
    lying = np.isin(result.sent.client.cpu().numpy(), result.attackers)
    rows = np.flatnonzero(lying)[:PICTURES].tolist()
    held = upload(result.held, result.settings)  # before anything was forged or made private
    own = dict(zip(held.pairs, held.prototypes, strict=True))
    up, names = result.sent, result.graph.names
    pairs = up.pairs
    above: list[Tile] = [(f"client {pairs[i][0]}<br>holds", own.get(pairs[i])) for i in rows]
    below: list[Tile] = [
        (f"sends as {names[int(up.label[i])]}<br>n = {int(up.counts[i]):,}", up.prototypes[i])
        for i in rows
    ]
    return tiles(result, [above, below], signed=True, high=130)


def global_pictures(runs: Mapping[str, Result]) -> go.Figure:
    """The global prototypes as pictures, a row for each run."""
    first = next(iter(runs.values()))
    rows: list[list[Tile]] = [
        [
            (f"{clip(c)}, {name}", vector)
            for c, vector in zip(first.graph.names, one.estimate.prototypes, strict=True)
        ]
        for name, one in runs.items()
    ]
    return tiles(first, rows, signed=True, high=130)


def damage_dots(
    draws: Sequence[Draw], clean: float, here: Draw | None = None, pinned: float | None = None
) -> go.Figure:
    """Accuracy over the share of training nodes the liars hold; a dot for each draw."""
    counts = sorted({len(one.liars) for one in draws})
    colours = dict(zip(counts, class_colours(len(counts)), strict=True))
    figure = go.Figure()
    for m in counts:
        some = [one for one in draws if len(one.liars) == m]
        x, y = [one.share for one in some], [one.accuracy for one in some]
        marker = {"color": colours[m], "size": 9, "opacity": 0.75}
        said = "client %{text}: %{x:.0f} % of the training nodes, accuracy %{y:.1f} %"
        who = [", ".join(map(str, one.liars)) for one in some]
        figure.add_trace(dot_trace(x, y, f"{m} liar{'s' * (m > 1)}", marker, said, text=who))
    if here:
        marker = {"color": ORANGE, "size": 15, "symbol": "star", "line": {"width": 1}}
        said = "these liars: %{x:.0f} %, accuracy %{y:.1f} %"
        figure.add_trace(dot_trace([here.share], [here.accuracy], "these liars", marker, said))
    figure.add_hline(y=clean, line={"color": BLUE, "dash": "dot"}, annotation_text="nobody lies")
    if pinned is not None:
        figure.add_hline(y=pinned, line={"color": PINNED, "dash": "dot"}, annotation_text="pinned")
    figure.update_xaxes(title="training nodes held by liars", ticksuffix=" %", zeroline=False)
    figure.update_yaxes(title="accuracy", ticksuffix=" %", zeroline=False)
    return layout(figure, 400)


def defence_dots(rows: Sequence[Defended]) -> go.Figure:
    """Every defence on a line of accuracy with its spread: under attack, and when nobody lies."""
    order = list(reversed(rows))
    at, names = list(range(len(order))), [DEFENCES[row.defence].words for row in order]
    found = {row.defence: row.accuracy for row in rows}
    figure = go.Figure()
    low, high = sorted((UNDEFENDED, ORACLE), key=found.__getitem__)
    for name, side in ((low, "left"), (high, "right")):  # so that the two words never meet
        word = "undefended" if name == UNDEFENDED else "oracle"
        figure.add_vline(
            found[name], line=DOTTED, annotation_text=word, annotation_position=f"top {side}"
        )
    for name, values, error, symbol, colour in (
        ("nobody lies", [r.clean for r in order], None, "circle-open", BLUE),
        ("under attack", [r.accuracy for r in order], [r.std for r in order], "circle", ORANGE),
    ):
        marker = {"symbol": symbol, "size": 11, "color": colour, "line": {"width": 2}}
        bars = {"type": "data", "array": error, "thickness": 1.5} if error else None
        said = f"%{{text}}, {name}: %{{x:.1f}} %"
        figure.add_trace(dot_trace(values, at, name, marker, said, text=names, error_x=bars))
    ends = [-0.6, len(order) - 0.4]
    figure.update_yaxes(tickvals=at, ticktext=names, range=ends, showgrid=False, zeroline=False)
    figure.update_xaxes(title="accuracy", ticksuffix=" %", zeroline=False)
    layout(figure, 150 + 26 * len(order))
    return figure.update_layout(margin_t=72, legend={"y": 1, "yref": "container", "yanchor": "top"})
