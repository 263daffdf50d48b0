"""What a split looks like: who holds what, how large clients are, what is cut, a small graph."""

from collections import Counter

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import BLUE, GREY, ORANGE, class_names, layout
from spear_core.figures.heat import NO_PAIR
from spear_core.inspect_node import sample_places
from spear_core.palette import class_colours
from spear_core.run import Result

MANY = 40  # clients beyond which rows are sorted and no longer named one by one
NAMED = 7  # clients with a colour of their own in the small graph; the eighth colour is grey
LIGHT, DARK = "#FFFFFF", "#111111"


def holdings(result: Result, training: bool = False) -> go.Figure:
    """Nodes of every client and class, all or the training ones; many clients are sorted."""
    partition = result.partition
    table = (partition.train_counts if training else partition.counts).cpu().numpy()
    rows, columns = table.shape
    order = np.arange(rows)
    if rows > MANY:  # by the class they hold most of, then by how much of it
        main = partition.counts.cpu().numpy()
        order = np.lexsort((-main.max(axis=1), main.argmax(axis=1)))
    table, names = table[order], class_names(result)
    what = "training nodes" if training else "nodes"
    figure = go.Figure(
        go.Heatmap(
            z=np.where(table > 0, table, np.nan),
            customdata=np.repeat(order[:, None], columns, axis=1),
            hovertemplate=f"client %{{customdata}}, class %{{x}}: %{{z}} {what}<extra></extra>",
            x=names,
            texttemplate="%{z:.0f}" if rows <= 20 and columns <= 20 else None,
            colorscale="Viridis",
            zmin=0,
            zmax=max(1, int(table.max())),
            xgap=1 if columns <= MANY else 0,
            ygap=1 if rows <= MANY else 0,
            colorbar={"title": "nodes", "thickness": 12},
        )
    )
    few_words = max(map(len, names)) <= 3
    figure.update_xaxes(
        title="class",
        type="category",
        showgrid=False,
        dtick=max(1, columns // 20) if few_words else 1,
        tickangle=0 if few_words else None,
    )
    many = rows > MANY
    figure.update_yaxes(
        title=f"{rows} clients, by main class" if many else "client",
        showticklabels=not many,
        autorange="reversed",
        showgrid=False,
        zeroline=False,
        dtick=max(1, rows // 10),
    )
    height = 440 if many else min(640, 120 + 26 * rows)
    return layout(figure, height).update_layout(plot_bgcolor=NO_PAIR, margin_t=8)


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
        figure.add_bar(
            x=place,
            y=values[order],
            name=name,
            marker={"color": colour, "line": {"width": 0}},
            customdata=order,
            hovertemplate="client %{customdata}: %{y} " + name + "<extra></extra>",
        )
    if pinned is not None:
        other = np.sort(pinned.partition.sizes.cpu().numpy())[::-1]
        figure.add_scatter(
            x=np.arange(len(other)),
            y=other,
            name="pinned: all nodes",
            mode="lines+markers" if len(other) <= MANY else "lines",
            line={"color": ORANGE, "width": 2, "shape": "hvh"},
            hovertemplate="pinned, %{x}: %{y} nodes<extra></extra>",
        )
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
        ("pinned", pinned, ORANGE, "diamond-open"),
        ("", result, BLUE, "circle"),
    ):
        if one is None:
            continue
        local = one.metrics.client_homophily
        held = [k for k, value in enumerate(local) if value is not None]
        nodes = one.partition.sizes.tolist()
        spread += [nodes[k] for k in held]
        values += [local[k] or 0.0 for k in held]
        figure.add_scatter(
            x=[nodes[k] for k in held],
            y=[local[k] for k in held],
            customdata=held,
            mode="markers",
            name=f"clients, {name}" if name else "clients",
            marker={
                "color": colour,
                "symbol": symbol,
                "size": 10 if len(held) <= MANY else 6,
                "opacity": 0.85,
            },
            hovertemplate="client %{customdata}: %{x} nodes, homophily %{y:.2f}<extra></extra>",
        )
        whole = one.metrics.homophily
        if whole is not None:
            values.append(whole)
            figure.add_scatter(
                x=[0.8 * min(spread, default=1), 1.25 * max(spread, default=1)],
                y=[whole, whole],
                mode="lines",
                name=f"whole graph{', ' + name if name else ''}: {whole:.2f}",
                line={"color": colour, "dash": "dash"},
                hoverinfo="skip",
            )
    figure.update_xaxes(title="nodes of the client", type="log")
    figure.update_yaxes(title="homophily inside the client", range=[min(values) - 0.05, 1.04])
    return layout(figure, 320)


def small_graph(result: Result) -> go.Figure:
    """A part of the graph: colours are clients, numbers are classes, cut edges are dashed."""
    graph, owner = result.graph, result.partition.owner
    part, at = sample_places(graph)
    mine = owner[part.nodes].tolist()
    label = graph.y[part.nodes].tolist()
    colour = client_colours(mine)
    figure = go.Figure()
    for name, cut, style in (
        ("edge inside a client", False, {"color": "rgba(128,128,128,0.75)", "width": 1.5}),
        ("cut edge", True, {"color": "rgba(128,128,128,0.55)", "width": 1, "dash": "dot"}),
    ):
        xs, ys = lines([e for e in part.edges if (mine[e[0]] != mine[e[1]]) == cut], at)
        figure.add_scatter(x=xs, y=ys, mode="lines", name=name, line=style, hoverinfo="skip")
    groups = [*colour, None] if len(set(mine)) > len(colour) else [*colour]
    for client in groups:
        some = [
            i for i, k in enumerate(mine) if k == client or (client is None and k not in colour)
        ]
        fill = GREY if client is None else colour[client]
        figure.add_scatter(
            x=[at[i][0] for i in some],
            y=[at[i][1] for i in some],
            mode="markers+text",
            name="other clients" if client is None else f"client {client}",
            marker={"color": fill, "size": 17, "line": {"color": "white", "width": 1}},
            text=[str(label[i]) for i in some],
            textfont={"color": ink(fill), "size": 10},
            customdata=[(part.nodes[i], mine[i], class_names(result)[label[i]]) for i in some],
            hovertemplate="node %{customdata[0]}, client %{customdata[1]}, "
            "class %{customdata[2]}<extra></extra>",
        )
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
