"""What moves on a map: trails from the last setting, and the pull on a chosen prototype."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from spear_core import embed
from spear_core.embed import Map
from spear_core.figures.map.places import Places, array
from spear_core.figures.map.traces import GREY, ink_line
from spear_core.run import Result


def comparable(before: Result, result: Result) -> bool:
    one, two = before.graph, result.graph
    return before is not result and (one.name, *one.x.shape) == (two.name, *two.x.shape)


def trails(old: Places, before: Result, new: Places, result: Result, show: str) -> dict[str, Any]:
    """Thin lines from the last place of every prototype that is in both results."""
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    if show != "global":
        pairs += _moves(before.uploads.pairs, old.local, result.uploads.pairs, new.local)
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
        "line": ink_line(1.2),
    }


def ring(
    plane: Map, result: Result, places: Places, chosen: tuple[int, int]
) -> list[dict[str, Any]]:
    """A ring round the chosen prototype and a line to the mean of its peers."""
    names = result.uploads.pairs
    client, label = chosen
    if (client, label) not in names:
        return []
    row = names.index((client, label))
    own = places.local[row]
    xy, _ = embed.refine(plane, result.estimate.peers[row : row + 1])
    peers = array(xy)[0] / plane.radius
    lam = float(result.estimate.weights[client, label])
    same = {"type": "scatter", "hoverinfo": "skip", "showlegend": False, "meta": "ink"}
    ring = {"symbol": "circle-open", "size": 30, "color": GREY, "line": ink_line(3)}
    out = [
        {**same, "name": "chosen", "mode": "markers", "x": own[:1], "y": own[1:], "marker": ring}
    ]
    if sum(other == label for _, other in names) > 1:  # else it is its own peer
        dot = {"symbol": ["circle", "circle-open"], "size": [1, 12], "color": GREY}
        x, y = ([float(own[i]), float(peers[i])] for i in (0, 1))
        said = ["", f"mean of its peers, pulled there by λ = {lam:.2f}"]
        line = {
            "name": "peers",
            "mode": "lines+markers",
            "x": x,
            "y": y,
            "line": {**ink_line(2), "dash": "dot"},
            "marker": {**dot, "line": ink_line(2)},
            "hoverinfo": "text",
            "hovertext": said,
        }
        out.append(same | line)
    return out


def _moves(
    old: Iterable[Any], old_xy: np.ndarray, new: Iterable[Any], new_xy: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    was = dict(zip(old, old_xy, strict=True))
    return [(was[name], xy) for name, xy in zip(new, new_xy, strict=True) if name in was]
