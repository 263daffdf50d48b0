"""What the explorer shows: numbers, the map, λ, silhouettes, a card, each in its place."""

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as ui

from spear_core import figures
from spear_core.embed import Map
from spear_core.explain.node import View
from spear_core.explain.references import PLAIN
from spear_core.explain.summary import summary
from spear_core.figures.map import alt_text, map_figure
from spear_core.run import Result
from spear_core.widgets import words
from spear_core.widgets.live import Live

LEAN = "Who leans on the others: λ, click a cell"
UNREAD = "Who leans on the others: λ of SPEAR, which the ridge head does not read"
HEIGHT = 500  # of the map


class Panels:
    """The parts of the explorer but its controls; `picked` is called with what a click chose."""

    def __init__(self, picked: Callable[[Any], None]) -> None:
        self.map = Live("live-map", picked)
        self.weights = Live("live-chart", picked)
        self.strip, self.silhouettes = Live("live-chart"), Live("live-chart")
        self.number, self.further, self.tight = ui.HTML(), ui.HTML(), ui.HTML()
        self.said, self.wrong, self.state = ui.HTML(), ui.HTML(), ui.HTML()
        self.lean, self.weight, self.card = ui.HTML(), ui.HTML(), ui.HTML()
        strip = ui.VBox([ui.HTML(words.caption("accuracy, from 0 to 100 %")), self.strip])
        self.seeds = ui.HBox([self.further, strip])
        self.tightness = ui.VBox([self.tight, self.silhouettes])
        self.late = ui.HBox([self.seeds, self.tightness]).add_class("spear-late")

    def laid_out(self, controls: ui.Widget) -> list[ui.Widget]:
        """The parts in their places."""
        top = ui.HBox([self.number, self.late]).add_class("spear-top")
        middle = ui.VBox([self.map, self.state]).add_class("spear-middle")
        right = ui.VBox([self.lean, self.weights, self.weight, self.card]).add_class("spear-right")
        below = ui.HBox([controls, middle, right]).add_class("spear-below")
        return [top, self.wrong, self.said.add_class("spear-said"), below]

    def tell(self, sentence: str) -> None:
        """What is under way, below the map."""
        self.state.value = words.caption(sentence)

    def complain(self, sentence: str) -> None:
        """What went wrong, above the map; nothing takes it away again."""
        self.wrong.value = words.error(sentence)

    def draw_number(self, result: Result, before: Result | None) -> None:
        """The accuracy; what comes later is dimmed until it is there."""
        self.number.value = words.number(result, before)
        for late in (self.seeds, self.tightness, self.said):
            late.add_class("spear-stale")

    def draw_map(
        self,
        plane: Map,
        result: Result,
        before: Result | None,
        chosen: tuple[int, int] | None,
        view: View | None,
    ) -> None:
        """The map, and the card of the node that was asked."""
        figure = map_figure(plane, result, before=before, chosen=chosen, view=view)
        figure.layout.meta["nodes"] |= {"asked": view is not None}
        figure.layout.height = HEIGHT
        self.map.draw(figure, alt_text(plane, result), words.in_a_line(result.settings))
        self.card.value = words.card(result, view)

    def draw_weights(self, result: Result, chosen: tuple[int, int] | None) -> None:
        """λ, and the formula of the one that was chosen."""
        alt = f"λ of {len(result.uploads.label)} prototypes by client and class."
        self.weights.draw(figures.weights(result, chosen), alt)
        self.lean.value = words.caption(LEAN if result.estimate.ridge is None else UNREAD)
        self.weight.value = words.weight(result, chosen)

    def draw_further(
        self, result: Result, seeds: Sequence[float], simpler: dict[str, float]
    ) -> None:
        """The spread over seeds, and the run in words and beside what simpler averages reach."""
        accuracy, plain = result.metrics.accuracy, simpler.get(PLAIN)
        self.further.value = words.further(accuracy, seeds, plain)
        self.said.value = words.caption(summary(result, plain))
        if accuracy is not None:
            figure = figures.accuracy_strip(accuracy, seeds, simpler)
            self.strip.draw(figure, "Accuracy of this run, its seeds and references.")
        self.seeds.remove_class("spear-stale")
        self.said.remove_class("spear-stale")

    def draw_silhouettes(self, result: Result) -> None:
        """How tightly the classes lie together, before and after smoothing."""
        told = words.silhouette(result)
        self.silhouettes.draw(figures.silhouettes(result), f"{told}, raw to smoothed.")
        self.tight.value = words.caption(told)
        self.tightness.remove_class("spear-stale")
