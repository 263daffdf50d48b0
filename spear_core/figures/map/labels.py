"""Where the names of classes stand on a map, so that none lies over another."""

from collections.abc import Sequence

import numpy as np

SCREEN = (540.0, 330.0)  # px of the smallest map on a desk; on a larger one there is more room
LETTER, LINE = 7.6, 17.0  # px of bold type
SIDES = (  # the first that is free
    *("top center", "bottom center", "middle right", "middle left"),
    *("top right", "top left", "bottom right", "bottom left"),
)
RAISED = {"top": "{}<br> ", "bottom": " <br>{}", "middle": "\u2002{}\u2002"}  # clear of a star

Box = tuple[float, float, float, float]  # from left to right, from top to bottom


def named(xy: np.ndarray, names: Sequence[str], spans: Sequence[float]) -> list[tuple[str, str]]:
    """The text and the side of each name; one that fits nowhere is left to the legend.

    `spans` is how far the map reaches from left to right and from top to bottom.
    """
    taken: list[Box] = []
    out = []
    for (x, y), name in zip(xy.tolist(), names, strict=True):
        at = (SCREEN[0] * x / spans[0], -SCREEN[1] * y / spans[1])
        boxes = {side: _box(at, side, LETTER * len(name)) for side in SIDES}
        free = (s for s, box in boxes.items() if not any(_meet(box, other) for other in taken))
        side = next(free, None)
        if side is None:
            out.append(("", SIDES[0]))
        else:
            taken.append(boxes[side])
            out.append((RAISED[side.split()[0]].format(f"<b>{name}</b>"), side))
    return out


def _box(at: tuple[float, float], side: str, wide: float) -> Box:
    """Where a name lies on the smallest map."""
    up, along = side.split()
    left = at[0] - {"left": wide, "center": wide / 2, "right": 0}[along]
    top = at[1] - {"top": 2 * LINE, "middle": LINE / 2, "bottom": -LINE}[up]
    if up == "middle":
        left += LINE / 2 if along == "right" else -LINE / 2
    return left, left + wide, top, top + LINE


def _meet(one: Box, two: Box) -> bool:
    return one[0] < two[1] and two[0] < one[1] and one[2] < two[3] and two[2] < one[3]
