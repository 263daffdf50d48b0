"""What a split looks like: who holds what, how large clients are, what is cut, a small graph."""

from collections import Counter

import numpy as np
import plotly.graph_objects as go

from spear_core.explain.neighbourhood import sample_places
from spear_core.figures.common import layout, log_ticks
from spear_core.figures.heat import Table, heat
from spear_core.figures.palette import BLUE, GREY, PINNED, class_colours
from spear_core.figures.traces import Trace, bar_trace, dot_trace, hover, line_trace
from spear_core.run import Result

MANY = 40  # clients beyond which rows are sorted and no longer named one by one
NAMED = 7  # clients with a colour of their own in the small graph; the eighth colour is grey
LIGHT, DARK = "#FFFFFF", "#111111"


def holdings(result: Result, training: bool = False, pinned: Result | None = None) -> go.Figure:
    """Nodes of every client and class, all or the training ones; many clients are sorted.

    `pinned` is a run on the same graph.
    """
    now = _held(result, training)
    then = _held(pinned, training) if pinned else None
    most = max(float(np.nanmax(t.values, initial=1)) for t in (now, then) if t)
    trace, look, _ = heat(result.graph.names, now, then, title="nodes", scale="Viridis", top=most)
    if len(now.values) > MANY:
        title = {"text": f"{len(now.values)} clients, by main class"}
        look["yaxis"] |= {"title": title, "showticklabels": False}
    return go.Figure([trace], look)


def _held(result: Result, training: bool) -> Table:
    partition, what = result.partition, "training nodes" if training else "nodes"
    every = partition.counts.cpu().numpy()
    table = partition.train_counts.cpu().numpy() if training else every
    order = np.arange(len(table))
    if len(table) > MANY:  # by the class they hold most of, then by how much of it
        order = np.lexsort((-every.max(axis=1), every.argmax(axis=1)))
    table = table[order]
    words = [[f"{n} {what}" for n in row] for row in table.tolist()]
    return Table(np.where(table > 0, table, np.nan), np.array(words, dtype=object), order.tolist())


def sizes(result: Result, pinned: Result | None = None) -> go.Figure:
    """Nodes of every client, training nodes at the foot; sorted when many or compared."""
    every = result.partition.sizes.cpu().numpy()
    train = result.partition.train_counts.sum(1).cpu().numpy()
    is_sorted = len(every) > MANY or pinned is not None
    order = np.argsort(-every, kind="stable") if is_sorted else np.arange(len(every))
    place = np.arange(len(every))
    figure = go.Figure()
    for name, values, colour in (
        ("training nodes", train, BLUE),
        ("other nodes", every - train, "#56B4E9"),
    ):
        marker = {"color": colour, "line": {"width": 0}}
        said = "client %{customdata}: %{y} " + name
        look = {"marker": marker, "customdata": order}
        figure.add_trace(bar_trace(place, values[order], name, colour, said, **look))
    if pinned is not None:
        other = np.sort(pinned.partition.sizes.cpu().numpy())[::-1]
        mode = "lines+markers" if len(other) <= MANY else "lines"
        line = {"color": PINNED, "width": 2, "shape": "hvh"}
        words = {"name": "pinned: all nodes", **hover("pinned, %{x}: %{y} nodes")}
        figure.add_scatter(x=np.arange(len(other)), y=other, mode=mode, line=line, **words)
    mean = result.graph.num_nodes / len(every)
    figure.add_hline(y=mean, line={"color": GREY, "dash": "dot"})
    figure.update_xaxes(
        title="clients, the largest first" if is_sorted else "client",
        showticklabels=not is_sorted,
        showgrid=False,
        dtick=max(1, len(every) // 20),
    )
    figure.update_yaxes(title=f"nodes (dotted: mean {mean:,.0f})", rangemode="tozero")
    gap = 0.15 if len(every) <= MANY else 0
    return layout(figure, 320, barmode="stack", bargap=gap)


def homophily(result: Result, pinned: Result | None = None) -> go.Figure:
    """A dot for each client: its size and its own homophily; a line for the whole graph's."""
    figure, values, spread = go.Figure(), [0.8], []
    for name, one, colour, symbol in (
        ("pinned", pinned, PINNED, "diamond-open"),
        ("", result, BLUE, "circle"),
    ):
        if one is None:
            continue
        local = one.metrics.client_homophily
        held = [k for k, value in enumerate(local) if value is not None]
        nodes = one.partition.sizes.tolist()
        spread += [nodes[k] for k in held]
        values += [local[k] or 0.0 for k in held]
        size = 10 if len(held) <= MANY else 6
        marker = {"color": colour, "symbol": symbol, "size": size, "opacity": 0.85}
        said = "client %{customdata}: %{x} nodes, homophily %{y:.2f}"
        x, y, title = [nodes[k] for k in held], [local[k] for k in held], f"clients {name}".strip()
        figure.add_trace(dot_trace(x, y, title, marker, said, customdata=held))
        whole = one.metrics.homophily
        if whole is not None:
            values.append(whole)
            ends = [0.8 * min(spread, default=1), 1.25 * max(spread, default=1)]
            line = {"color": colour, "dash": "dash"}
            title = f"graph {name}".strip() + f": {whole:.2f}"
            figure.add_trace(line_trace(ends, [whole, whole], title, colour, line=line))
    wide = max(spread, default=1) > 5 * min(spread, default=1)
    axis = log_ticks(np.array(spread)) if wide else {}
    figure.update_xaxes(title="nodes of the client", **axis)
    figure.update_yaxes(title="homophily inside the client", range=[min(values) - 0.05, 1.04])
    return layout(figure, 320)


def small_graph(result: Result, pinned: Result | None = None) -> go.Figure:
    """A part of the graph: colours are clients, numbers are classes, cut edges are dashed.

    With a pinned run on the same graph, edges that only one of the two splits cuts are coloured.
    """
    graph = result.graph
    part, at = sample_places(graph)
    mine = result.partition.owner[part.nodes].tolist()
    theirs = pinned.partition.owner[part.nodes].tolist() if pinned else mine
    label, names = graph.y[part.nodes].tolist(), result.graph.names
    colour = client_colours(mine)
    figure = go.Figure()
    for name, now, then, style in (
        ("edge inside a client", False, False, {"color": "rgba(128,128,128,0.75)", "width": 1.5}),
        ("cut edge", True, True, {"color": "rgba(128,128,128,0.55)", "width": 1, "dash": "dot"}),
        ("cut now, not when pinned", True, False, {"color": BLUE, "width": 1.5, "dash": "dot"}),
        ("cut when pinned, not now", False, True, {"color": PINNED, "width": 2}),
    ):
        edges = [
            (i, j)
            for i, j in part.edges
            if (mine[i] != mine[j]) == now and (theirs[i] != theirs[j]) == then
        ]
        if edges:
            xs, ys = lines(edges, at)
            figure.add_scatter(x=xs, y=ys, mode="lines", name=name, line=style, hoverinfo="skip")
    groups = [*colour, None] if len(set(mine)) > len(colour) else [*colour]
    for client in groups:
        some = [
            i for i, k in enumerate(mine) if k == client or (client is None and k not in colour)
        ]
        fill = GREY if client is None else colour[client]
        name = "other clients" if client is None else f"client {client}"
        marker = {"color": fill, "size": 17, "line": {"color": "white", "width": 1}}
        said = "node %{customdata[0]}, client %{customdata[1]}, class %{customdata[2]}"
        look: Trace = {"mode": "markers+text", "textfont": {"color": ink(fill), "size": 10}}
        look["text"] = [str(label[i]) for i in some]
        look["customdata"] = [(part.nodes[i], mine[i], names[label[i]]) for i in some]
        x, y = [at[i][0] for i in some], [at[i][1] for i in some]
        figure.add_trace(dot_trace(x, y, name, marker, said, **look))
    bare_axes(figure)
    return layout(figure, 480)


def client_colours(owners: list[int]) -> dict[int, str]:
    """A colour for the clients met most often, and more than once, by their numbers."""
    often = [k for k, times in Counter(sorted(owners)).most_common(NAMED) if times > 1]
    first = sorted(often or owners[:1])
    return dict(zip(first, class_colours(NAMED), strict=False))


def lines(
    edges: list[tuple[int, int]], at: list[tuple[float, float]]
) -> tuple[list[float | None], list[float | None]]:
    """Ends of the edges in the form plotly draws as one broken line."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for i, j in edges:
        xs += [at[i][0], at[j][0], None]
        ys += [at[i][1], at[j][1], None]
    return xs, ys


def bare_axes(figure: go.Figure) -> None:
    """Axes without lines or numbers, for drawings."""
    bare = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": ""}
    figure.update_xaxes(**bare, fixedrange=True)
    figure.update_yaxes(**bare, fixedrange=True)


def ink(fill: str) -> str:
    """Black or white, whichever reads better on the colour."""
    red, green, blue = (int(fill[i : i + 2], 16) for i in (1, 3, 5))
    return DARK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else LIGHT
