"""Figures of an attack: who lies, which classes break, what was sent, what it cost."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from spear_core.client import Uploads, upload
from spear_core.embed import Map
from spear_core.figures.common import BLUE, GREEN, GREY, ORANGE, PINNED, class_names, clip, layout
from spear_core.figures.heat import Table, heat
from spear_core.figures.map.places import placed
from spear_core.figures.palette import class_colours
from spear_core.figures.tiles import Tile, tiles
from spear_core.run import Result
from spear_core.studies.damage import Defended, Draw

PICTURES = 24  # uploads of liars shown as pictures at most
EVERY_CELL = 5000  # cells up to which an empty one can be clicked too
COLOURS = {"clean": BLUE, "attacked": ORANGE, "defended": GREEN, "pinned": PINNED}


def liars(result: Result) -> go.Figure:
    """Training nodes of every client and class; the rows of liars are framed.

    Every cell carries its client as `customdata`, so that a click can turn it.
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
    trace, look, hover = heat(class_names(result), table, None, "n", "Viridis", top)
    figure = go.Figure([trace], look)
    every = np.ones_like(counts) if counts.size <= EVERY_CELL else counts
    client, label = np.nonzero(every)
    figure.add_scatter(  # a heat map cannot be clicked in Streamlit, points over its cells can
        x=label,
        y=client,
        mode="markers",
        marker={"symbol": "square", "size": 18, "opacity": 0},
        text=hover[client, label],
        hovertemplate="%{text}<extra></extra>",
        customdata=client[:, None],
        showlegend=False,
    )
    for k in lying:
        box = {"x0": -0.48, "x1": counts.shape[1] - 0.52, "y0": k - 0.46, "y1": k + 0.46}
        figure.add_shape(type="rect", **box, line={"color": ORANGE, "width": 3})
    return figure


def class_bars(runs: Mapping[str, Result]) -> go.Figure:
    """Accuracy of each class in several runs on the same graph: clean, attacked, defended."""
    figure = go.Figure()
    for name, one in runs.items():
        values = [None if v is None else 100 * v for v in one.metrics.class_accuracy]
        figure.add_bar(
            x=[clip(c) for c in class_names(one)],
            y=values,
            name=name,
            marker_color=COLOURS[name],
            hovertemplate=f"%{{x}}, {name}: %{{y:.1f}} %<extra></extra>",
        )
    figure.update_xaxes(title="class", type="category")
    figure.update_yaxes(title="accuracy", ticksuffix=" %", range=[0, 100])
    return layout(figure, 360, barmode="group", bargap=0.25)


def with_liars(figure: go.Figure, plane: Map, result: Result) -> go.Figure:
    """The map with a ring round every prototype that a liar sent."""
    up, names = result.uploads, class_names(result)
    lying = np.isin(up.client.cpu().numpy(), result.attackers)
    xy = placed(plane, result).local[lying]
    rows = np.flatnonzero(lying).tolist()
    said = [
        f"<b>client {int(up.client[i])} lies</b><br>sent as class {names[int(up.label[i])]}, "
        f"n = {float(up.counts[i]):,.10g}"
        for i in rows
    ]
    figure.add_scatter(
        x=xy[:, 0],
        y=xy[:, 1],
        mode="markers",
        name="sent by liars",
        marker={"symbol": "circle-open", "size": 26, "color": ORANGE, "line": {"width": 3}},
        hovertext=said,
        hovertemplate="%{hovertext}<extra></extra>",
    )
    return figure


def sent_pictures(result: Result) -> go.Figure:
    """What liars sent as pictures: what they hold above, what they sent below.

    A flipped label shows in the title alone; a forged prototype in the picture.
    """
    lying = np.isin(result.sent.client.cpu().numpy(), result.attackers)
    rows = np.flatnonzero(lying)[:PICTURES].tolist()
    held = upload(result.held, result.settings)  # before anything was forged or made private
    own = dict(zip(_pairs(held), held.prototypes, strict=True))
    up, names = result.sent, class_names(result)
    pairs = _pairs(up)
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
            for c, vector in zip(class_names(first), one.estimate.prototypes, strict=True)
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
        figure.add_scatter(
            x=[one.share for one in some],
            y=[one.accuracy for one in some],
            mode="markers",
            name=f"{m} liar{'s' * (m > 1)}",
            marker={"color": colours[m], "size": 9, "opacity": 0.75},
            text=[", ".join(map(str, one.liars)) for one in some],
            hovertemplate="client %{text}: %{x:.0f} % of the training nodes, "
            "accuracy %{y:.1f} %<extra></extra>",
        )
    if here:
        figure.add_scatter(
            x=[here.share],
            y=[here.accuracy],
            mode="markers",
            name="these liars",
            marker={"color": ORANGE, "size": 15, "symbol": "star", "line": {"width": 1}},
            hovertemplate="these liars: %{x:.0f} %, accuracy %{y:.1f} %<extra></extra>",
        )
    figure.add_hline(y=clean, line={"color": BLUE, "dash": "dot"}, annotation_text="nobody lies")
    if pinned is not None:
        figure.add_hline(y=pinned, line={"color": PINNED, "dash": "dot"}, annotation_text="pinned")
    figure.update_xaxes(title="training nodes held by liars", ticksuffix=" %", zeroline=False)
    figure.update_yaxes(title="accuracy", ticksuffix=" %", zeroline=False)
    return layout(figure, 400)


def defence_dots(rows: Sequence[Defended]) -> go.Figure:
    """Every defence on a line of accuracy with its spread: under attack, and when nobody lies."""
    order = list(reversed(rows))
    at = list(range(len(order)))
    found = {row.defence: row for row in rows}
    figure = go.Figure()
    for name, word in (("none", "undefended"), ("oracle", "oracle")):
        figure.add_vline(
            x=found[name].accuracy,
            line={"color": GREY, "dash": "dot"},
            annotation_text=word,
            annotation_position="top",
        )
    for name, values, error, symbol, colour in (
        ("nobody lies", [r.clean for r in order], None, "circle-open", BLUE),
        ("under attack", [r.accuracy for r in order], [r.std for r in order], "circle", ORANGE),
    ):
        figure.add_scatter(
            x=values,
            y=at,
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 2}},
            error_x={"type": "data", "array": error, "thickness": 1.5} if error else None,
            text=[r.defence for r in order],
            hovertemplate="%{text}, " + name + ": %{x:.1f} %<extra></extra>",
        )
    figure.update_yaxes(
        tickvals=at,
        ticktext=[r.defence for r in order],
        range=[-0.6, len(order) - 0.4],
        showgrid=False,
        zeroline=False,
    )
    figure.update_xaxes(title="accuracy", ticksuffix=" %", zeroline=False)
    layout(figure, 150 + 26 * len(order))
    return figure.update_layout(margin_t=72, legend={"y": 1, "yref": "container", "yanchor": "top"})


def _pairs(uploads: Uploads) -> list[tuple[int, int]]:
    return list(zip(uploads.client.tolist(), uploads.label.tolist(), strict=True))
