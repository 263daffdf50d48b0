"""The map as a plotly figure: nodes, local and global prototypes, true centroids; and in words."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from torch import Tensor

from spear_core import embed
from spear_core.client import Uploads
from spear_core.embed import Map
from spear_core.figures.common import class_names
from spear_core.palette import RIGHT, WRONG, class_colours
from spear_core.run import Result

# where a page does not put the colour of its text instead (meta = "ink", meta = "outlined")
GREY, OUTLINE = "#8C8C8C", "#4D4D4D"
LEGEND_MOST = 12
NAMED_MOST = 20  # classes whose names are written on the map


@dataclass(frozen=True, eq=False)
class Places:
    """Where the prototypes of one result lie on one map, and their best cosine to any node."""

    local: np.ndarray  # (P, 2)
    local_cosine: np.ndarray  # (P)
    classes: np.ndarray  # the seen classes
    glob: np.ndarray  # (seen, 2)
    glob_cosine: np.ndarray  # (seen)
    tested: np.ndarray  # the classes with test nodes
    centroid: np.ndarray  # (tested, 2)


def map_figure(
    map: Map,
    result: Result,
    show: str = "both",
    colour: str = "class",
    before: Result | None = None,
    chosen: tuple[int, int] | None = None,
) -> go.Figure:
    """The map with the prototypes of a result.

    `show` is both, local or global; `colour` is class, client or right or wrong. `before` is an
    earlier result: thin trails lead from there. `chosen` = (client, class) gets a ring and a line
    to the mean of its peers.
    """
    places = _placed(map, result)
    traces = _background(map, result, colour)
    if before is not None and _comparable(before, result):
        traces.append(_trails(_placed(map, before), before, places, result, show))
    if show != "global":
        traces.append(_local(map, result, places, colour))
    if show != "local":
        traces.append(_global(map, result, places, colour))
    traces.append(_centroids(result, places))
    if chosen is not None and show != "global":
        traces += _ring(map, result, places, chosen)
    hollow = _hollow(map, places, show)
    traces += _key(show, bool(hollow))
    return go.Figure(traces, _layout(map, result))


def alt_text(map: Map, result: Result) -> str:
    """The map in words and numbers."""
    places, graph = _placed(map, result), result.graph
    hollow = _hollow(map, places, "both")
    words = [
        f"{map.kind} of {len(map.nodes):,} nodes of {graph.name} in {graph.classes} classes, with "
        f"{len(places.local)} local prototypes of {result.partition.clients} clients as diamonds, "
        f"{len(places.glob)} global prototypes as stars and the true class centroids as crosses."
    ]
    far = distances(result)[["local", "global"]].mean()
    if not far.isna().any():
        words.append(
            "In feature space the local prototypes lie at a mean cosine distance of "
            f"{far['local']:.3f} from the true centroids, the global ones at {far['global']:.3f}."
        )
    if hollow:
        one = hollow == 1
        words.append(
            f"{hollow} prototype{'' if one else 's'} {'is' if one else 'are'} drawn hollow: less "
            "similar to any node than nodes usually are to each other."
        )
    return " ".join(words)


def distances(result: Result) -> pd.DataFrame:
    """Cosine distance to the true centroid for each class: local (mean), plain mean and global.

    Empty (NaN) where a class has no prototype or no test node. Means over the rows are
    `metrics.error_local`, `error_mean` and `error_spear`.
    """
    up = result.uploads
    centre = _unit(result.metrics.centroids)  # (C, F)
    number = torch.bincount(up.label, minlength=up.classes)
    ones = torch.ones(len(up.label), device=up.label.device)
    far = 1 - (_unit(up.prototypes) * centre[up.label]).sum(1)
    local = torch.zeros(up.classes, device=far.device).index_add_(0, up.label, far)
    mean = _unit(Uploads.combine(up, ones))  # from the prototypes: they are there by now
    there = result.estimate.seen & (centre.abs().sum(1) > 0)
    columns = {
        "local": local / number.clamp_min(1),
        "mean": 1 - (mean * centre).sum(1),
        "global": 1 - (result.estimate.prototypes * centre).sum(1),
    }
    table = {name: _array(v.masked_fill(~there, torch.nan)) for name, v in columns.items()}
    return pd.DataFrame({"class": class_names(result), "clients": _array(number), **table})


# -- where things lie

_places: WeakKeyDictionary[Result, dict[tuple[str, str], Places]] = WeakKeyDictionary()


def _placed(map: Map, result: Result) -> Places:
    """Places of a result's prototypes, computed once for each map."""
    kept = _places.setdefault(result, {})
    which = (map.key, map.kind)
    if which not in kept:
        centroids = result.metrics.centroids
        seen = result.estimate.seen.nonzero().squeeze(1)
        tested = (centroids.abs().sum(1) > 0).nonzero().squeeze(1)
        parts = (result.uploads.prototypes, result.estimate.prototypes[seen], centroids[tested])
        xy, cosine = embed.refine(map, torch.cat(parts))
        size = [len(part) for part in parts]
        local, glob, centroid = (_array(part) / map.radius for part in xy.split(size))
        near_local, near_glob, _ = (_array(part) for part in cosine.split(size))
        kept[which] = Places(
            local, near_local, _array(seen), glob, near_glob, _array(tested), centroid
        )
    return kept[which]


def _hollow(map: Map, places: Places, show: str) -> int:
    """How many of the shown prototypes are unlike any node."""
    shown = {"local": [places.local_cosine], "global": [places.glob_cosine]}
    cosines = shown.get(show, [places.local_cosine, places.glob_cosine])
    return sum(int((c < map.hollow_below).sum()) for c in cosines)


def _comparable(before: Result, result: Result) -> bool:
    one, two = before.graph, result.graph
    return before is not result and (one.name, *one.x.shape) == (two.name, *two.x.shape)


# -- what is drawn


def _background(map: Map, result: Result, colour: str) -> list[dict[str, Any]]:
    """The nodes: a trace for each group if there are few, so that the legend can hide one."""
    xy, nodes = _array(map.xy) / map.radius, map.nodes
    if colour == "client":
        group = _array(result.partition.owner[nodes])
        colours = class_colours(result.partition.clients)
        names = [f"client {k}" for k in range(len(colours))]
    elif colour == "right or wrong":
        guess = result.every_prediction.labels[nodes]
        group = _array((guess != result.graph.y[nodes]).long())
        colours, names = [RIGHT, WRONG], ["right", "wrong"]
    else:
        group = _array(result.graph.y[nodes])
        colours = class_colours(result.graph.classes)
        names = [_short(name) for name in class_names(result)]
    same = {"type": "scattergl", "mode": "markers", "hoverinfo": "skip"}
    look = {"size": 5 if len(nodes) < 1000 else 4, "opacity": 0.55}
    if len(colours) > LEGEND_MOST:
        steps = [(step / len(colours), c) for i, c in enumerate(colours) for step in (i, i + 1)]
        limits = {"cmin": -0.5, "cmax": len(colours) - 0.5}
        marker = {**look, "color": group, "colorscale": steps, **limits}
        return [{**same, "x": xy[:, 0], "y": xy[:, 1], "marker": marker, "showlegend": False}]
    room = len(colours) + 4 <= LEGEND_MOST  # four more entries say what the shapes are
    return [
        {
            **same,
            "x": xy[group == g, 0],
            "y": xy[group == g, 1],
            "marker": {**look, "color": colours[g]},
            "name": names[g],
            "showlegend": room,
        }
        for g in range(len(colours))
    ]


def _local(map: Map, result: Result, places: Places, colour: str) -> dict[str, Any]:
    up, names = result.uploads, class_names(result)
    client, label, n = (v.tolist() for v in (up.client, up.label, up.counts))
    lam = result.estimate.weights.tolist()
    most = max(n, default=1)
    hover = [
        f"<b>client {k}, class {names[c]}</b><br>n = {count}, λ = {lam[k][c]:.2f}"
        + _similar(cosine, map)
        for k, c, count, cosine in zip(client, label, n, places.local_cosine, strict=True)
    ]
    return {
        "type": "scatter" if len(n) <= 400 else "scattergl",
        "name": "local",
        "legendgroup": "local",
        "mode": "markers",
        "x": places.local[:, 0],
        "y": places.local[:, 1],
        "customdata": [{"client": k, "label": c} for k, c in zip(client, label, strict=True)],
        "hovertext": hover,
        "hovertemplate": "%{hovertext}<extra></extra>",
        "showlegend": False,
        "meta": "outlined",
        "marker": {
            "symbol": _symbols("diamond", places.local_cosine, map),
            "size": [8 + 12 * (count / most) ** 0.5 for count in n],
            "color": _local_colours(result, colour),
            "line": _line(places.local_cosine, map),
        },
    }


def _global(map: Map, result: Result, places: Places, colour: str) -> dict[str, Any]:
    names, colours = class_names(result), class_colours(result.graph.classes)
    far = distances(result)["global"]
    hover = [
        f"<b>global prototype of class {names[c]}</b>" + _centre(far[c]) + _similar(cosine, map)
        for c, cosine in zip(places.classes, places.glob_cosine, strict=True)
    ]
    return {
        "type": "scatter",
        "name": "global",
        "legendgroup": "global",
        "mode": "markers",
        "x": places.glob[:, 0],
        "y": places.glob[:, 1],
        "hovertext": hover,
        "hovertemplate": "%{hovertext}<extra></extra>",
        "showlegend": False,
        "meta": "outlined" if colour == "class" else "ink",
        "marker": {
            "symbol": _symbols("star", places.glob_cosine, map),
            "size": 17,
            "color": [colours[c] for c in places.classes] if colour == "class" else GREY,
            "line": _line(places.glob_cosine, map),
        },
    }


def _centroids(result: Result, places: Places) -> dict[str, Any]:
    names = class_names(result)
    named = result.graph.classes <= NAMED_MOST
    return {
        "type": "scatter",
        "name": "true centroids",
        "legendgroup": "true centroids",
        "mode": "markers+text" if named else "markers",
        "x": places.centroid[:, 0],
        "y": places.centroid[:, 1],
        "text": [f"<b>{_short(names[c])}</b><br> " for c in places.tested] if named else None,
        "textposition": "top center",  # the empty second line lifts it above a star
        "textfont": {"size": 13},
        "hovertext": [f"<b>true centroid of class {names[c]}</b>" for c in places.tested],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "showlegend": False,
        "meta": "ink",
        "marker": {"symbol": "x-thin", "size": 10, "color": GREY, "line": _ink(2)},
    }


def _trails(old: Places, before: Result, new: Places, result: Result, show: str) -> dict[str, Any]:
    """Thin lines from the last place of every prototype that is in both results."""
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    if show != "global":
        pairs += _moves(_names(before), old.local, _names(result), new.local)
    if show != "local":
        pairs += _moves(old.classes.tolist(), old.glob, new.classes.tolist(), new.glob)
    moved = [(a, b) for a, b in pairs if float(np.abs(a - b).max()) > 1e-3]
    return {
        "type": "scatter",
        "name": "trail",
        "mode": "lines",
        "x": [v for a, b in moved for v in (float(a[0]), float(b[0]), None)],
        "y": [v for a, b in moved for v in (float(a[1]), float(b[1]), None)],
        "hoverinfo": "skip",
        "showlegend": False,
        "opacity": 0.6,
        "meta": "ink",
        "line": _ink(1.2),
    }


def _ring(
    map: Map, result: Result, places: Places, chosen: tuple[int, int]
) -> list[dict[str, Any]]:
    """A ring round the chosen prototype and a line to the mean of its peers."""
    names = _names(result)
    client, label = chosen
    if (client, label) not in names:
        return []
    row = names.index((client, label))
    own = places.local[row]
    xy, _ = embed.refine(map, result.estimate.peers[row : row + 1])
    peers = _array(xy)[0] / map.radius
    lam = float(result.estimate.weights[client, label])
    same = {"type": "scatter", "hoverinfo": "skip", "showlegend": False, "meta": "ink"}
    ring = {"symbol": "circle-open", "size": 30, "color": GREY, "line": _ink(3)}
    out = [
        {**same, "name": "chosen", "mode": "markers", "x": own[:1], "y": own[1:], "marker": ring}
    ]
    if sum(other == label for _, other in names) > 1:  # else it is its own peer
        dot = {"symbol": ["circle", "circle-open"], "size": [1, 12], "color": GREY, "line": _ink(2)}
        out.append(
            {
                **same,
                "name": "peers",
                "mode": "lines+markers",
                "x": [float(own[0]), float(peers[0])],
                "y": [float(own[1]), float(peers[1])],
                "line": {**_ink(2), "dash": "dot"},
                "marker": dot,
                "hoverinfo": "text",
                "hovertext": ["", f"mean of its peers, pulled there by λ = {lam:.2f}"],
            }
        )
    return out


def _key(show: str, hollow: bool) -> list[dict[str, Any]]:
    """Legend entries that say what the shapes mean; clicking one hides its points."""
    entries = [("true centroids", "x-thin", "true centroids")]
    if show != "global":
        entries.insert(0, ("local prototypes", "diamond", "local"))
    if show != "local":
        entries.insert(-1, ("global prototypes", "star", "global"))
    if hollow:
        entries.append(("hollow: unlike any node", "diamond-open", "hollow"))
    return [
        {
            "type": "scatter",
            "name": name,
            "legendgroup": group,
            "mode": "markers",
            "x": [None],
            "y": [None],
            "meta": "ink",
            "marker": {"symbol": symbol, "size": 11, "color": GREY, "line": _ink(1.5)},
        }
        for name, symbol, group in entries
    ]


def _layout(map: Map, result: Result) -> dict[str, Any]:
    axis = {"visible": False, "zeroline": False, "showgrid": False}
    kind = {
        "text": f"{map.kind} · {len(map.nodes):,} nodes",
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 13},
    }
    return {
        "uirevision": result.graph.name,  # zoom and legend survive everything but another graph
        "xaxis": axis,
        "yaxis": axis,
        "dragmode": "pan",
        "hovermode": "closest",
        "margin": {"l": 4, "r": 4, "t": 32, "b": 4},
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 0,
            "yanchor": "top",
            "itemsizing": "constant",
            "font": {"size": 12},
        },
        "annotations": [kind],
    }


def _local_colours(result: Result, colour: str) -> list[str]:
    up = result.uploads
    if colour == "client":
        colours = class_colours(up.clients)
        return [colours[k] for k in up.client.tolist()]
    if colour == "right or wrong":  # is the nearest global prototype that of its own class?
        scores = up.prototypes @ result.estimate.prototypes.t()
        nearest = scores.masked_fill(~result.estimate.seen, -torch.inf).argmax(1)
        return [RIGHT if right else WRONG for right in (nearest == up.label).tolist()]
    colours = class_colours(up.classes)
    return [colours[c] for c in up.label.tolist()]


def _similar(cosine: float, map: Map) -> str:
    words = f"<br>best cosine to a node {cosine:.2f}"
    if cosine >= map.hollow_below:
        return words
    return words + f", unusually low:<br>95 % of the nodes reach {map.hollow_below:.2f} or more"


def _centre(far: float) -> str:
    return "" if np.isnan(far) else f"<br>cosine distance to the true centroid {far:.3f}"


def _symbols(filled: str, cosine: np.ndarray, map: Map) -> list[str]:
    return [filled + "-open" * bool(c < map.hollow_below) for c in cosine]


def _line(cosine: np.ndarray, map: Map) -> dict[str, Any]:
    """Thin dark outlines, thicker where a hollow marker is nothing but its outline."""
    return {"color": OUTLINE, "width": [2.5 if c < map.hollow_below else 1 for c in cosine]}


def _ink(width: float) -> dict[str, Any]:
    return {"color": GREY, "width": width}


def _names(result: Result) -> list[tuple[int, int]]:
    """(client, class) of every local prototype."""
    up = result.uploads
    return list(zip(up.client.tolist(), up.label.tolist(), strict=True))


def _moves(
    old: Iterable[Any], old_xy: np.ndarray, new: Iterable[Any], new_xy: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    was = dict(zip(old, old_xy, strict=True))
    return [(was[name], xy) for name, xy in zip(new, new_xy, strict=True) if name in was]


def _short(name: str) -> str:
    return name if len(name) <= 18 else name[:17] + "…"


def _unit(rows: Tensor) -> Tensor:
    return torch.nn.functional.normalize(rows, dim=1, eps=1e-30)


def _array(values: Tensor) -> np.ndarray:
    return values.detach().cpu().numpy()
