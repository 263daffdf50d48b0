"""The still picture of a widget, as PNG: the number, the map and λ, on white.

Pillow draws it in a fraction of a second; a browser in the background would take four. Pillow's own
font is the same everywhere but has no Greek, so settings are named in words here.
"""

import io
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from spear_core.embed import Map
from spear_core.fields import changed, plain
from spear_core.figures.common import clip
from spear_core.figures.map.places import placed
from spear_core.figures.palette import class_colours
from spear_core.measures.spread import percent
from spear_core.run import Result
from spear_core.settings import FIELDS, Settings

WIDTH, MAP, HEAD, FOOT, EDGE = 920, 420, 66, 26, 16  # pixels as shown
SHARP = 2  # pixels of the file for one that is shown
FINE = 2 * SHARP  # ... and while it is drawn, to be made smooth
INK, FAINT, QUIET = (36, 41, 47), (110, 118, 129), (76, 91, 212)
Box = tuple[float, float, float, float]  # left, top, right, bottom
STAR = [(np.sin(i * np.pi / 5), -np.cos(i * np.pi / 5)) for i in range(10)]


class Sheet:
    """A white sheet that is drawn on in the pixels it is shown with."""

    def __init__(self, width: int, height: int) -> None:
        self.size = width, height
        self.image = Image.new("RGB", (width * FINE, height * FINE), "white")
        self.pen = ImageDraw.Draw(self.image, "RGBA")

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        fill: tuple[int, ...] = INK,
        anchor: str = "ls",
        rim: float = 0,
    ) -> None:
        known = words.replace("−", "-").replace("∞", "inf").replace("…", "...")
        place, font = (x * FINE, y * FINE), _font(size)
        self.pen.text(
            place, known, fill, font, anchor, stroke_width=rim * FINE, stroke_fill="white"
        )

    def shape(
        self, corners: Sequence[tuple[float, float]], fill: tuple[int, ...] | None, line: float = 0
    ) -> None:
        points = [(x * FINE, y * FINE) for x, y in corners]
        self.pen.polygon(points, fill, INK if line else None, round(line * FINE))

    def dot(self, x: float, y: float, r: float, fill: tuple[int, ...]) -> None:
        self.pen.ellipse([(x - r) * FINE, (y - r) * FINE, (x + r) * FINE, (y + r) * FINE], fill)

    def line(self, x: float, y: float, to_x: float, to_y: float, width: float) -> None:
        ends = (x * FINE, y * FINE, to_x * FINE, to_y * FINE)
        self.pen.line(ends, INK, round(width * FINE))

    def png(self) -> bytes:
        out = io.BytesIO()
        small = self.image.reduce(FINE // SHARP)
        small.quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(out, "PNG")
        return out.getvalue()


def picture(plane: Map, result: Result) -> tuple[bytes, int, int]:
    """The number, the map and λ of a run: PNG, and its width and height as shown."""
    sheet = Sheet(WIDTH, HEAD + MAP + FOOT)
    _title(sheet, EDGE, result)
    top, middle = HEAD, round(0.62 * WIDTH)
    draw_map(sheet, (EDGE, top, middle, top + MAP), plane, result)
    _weights(sheet, (middle + 40, top + 24, WIDTH - EDGE, top + MAP - 40), result)
    foot = f"{plane.kind} of the nodes · diamonds: what clients send · stars: the server's"
    sheet.text(EDGE, HEAD + MAP + 14, f"{foot} · run the cell for the live one", 12, FAINT)
    return sheet.png(), *sheet.size


def pictures(plane: Map, results: Sequence[Result]) -> tuple[bytes, int, int]:
    """Maps side by side."""
    sheet = Sheet(WIDTH, HEAD + MAP + FOOT)
    wide = WIDTH / len(results)
    for i, result in enumerate(results):
        other = results[-1 - i]  # of a pair; itself where there is one alone
        _title(sheet, i * wide + EDGE, result, changed(result.settings, other.settings))
        draw_map(sheet, (i * wide + EDGE, HEAD, (i + 1) * wide - EDGE, HEAD + MAP), plane, result)
    foot = f"{plane.kind} of the nodes · diamonds: what clients send · stars: the server's"
    sheet.text(EDGE, HEAD + MAP + 14, f"{foot} · run the cell for the live one", 12, FAINT)
    return sheet.png(), *sheet.size


def in_words(settings: Settings) -> str:
    """The run in a line, without Greek."""
    usual = ("clients", "beta", "alpha", "steps", "gamma", "seed")
    names = [*usual, *(n for n in ("attacker_count", "defence") if n in changed(settings))]
    return _listed({name: getattr(settings, name) for name in names})


def _listed(values: Mapping[str, Any]) -> str:
    return " · ".join(f"{FIELDS[name].metadata['label']} {plain(v)}" for name, v in values.items())


def _title(sheet: Sheet, x: float, result: Result, apart: Mapping[str, Any] | None = None) -> None:
    """How good the run is, and its settings; beside another run what is `apart` in them."""
    said = f"{result.graph.name}: {percent(result.metrics.accuracy)} of the test nodes right"
    sheet.text(x, 30, said, 16 if apart else 21)
    sheet.text(x, 52, clip(_listed(apart), 70) if apart else in_words(result.settings), 12, FAINT)


def draw_map(sheet: Sheet, box: Box, plane: Map, result: Result) -> None:
    """Nodes, local and global prototypes and the names of the classes, in a box."""
    graph, places = result.graph, placed(plane, result)
    nodes = plane.xy.cpu().numpy() / plane.radius
    low, high = nodes.min(0), nodes.max(0)
    left, top, right, bottom = (v + d for v, d in zip(box, (14, 14, -14, -14), strict=True))
    span = np.maximum(high - low, 1e-9)

    def at(xy: np.ndarray) -> np.ndarray:
        share = (xy - low) / span
        return np.stack(
            [left + share[:, 0] * (right - left), bottom - share[:, 1] * (bottom - top)], 1
        )

    colours = [_rgb(c) for c in class_colours(graph.classes)]
    for (x, y), c in zip(at(nodes), graph.y[plane.nodes].tolist(), strict=True):
        sheet.dot(x, y, 2.0, (*colours[c], 120))
    up = result.uploads
    most = max(up.counts.tolist(), default=1)
    for (x, y), c, n in zip(at(places.local), up.label.tolist(), up.counts.tolist(), strict=True):
        r = (8 + 12 * (n / most) ** 0.5) / 2 * 1.2
        sheet.shape([(x, y - r), (x + r, y), (x, y + r), (x - r, y)], colours[c], 1)
    for (x, y), c in zip(at(places.glob), places.classes.tolist(), strict=True):
        star = [
            (x + dx * r, y + dy * r)
            for i, (dx, dy) in enumerate(STAR)
            for r in (11 if i % 2 == 0 else 4.6,)
        ]
        sheet.shape(star, colours[c], 1)
    for (x, y), c in zip(at(places.centroid), places.tested.tolist(), strict=True):
        for s in (-4, 4):
            sheet.line(x - 4, y - s, x + 4, y + s, 1.6)
        if graph.classes <= 20:
            sheet.text(x, y - 12, clip(graph.names[c]), 13, INK, "ms", rim=1.2)


def _weights(sheet: Sheet, box: Box, result: Result) -> None:
    """λ of every client and class: dark is pulled far to its peers."""
    left, top, right, bottom = box
    counts = result.partition.train_counts.cpu().numpy()
    lam = result.estimate.weights.cpu().numpy()
    clients, classes = counts.shape
    wide, high = (right - left) / classes, min(30.0, (bottom - top) / clients)
    sheet.text(left, top - 10, "lambda: dark leans on the others", 12)
    gap = 0.5 if max(clients, classes) <= 40 else 0.0
    for k in range(clients):
        for c in range(classes):
            x, y = left + c * wide, top + k * high
            cell = [
                (x + gap, y + gap),
                (x + wide - gap, y + gap),
                (x + wide - gap, y + high - gap),
                (x + gap, y + high - gap),
            ]
            value = float(lam[k, c])
            held = counts[k, c] > 0
            sheet.shape(cell, (*QUIET, round(25 + 230 * value)) if held else (0, 0, 0, 10))
            if held and clients <= 20 and classes <= 12 and high >= 11:
                ink = (255, 255, 255) if value > 0.7 else INK
                said = f"{value:.2f}".removeprefix("0")
                sheet.text(x + wide / 2, y + high / 2, said, 10, ink, "mm")
        if k % max(1, clients // 10) == 0:
            sheet.text(left - 6, top + (k + 0.5) * high, str(k), 11, FAINT, "rm")
    sheet.text(left - 6, top - 4, "client", 10, FAINT, "rs")
    for c in range(0, classes, max(1, classes // 12)):
        few = max(2, int(wide / 6))
        name = clip(result.graph.names[c], few)
        sheet.text(left + (c + 0.5) * wide, top + clients * high + 14, name, 10, FAINT, "ms")


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue


@cache
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size * FINE)
