"""`live_map()`: the map of one run, or of two side by side, without the sliders."""

import threading
from typing import Any
from uuid import uuid4

import ipywidgets as ui
import traitlets

from spear_core import embed
from spear_core.embed import Job, Jobs, Map
from spear_core.errors import SettingError
from spear_core.explain.node import check_node, inspect
from spear_core.figures.map import alt_text, map_figure
from spear_core.lance.gate import at_test
from spear_core.run import Result
from spear_core.widgets import still, words
from spear_core.widgets.cell import Cell
from spear_core.widgets.live import Live


class LiveMaps(Cell):
    """One map, or two with their nodes in the same places; `selected` is the node last clicked."""

    selected = traitlets.Int(None, allow_none=True)
    hovered = traitlets.Int(None, allow_none=True)

    def __init__(self, *results: Result) -> None:
        super().__init__()
        self._results, self._guard, self._jobs = results, threading.RLock(), Jobs()
        self._pair = uuid4().hex if len(results) > 1 else ""
        last = results[-1]
        self._s = at_test(last.graph, last.settings)
        self._plane = self._ready() or embed.preview(last.graph, self._s.alpha, self._s.steps)
        self._maps = [Live("live-map", self._picked) for _ in results]
        for one in self._maps:
            one.observe(lambda change: self.set_trait("hovered", change["new"]), "hovered")
        self._state = ui.HTML()
        self._cards = [ui.HTML() for _ in results]
        columns = [ui.VBox([m, c]) for m, c in zip(self._maps, self._cards, strict=True)]
        self.add_class("spear-maps")
        self.children = [ui.HBox(columns).add_class("spear-pair"), self._state]
        self._draw(self._plane)
        if not self._plane.final:
            self._jobs.ask(object(), self._wait_for_umap)

    def _ready(self) -> Map | None:
        return embed.ready(self._results[-1].graph, self._s.alpha, self._s.steps)

    def _draw(self, plane: Map) -> None:
        with self._guard:
            self._plane = plane
            for name, result, other, one, card in zip(
                "AB", self._results, self._results[::-1], self._maps, self._cards, strict=False
            ):
                view = None if self.selected is None else inspect(result, self.selected)
                figure = map_figure(plane, result, view=view)
                figure.layout.meta["nodes"] |= {"asked": view is not None}
                line = words.in_a_line(result.settings)
                if self._pair:
                    figure.layout.meta["pair"] = self._pair
                    apart = words.apart(result.settings, other.settings)
                    figure.layout.annotations[0].text = f"<b>{name}</b> · {apart}"
                one.draw(figure, alt_text(plane, result), line)
                card.value = words.card(result, view)

    def _wait_for_umap(self, job: Job[None]) -> None:
        graph = self._results[-1].graph
        fit = embed.background_fit(graph, self._s.alpha, self._s.steps, by=self)
        while not fit.ended.wait(0.2):
            job.pause()
            self._state.value = words.caption(f"PCA preview shown. {fit.sentence}")
        self._state.value = words.caption(fit.error) if fit.error else ""
        made = self._ready()
        if made is not None:
            self._draw(made)

    def _picked(self, customdata: Any) -> None:
        if isinstance(customdata, dict) and "node" in customdata:
            self.selected = customdata["node"]

    @traitlets.validate("selected")
    def _is_a_node(self, proposal: Any) -> int | None:
        if proposal["value"] is not None:
            check_node(self._results[-1].graph, proposal["value"])
        return proposal["value"]

    @traitlets.observe("selected")
    def _ask(self, change: Any) -> None:
        self._draw(self._plane)

    def still(self) -> tuple[bytes, int, int]:
        return still.pictures(self._plane, self._results)

    def __repr__(self) -> str:
        names = " and ".join(words.in_a_line(result.settings) for result in self._results)
        return f"live_map of {names}"

    def close(self) -> None:
        """End what is under way, and the widget."""
        self._jobs.close()
        super().close()


def live_map(result: Result, other: Result | None = None) -> LiveMaps:
    """The map of a run, to show as the last line of a cell; of two beside each other.

    Both are drawn on the map of the second, so that only the prototypes differ.
    """
    if other is None:
        return LiveMaps(result)
    if (result.graph.name, result.graph.x.shape) != (other.graph.name, other.graph.x.shape):
        raise SettingError(
            f"Two maps beside each other need one dataset, got {result.graph.name} and "
            f"{other.graph.name}; draw each by itself."
        )
    return LiveMaps(result, other)
