"""What smoothing does to one node, step by step, and to the accuracy over α and T."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import torch

from spear_core.figures.common import BLUE, GREY, ORANGE, class_names, layout
from spear_core.figures.split import bare_axes, ink, lines
from spear_core.inspect_node import (
    Builders,
    Place,
    View,
    alike,
    class_shares,
    ego,
    sample_places,
)
from spear_core.palette import class_colours
from spear_core.run import Result

ALPHA, STEPS = "α, weight of the neighbours", "T, smoothing steps"  # titles of the axes
PANELS = 6  # steps drawn side by side at most: the first ones and the last
ROWS = 12  # classes or clients named in a chart before the rest is put together
EDGE = {"color": "rgba(128,128,128,0.8)", "width": 1.5}
FAINT = {"color": "rgba(128,128,128,0.3)", "width": 1}
FADED = "rgba(128,128,128,0.6)"
HERE = {"color": ORANGE, "width": 2, "dash": "dot"}


def neighbourhood(result: Result, view: View) -> go.Figure:
    """The node in the middle, its neighbours around it, some of theirs outside; classes colour."""
    graph, part = result.graph, ego(result.graph, view.node)
    at, weight = part.rings(), view.rows[-1][part.nodes].tolist()
    label = graph.y[part.nodes].tolist()
    names, colours = class_names(result), class_colours(graph.classes)
    figure = go.Figure()
    for middle, style in ((False, FAINT), (True, EDGE)):
        xs, ys = lines([e for e in part.edges if (0 in e) == middle], at)
        figure.add_scatter(x=xs, y=ys, mode="lines", line=style, hoverinfo="skip", showlegend=False)
    for c in sorted(set(label)):
        some = [i for i, y in enumerate(label) if y == c]
        figure.add_scatter(
            x=[at[i][0] for i in some],
            y=[at[i][1] for i in some],
            mode="markers+text",
            name=f"class {names[c]}",
            text=[str(part.nodes[i]) if part.depth[i] == 0 else "" for i in some],
            textfont={"color": ink(colours[c]), "size": 11},
            marker={
                "color": colours[c],
                "size": [(34, 17, 10)[part.depth[i]] for i in some],
                "opacity": 1,
                "line": {"color": "white", "width": 1},
            },
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            customdata=[(part.nodes[i], names[c], weight[i]) for i in some],
            hovertemplate="node %{customdata[0]}, class %{customdata[1]}, "
            "weight %{customdata[2]:.3f}<extra></extra>",
        )
    bare_axes(figure)
    reach = max([*part.depth, 1]) + 0.25
    figure.update_xaxes(range=[-reach, reach])
    figure.update_yaxes(range=[-reach, reach])
    layout(figure, 430, dragmode=False, clickmode="event+select")
    return figure.update_layout(legend_itemsizing="constant")


def similarities(result: Result, view: View) -> go.Figure:
    """Cosine to each global prototype before and after smoothing, the most similar on top."""
    names = class_names(result)
    after, before = view.after.nan_to_num(-2).tolist(), view.before.nan_to_num(-2).tolist()
    order = sorted((c for c in range(len(after)) if after[c] > -2), key=lambda c: -after[c])[:ROWS]
    if view.true not in order and after[view.true] > -2:
        order[-1] = view.true
    label = [_named(names[c], c == view.predicted, c == view.true) for c in order]
    figure = go.Figure()
    xs, ys = [], []
    for c, word in zip(order, label, strict=True):
        xs += [before[c], after[c], None]
        ys += [word, word, None]
    figure.add_scatter(
        x=xs, y=ys, mode="lines", line={"color": GREY, "width": 2}, hoverinfo="skip",
        showlegend=False,
    )  # fmt: skip
    for name, values, marker in (
        ("before smoothing", before, {"color": GREY, "symbol": "circle-open", "size": 11}),
        ("after", after, {"color": BLUE, "symbol": "circle", "size": 11}),
    ):
        figure.add_scatter(
            x=[values[c] for c in order],
            y=label,
            mode="markers",
            name=name,
            marker={**marker, "line": {"width": 2}},
            hovertemplate="class %{y}: %{x:.3f} " + name + "<extra></extra>",
        )
    figure.update_xaxes(title="cosine similarity", exponentformat="none", nticks=6)
    figure.update_yaxes(autorange="reversed", type="category", title="class")
    return layout(figure, 130 + 25 * max(4, len(order)))


def _named(name: str, predicted: bool, true: bool) -> str:
    said = " and ".join(w for w, on in (("predicted", predicted), ("true", true)) if on)
    return f"<b>{name} ({said})</b>" if said else name


def built_by(makers: Builders) -> go.Figure:
    """Each client's share in a global prototype, with the count it sent."""
    shown, rest = makers.share[:ROWS], makers.share[ROWS:]
    label = [f"client {k}" for k in makers.client[:ROWS]]
    words = [f"{100 * s:.1f} %, n = {n}" for s, n in zip(shown, makers.count, strict=False)]
    if rest:
        label.append(f"{len(rest)} others")
        words.append(f"{100 * sum(rest):.1f} %, n = {sum(makers.count[ROWS:])}")
    figure = go.Figure(
        go.Bar(
            x=[*shown, *([sum(rest)] if rest else [])],
            y=label,
            orientation="h",
            marker={"color": BLUE},
            text=words,
            textposition="auto",
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )
    figure.update_xaxes(title="share in the prototype", tickformat=".0%", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", type="category")
    return layout(figure, 100 + 26 * max(2, len(label)))


def mixture_by_class(result: Result, view: View) -> go.Figure:
    """How much of the smoothed vector comes from each class after every step."""
    shares = class_shares(result.graph, view).cpu().numpy()  # (T + 1, C + 1)
    names, colours = class_names(result), class_colours(result.graph.classes)
    figure = go.Figure()
    own = f"the node itself (class {names[view.true]})"
    bars = [(own, len(names), colours[view.true], "/")]
    for c in np.argsort(-shares[:, :-1].sum(axis=0), kind="stable").tolist():
        bars.append((f"others of class {names[c]}", c, colours[c], ""))
    for name, column, colour, hatch in bars:
        height = shares[:, column]
        if height.max() == 0:
            continue
        figure.add_bar(
            x=list(range(len(shares))),
            y=height,
            name=name,
            marker={"color": colour, "pattern": {"shape": hatch, "fgopacity": 0.6}},
            hovertemplate=f"{name}: %{{y:.1%}} after step %{{x}}<extra></extra>",
            showlegend=bool(height.max() > 0.01),
        )
    figure.update_xaxes(title="t, smoothing step", dtick=max(1, len(shares) // 12))
    figure.update_yaxes(title="share of the weight", tickformat=".0%", range=[0, 1])
    layout(figure, 340, barmode="stack")
    return figure.update_layout(legend_traceorder="normal")


def panels(steps: int, most: int = PANELS) -> list[int]:
    """Which steps to draw: all of them, or the first ones and the last.

    >>> panels(2), panels(9, most=4)
    ([0, 1, 2], [0, 1, 2, 9])
    """
    return list(range(steps + 1)) if steps < most else [*range(most - 1), steps]


def spread(result: Result, view: View) -> go.Figure:
    """The whole of a small graph after each step: a node's area is its weight in the vector."""
    part, at = sample_places(result.graph)
    steps = panels(len(view.rows) - 1)
    colours = class_colours(result.graph.classes)
    label = result.graph.y[part.nodes].tolist()
    columns = min(3, len(steps))
    rows = -(-len(steps) // columns)
    figure = go.Figure()
    places: list[Place] = []
    edges, colour, size, hover = [], [], [], []
    for panel, t in enumerate(steps):  # one drawing beside the other on the same axes
        right, down = 2.3 * (panel % columns), 2.6 * (panel // columns)
        first = len(places)
        places += [(x + right, y - down) for x, y in at]
        edges += [(first + i, first + j) for i, j in part.edges]
        weight = view.rows[t][part.nodes].tolist()
        colour += [colours[c] if w > 0 else FADED for c, w in zip(label, weight, strict=True)]
        size += [3 + 30 * math.sqrt(w) for w in weight]
        hover += list(zip(part.nodes, weight, strict=True))
        figure.add_annotation(x=right, y=1.15 - down, text=f"t = {t}", showarrow=False)
    xs, ys = lines(edges, places)
    figure.add_scatter(x=xs, y=ys, mode="lines", line=FAINT, hoverinfo="skip")
    figure.add_scatter(
        x=[x for x, _ in places],
        y=[y for _, y in places],
        mode="markers",
        marker={"color": colour, "size": size, "line": {"width": 0}, "opacity": 1},
        customdata=hover,
        hovertemplate="node %{customdata[0]}: weight %{customdata[1]:.3f}<extra></extra>",
    )
    bare_axes(figure)
    return layout(figure, 40 + 230 * rows, showlegend=False)


def pictures(result: Result, view: View) -> go.Figure:
    """Digits: the picture after each step, the two prototypes, and who weighs most in it."""
    graph, steps = result.graph, panels(len(view.rows) - 1, PANELS - 2)
    names, g = class_names(result), result.estimate.prototypes
    smoothed = graph.collect(view.rows[steps].t().contiguous())
    tiles = [(f"t = {t}", image) for t, image in zip(steps, smoothed, strict=True)]
    tiles.append((f"prototype<br>{names[view.predicted]}", g[view.predicted]))
    if not view.right:
        tiles.append((f"prototype<br>{names[view.true]}", g[view.true]))
    tiles += [("", None)] * (-len(tiles) % PANELS)
    weight = view.rows[-1].clone()
    weight[view.node] = 0
    for node in weight.topk(min(PANELS, len(weight))).indices.tolist():
        if weight[node] > 0:
            words = f"a {names[int(graph.y[node])]}<br>{100 * float(weight[node]):.1f} %"
            tiles.append((words, graph.features[node]))
    return _tiles(tiles, PANELS)


def _tiles(tiles: list[tuple[str, torch.Tensor | None]], columns: int, side: int = 8) -> go.Figure:
    """Small grey pictures with a line of words above each, as one heat map."""
    rows = -(-len(tiles) // columns)
    high, wide = side + 5, side + 1  # room for the words, and between pictures
    sheet = np.full((rows * high, columns * wide - 1), np.nan)
    figure = go.Figure()
    for place, (words, image) in enumerate(tiles):
        if image is None:
            continue
        top, left = place // columns * high + 4, place % columns * wide
        pixels = image.reshape(side, side).cpu().numpy()
        sheet[top : top + side, left : left + side] = pixels / max(1e-30, float(pixels.max()))
        figure.add_annotation(
            x=left + side / 2 - 0.5,
            y=top - 0.6,
            yanchor="bottom",
            text=words,
            showarrow=False,
            font={"size": 11},
        )
    figure.add_heatmap(
        z=sheet, colorscale="Greys", showscale=False, hoverinfo="skip", zmin=0, zmax=1
    )
    bare_axes(figure)
    figure.update_yaxes(autorange="reversed", scaleanchor="x", constrain="domain")
    figure.update_xaxes(constrain="domain")
    return layout(figure, 10 + 150 * rows).update_layout(margin_t=4)


def curve(
    x: Sequence[float],
    seeds: Sequence[Sequence[float]],
    here: tuple[float, float | None],
    axis: str,
    height: str = "accuracy",
    pinned: Sequence[float] | None = None,
    level: tuple[str, float | None] | None = None,
) -> go.Figure:
    """One line over a knob (the first of `seeds`), the range of the others, and "you are here"."""
    figure = go.Figure()
    if len(seeds) > 1:
        low, high = np.min(seeds, axis=0), np.max(seeds, axis=0)
        figure.add_scatter(
            x=[*x, *reversed(x)],
            y=[*high, *low[::-1]],
            fill="toself",
            fillcolor="rgba(0,114,178,0.18)",
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            name="range over the paper's five seeds",
        )
    if pinned is not None:
        figure.add_scatter(
            x=x, y=pinned, mode="lines", name="pinned", line={"color": GREY, "dash": "dash"}
        )
    figure.add_scatter(
        x=x,
        y=seeds[0],
        mode="lines+markers",
        name=height,
        line={"color": BLUE, "width": 2},
        marker={"size": 5},
        hovertemplate=axis.split(",")[0] + " = %{x:g}: %{y:.3f}<extra></extra>",
    )
    if level and level[1] is not None:
        figure.add_hline(y=level[1], line={"color": GREY, "dash": "dash"}, annotation_text=level[0])
    if here[1] is not None:
        figure.add_vline(x=here[0], line=HERE)
        figure.add_scatter(
            x=[here[0]],
            y=[here[1]],
            mode="markers",
            name=f"you are here: {here[1]:.3f}",
            marker={"color": ORANGE, "size": 13, "symbol": "diamond"},
            hovertemplate="you are here: %{y:.3f}<extra></extra>",
        )
    figure.update_xaxes(title=axis)
    figure.update_yaxes(title=height)
    return layout(figure, 360)


def by_homophily(result: Result, plain: Result) -> go.Figure:
    """Accuracy of test nodes by the share of their neighbours that are alike, with and without."""
    nodes, y = result.prediction.nodes, result.graph.y
    share = alike(result.graph)[nodes]
    bins = ("none", "under half", "half or more", "all")
    group = torch.where(share == 0, 0, torch.where(share < 0.5, 1, torch.where(share < 1, 2, 3)))
    group = group.masked_fill(share.isnan(), -1)
    number = [int((group == b).sum()) for b in range(len(bins))]
    figure = go.Figure()
    for name, one, colour in (("α = 0", plain, GREY), ("smoothed", result, BLUE)):
        right = one.prediction.labels == y[nodes]
        hits = [int((right & (group == b)).sum()) for b in range(len(bins))]
        figure.add_bar(
            x=[f"{word}<br>{n:,} nodes" for word, n in zip(bins, number, strict=True)],
            y=[h / n if n else None for h, n in zip(hits, number, strict=True)],
            name=name,
            marker={"color": colour},
            hovertemplate="%{x}: %{y:.1%}<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title="neighbours of the node's own class")
    figure.update_yaxes(title="accuracy", tickformat=".0%", range=[0, 1])
    return layout(figure, 360, barmode="group")
