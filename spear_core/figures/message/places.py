"""Where everything stands in the picture of the message, and which clients and uploads fit in."""

import math
from dataclasses import dataclass

import numpy as np

from spear_core.run import Result

WIDTH, HEIGHT = 360, 216
TOP, FOOT = 10, 190  # between which clients, uploads and the server stand
COLUMN, COLUMNS = 5, 4  # clients below each other, and columns of them
MOST_CLIENTS = COLUMN * COLUMNS
MOST_UPLOADS = 150
MOST_NAMED = 10  # classes up to which the server's stars stand one below the other, with names
SERVER = 230  # its left side
LANE = (136, 214)  # where uploads are seen on their way

Point = tuple[float, float]


@dataclass(frozen=True)
class Sender:
    """A client as it is drawn."""

    client: int
    at: Point
    radius: float  # its area grows with the nodes
    nodes: tuple[int, ...]  # of each class


@dataclass(frozen=True)
class Sent:
    """An upload as it is drawn: from its client, pulled towards its peers, into a star."""

    client: int
    label: int
    count: float
    pull: float  # λ
    size: float
    start: Point
    sent: Point
    pulled: Point
    star: Point
    dropped: bool


@dataclass(frozen=True)
class Scene:
    """What is drawn of a run; `more` clients and uploads are left out."""

    senders: tuple[Sender, ...]
    uploads: tuple[Sent, ...]
    stars: tuple[Point, ...]  # of each class
    more_clients: int
    more_uploads: int


def scene(result: Result) -> Scene:
    """The largest clients, their largest uploads, and a star a class."""
    senders = _senders(result)
    stars = _stars(result.graph.classes)
    shown = {one.client: one for one in senders}
    sent = result.sent
    rows = [row for row, client in enumerate(sent.client.tolist()) if client in shown]
    many = len(rows)
    if many > MOST_UPLOADS:
        counts = sent.counts.tolist()
        rows = sorted(sorted(rows, key=lambda row: -counts[row])[:MOST_UPLOADS])
    uploads = _uploads(result, rows, shown, stars)
    left_out = result.partition.clients - len(senders)
    return Scene(senders, uploads, stars, left_out, len(sent.client) - len(uploads))


def _senders(result: Result) -> tuple[Sender, ...]:
    nodes = result.held.counts.cpu().numpy()
    sizes = nodes.sum(axis=1)
    many = len(sizes)
    fit = many if many <= MOST_CLIENTS else MOST_CLIENTS - 1  # the last place is for the others
    chosen = np.sort(np.argsort(-sizes, kind="stable")[:fit]).tolist()
    places = client_places(min(many, MOST_CLIENTS))
    most = radius(len(places))
    largest = max(1, int(sizes.max(initial=1)))
    return tuple(
        Sender(k, at, max(3.5, most * math.sqrt(sizes[k] / largest)), tuple(nodes[k].tolist()))
        for k, at in zip(chosen, places, strict=False)
    )


def client_places(many: int) -> list[Point]:
    """Staggered columns, from the left."""
    columns = math.ceil(many / COLUMN)
    rows = math.ceil(many / max(1, columns))
    pitch = (FOOT - TOP) / (rows + 0.5 * (columns > 1))
    left, step = (17.0, 31.0) if columns > 2 else (26.0, 48.0)
    return [
        (left + step * (i % columns), TOP + pitch * (i // columns + 0.5 + 0.5 * (i % columns % 2)))
        for i in range(many)
    ]


def radius(many: int) -> float:
    """Of the largest of so many clients."""
    rows = math.ceil(many / max(1, math.ceil(many / COLUMN)))
    return min(19.0 if many <= 2 * COLUMN else 14.0, 0.44 * (FOOT - TOP) / rows)


def _stars(classes: int) -> tuple[Point, ...]:
    height = FOOT - TOP
    if classes <= MOST_NAMED:
        pitch = min(30.0, (height - 8) / max(1, classes))
        first = TOP + height / 2 - pitch * (classes - 1) / 2
        return tuple((SERVER + 13.0, first + pitch * c) for c in range(classes))
    across = math.ceil(math.sqrt(classes * (WIDTH - SERVER) / height))
    down = math.ceil(classes / across)
    wide, high = (WIDTH - SERVER - 14) / across, (height - 8) / down
    return tuple(
        (SERVER + 5 + wide * (c % across + 0.5), TOP + 4 + high * (c // across + 0.5))
        for c in range(classes)
    )


def _uploads(
    result: Result, rows: list[int], shown: dict[int, Sender], stars: tuple[Point, ...]
) -> tuple[Sent, ...]:
    sent, lam = result.sent, result.estimate.weights.tolist()
    client, label, counts = sent.client.tolist(), sent.label.tolist(), sent.counts.tolist()
    kept = set(result.uploads.pairs)
    largest = max([1.0, *(counts[row] for row in rows)])
    order = {c: i for i, c in enumerate(shown)}
    on_way = {}
    for row in rows:
        start, star = shown[client[row]].at, stars[label[row]]
        spread = (order[client[row]] * 7 + label[row] * 3) % 10 / 9  # so that few lie on each other
        x = LANE[0] + (LANE[1] - LANE[0]) * spread
        on_way[row] = (x, _between(start, star, x))
    drawn = []
    for row in rows:
        k, c = client[row], label[row]
        peers = [on_way[r] for r in rows if label[r] == c and client[r] != k]
        read = result.estimate.ridge is None and (k, c) in kept  # the ridge head pulls nothing
        pull = lam[k][c] if peers and read else 0.0
        size = 3.0 + 4.5 * math.sqrt(max(0.0, counts[row]) / largest)
        places = (shown[k].at, on_way[row], _towards(on_way[row], peers, pull), stars[c])
        drawn.append(Sent(k, c, counts[row], lam[k][c], size, *places, (k, c) not in kept))
    return tuple(drawn)


def _between(start: Point, end: Point, x: float) -> float:
    """The height at `x` of a line that leaves and arrives level."""
    share = (x - start[0]) / (end[0] - start[0])
    return start[1] + (end[1] - start[1]) * share * share * (3 - 2 * share)


def _towards(own: Point, peers: list[Point], pull: float) -> Point:
    if not peers:
        return own
    middle = [sum(place[i] for place in peers) / len(peers) for i in (0, 1)]
    return (own[0] + pull * (middle[0] - own[0]), own[1] + pull * (middle[1] - own[1]))
