"""`Live`: a live map or chart in a notebook, the pages' own script in another host."""

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any
from uuid import uuid4

import anywidget
import plotly.graph_objects as go
import traitlets
from plotly.offline import get_plotlyjs

from spear_core.figures.common import as_json
from spear_core.figures.map.script import SCRIPT, STYLE

_FILES = files("spear_core.widgets")
_ADAPTER = _FILES.joinpath("live_anywidget.js").read_text(encoding="utf-8")
LOOK = _FILES.joinpath("widgets.css").read_text(encoding="utf-8")
KERNEL = uuid4().hex  # which process this is: the browser asks each for Plotly once
BARE = json.dumps({"displayModeBar": False})


class Live(anywidget.AnyWidget):
    """One Plotly node that is updated in place. `picked` is called with what a click has chosen."""

    _esm = SCRIPT + _ADAPTER
    _css = STYLE + LOOK
    kind = traitlets.Unicode("live-map").tag(sync=True)
    drawing = traitlets.Dict().tag(sync=True)
    picks = traitlets.Bool(False).tag(sync=True)
    kernel = traitlets.Unicode(KERNEL).tag(sync=True)
    hovered = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(
        self, kind: str = "live-map", picked: Callable[[Any], None] | None = None, **more: Any
    ) -> None:
        super().__init__(kind=kind, picks=picked is not None, **more)
        self._picked = picked
        self.on_msg(self._asked)

    def draw(self, figure: go.Figure, alt: str, settings: str = "") -> None:
        """Show a figure, `alt` in words; `settings` stands below the title of a saved picture."""
        map_keys = {} if self.kind == "live-map" else {"config": BARE}
        self.drawing = {
            "figure": as_json(figure),
            "alt": alt,
            "height": int(figure.layout.height or 440),
            "saved": {"title": alt, "settings": settings},
            **map_keys,
        }

    def _asked(self, _: Any, content: dict[str, Any], buffers: Any) -> None:
        if content.get("kind") == "plotly?":
            self.send({"kind": "plotly"}, buffers=[_plotly()])
        elif content.get("kind") == "pick" and self._picked:
            self._picked(content["customdata"])


@cache
def _plotly() -> bytes:
    return get_plotlyjs().encode()
