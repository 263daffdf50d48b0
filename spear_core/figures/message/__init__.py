"""The message as a picture: clients send their ◆ once, the server pulls and averages them into ★.

One self-contained SVG: animated by its own CSS, still where motion is not wanted, without a script
or an address. Every part has a `data-key`, so that a page can update it in place.
"""

from html import escape
from importlib.resources import files
from itertools import pairwise

from spear_core.figures.common import clip
from spear_core.figures.message import places
from spear_core.figures.message.places import FOOT, HEIGHT, SERVER, TOP, WIDTH, Scene, Sender, Sent
from spear_core.figures.palette import class_colours
from spear_core.measures.spread import human_bytes, percent
from spear_core.run import Result

STYLE = files(__name__).joinpath("message.css").read_text(encoding="utf-8")
STAR = "M0.0 -7.4L1.8 -2.5L7.0 -2.3L2.9 1.0L4.3 6.0L0.0 3.1L-4.3 6.0L-2.9 1.0L-7.0 -2.3L-1.8 -2.5z"
MOST_GHOSTS = 50  # uploads up to which one sees where each was before it was pulled


class Picture(str):
    """An SVG as text, which a notebook shows."""

    def _repr_svg_(self) -> str:
        return str(self)


def message(result: Result) -> Picture:
    """What was sent in this run, and what became of it."""
    scene = places.scene(result)
    colours = class_colours(result.graph.classes)
    few = len(scene.uploads) <= MOST_GHOSTS
    parts = (
        f"<title>The message</title><desc>{escape(told(result, scene))}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        _group("ways", [_way(one, colours) for one in scene.uploads]),
        _group("clients", [_client(result, one, colours) for one in scene.senders]),
        _others(scene),
        _server(result, scene, colours),
        _group("ghosts", [_ghost(one, colours) for one in scene.uploads] * few),
        _group("uploads", [_upload(result, one, colours) for one in scene.uploads]),
        _foot(result, scene),
    )
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="message play" role="img" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(parts)}</svg>'
    )


def told(result: Result, scene: Scene) -> str:
    """The picture in words."""
    sent, m = len(result.sent.client), result.metrics
    does, into = "pulls uncertain ones to their peers and averages them into", "global prototypes"
    if result.estimate.ridge is not None:
        does, into = "solves one regression over all of them and scores", "classes"
    words = (
        f"{result.partition.clients} clients send {sent} prototypes{sketched(result)}, "
        f"{human_bytes(m.bytes_up_total)} in all, once; the server "
        f"{does} {int(result.estimate.seen.sum())} of {result.graph.classes} {into}."
    )
    if result.attackers:
        words += f" {len(result.attackers)} clients lie and have a broken outline."
    if scene.more_clients or scene.more_uploads:
        words += f" Drawn are {len(scene.senders)} clients and {len(scene.uploads)} prototypes."
    return words


def sketched(result: Result) -> str:
    """The rows of residuals that were sent too, in words; empty where there are none."""
    rest = result.sent.residuals
    rows = 0 if rest is None else len(rest.owner)
    return f" and {rows:,} row{'s' * (rows != 1)} of residuals" if rows else ""


def _group(name: str, parts: list[str]) -> str:
    return f'<g class="{name}" data-key="{name}">{"".join(parts)}</g>'


def _client(result: Result, one: Sender, colours: list[str]) -> str:
    names, total = result.graph.names, sum(one.nodes)
    held = [(names[c], n) for c, n in enumerate(one.nodes) if n]
    held.sort(key=lambda pair: -pair[1])
    words = ", ".join(f"{name} {n}" for name, n in held[:6]) + (" …" if len(held) > 6 else "")
    lies = one.client in result.attackers
    liar = f'<circle class="liar" r="{one.radius + 3:.1f}"/>' if lies else ""
    number = f'<text text-anchor="middle" y="3.5">{one.client}</text>' if one.radius > 8 else ""
    return (
        f'<g class="client" data-key="k{one.client}" transform="{_at(one.at)}">'
        f"<title>Client {one.client}{' lies' * lies}: {total} nodes. {escape(words)}</title>"
        f'<circle class="body" r="{one.radius:.1f}"/>{_ring(one, total, colours)}{liar}{number}</g>'
    )


def _ring(one: Sender, total: int, colours: list[str]) -> str:
    """The share of each class as arcs of a circle, drawn as dashes of a stroke."""
    if not total:
        return f'<circle class="ring none" r="{one.radius:.1f}"/>'
    width = min(4.0, 0.45 * one.radius)
    r = one.radius - width / 2
    arcs, before = [], 0.0
    for c, n in enumerate(one.nodes):
        share = 100 * n / total
        if share >= 0.5:
            arcs.append(
                f'<circle r="{r:.1f}" pathLength="100" stroke="{colours[c]}" '
                f'stroke-dasharray="{share:.1f} 100" stroke-dashoffset="{-before:.1f}"/>'
            )
        before += share
    turn = 'transform="rotate(-90)"'
    return f'<g class="ring" stroke-width="{width:.1f}" {turn}>{"".join(arcs)}</g>'


def _way(one: Sent, colours: list[str]) -> str:
    (x, y), (u, v) = one.start, one.star
    middle = (x + u) / 2
    return (
        f'<path class="way" data-key="w{one.client}-{one.label}" stroke="{colours[one.label]}" '
        f'stroke-width="{one.size / 4:.1f}" '
        f'd="M{x:.0f} {y:.0f}C{middle:.0f} {y:.0f} {middle:.0f} {v:.0f} {u:.0f} {v:.0f}"/>'
    )


def _ghost(one: Sent, colours: list[str]) -> str:
    """From where it was sent to where its peers have pulled it."""
    (x, y), (u, v) = one.sent, one.pulled
    if abs(x - u) + abs(y - v) < 4:
        return ""
    return (
        f'<g class="ghost" data-key="g{one.client}-{one.label}" stroke="{colours[one.label]}">'
        f'<path d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}" stroke-dasharray="2 2"/>'
        f'<path transform="{_at(one.sent)}" d="{_diamond(one.size)}"/></g>'
    )


def _upload(result: Result, one: Sent, colours: list[str]) -> str:
    kind = "lie" if one.client in result.attackers else "edge"
    kind += " dropped" if one.dropped else ""
    name, x, y = escape(result.graph.names[one.label]), *one.pulled
    moves = zip("abd", (one.start, one.sent, one.star), strict=True)
    steps = ";".join(f"--{n}:{to[0] - x:.0f}px,{to[1] - y:.0f}px" for n, to in moves)
    pulled = "read as it is" if result.estimate.ridge is not None else f"λ = {one.pull:.2f}"
    said = "dropped by the server" if one.dropped else pulled
    return (
        f'<g class="upload" data-key="u{one.client}-{one.label}" transform="{_at(one.pulled)}">'
        f"<title>Client {one.client}, {name}: n = {one.count:g}, {said}</title>"
        f'<path class="fly {kind}" fill="{colours[one.label]}" d="{_diamond(one.size)}" '
        f'style="{steps};--wait:{one.client % 10 * 0.05:g}s"/></g>'
    )


def _others(scene: Scene) -> str:
    """The clients that are not drawn, as one."""
    if not scene.more_clients:
        return ""
    at = places.client_places(places.MOST_CLIENTS)[-1]
    return (
        f'<g class="others" data-key="others" transform="{_at(at)}"><circle class="none" r="14"/>'
        f'<text text-anchor="middle" y="-1">+ {scene.more_clients}</text>'
        '<text text-anchor="middle" y="9">more</text></g>'
    )


def _server(result: Result, scene: Scene, colours: list[str]) -> str:
    named = result.graph.classes <= places.MOST_NAMED
    right = result.metrics.class_accuracy
    seen = result.estimate.seen.tolist()
    gaps = [abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(scene.stars)]
    size = min(1.0, min(gaps, default=20) / 17)
    stars = []
    for c, at in enumerate(scene.stars):
        name = escape(result.graph.names[c])
        look = f'fill="{colours[c]}" class="shine edge"' if seen[c] else 'class="shine none"'
        short = clip(result.graph.names[c], 13)
        # a long name keeps clear of the number, whatever type the reader's machine has
        fit = f' textLength="{5 * len(short)}" lengthAdjust="spacingAndGlyphs"' * (len(short) > 9)
        words = f'<text x="11" y="3.5"{fit}>{escape(short)}</text>'
        words += f'<text x="107" y="3.5" text-anchor="end">{percent(right[c], 0)}</text>'
        stars.append(
            f'<g class="star" data-key="s{c}" transform="{_at(at)}">'
            f"<title>{name}: {percent(right[c], 0)} of its test nodes right</title>"
            f'<g transform="scale({size:.2f})"><path {look} d="{STAR}"/></g>{words * named}</g>'
        )
    box = f'x="{SERVER}" y="{TOP - 6}" width="{WIDTH - SERVER - 4}" height="{FOOT - TOP + 8}"'
    return f'<rect class="box" rx="8" {box}/>' + _group("stars", stars)


def _foot(result: Result, scene: Scene) -> str:
    many, sent = result.partition.clients, len(result.sent.client)
    size = human_bytes(result.metrics.bytes_up_total)
    part = f" ({len(scene.uploads)} drawn)" if scene.more_uploads else ""
    rest = result.sent.residuals
    rows = f" + {len(rest.owner):,} rows" if rest is not None and len(rest.owner) else ""
    middle = (
        sum(places.LANE) / 2 - 20,
        "middle",
        f"{sent:,} ◆{part}{rows}, <tspan class='strong'>{size}</tspan>, once",
    )
    right = percent(result.metrics.accuracy, 1)
    words = (
        (6, "start", f"{many:,} client{'s' * (many != 1)}"),
        middle,
        (WIDTH - 6, "end", f"server: <tspan class='strong'>{right}</tspan> right"),
    )
    said = [f'<text x="{x}" y="{HEIGHT - 6}" text-anchor="{a}">{w}</text>' for x, a, w in words]
    return _group("foot", said)


def _at(place: places.Point) -> str:
    return f"translate({place[0]:.1f} {place[1]:.1f})"


def _diamond(size: float) -> str:
    return f"M0-{size:.1f}L{size:.1f} 0 0 {size:.1f}-{size:.1f} 0z"
