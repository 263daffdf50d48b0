"""`explore()`: the whole explorer in one cell, whose settings and result the next cell can use."""

import threading
from dataclasses import replace
from typing import Any

import traitlets

from spear_core import embed
from spear_core.datasets import load
from spear_core.embed import Job, Jobs, Map, maps
from spear_core.errors import SpearError
from spear_core.explain.node import check_node, inspect
from spear_core.explain.references import references
from spear_core.figures.map.moves import comparable
from spear_core.figures.map.places import placed
from spear_core.graph import Graph
from spear_core.lance.gate import at_test
from spear_core.measures.spread import percent
from spear_core.memory.budget import remembered
from spear_core.run import Result, run
from spear_core.settings import PAPER_SEEDS, Settings
from spear_core.widgets import still, words
from spear_core.widgets.cell import Cell
from spear_core.widgets.controls import Controls
from spear_core.widgets.panels import Panels

SMALL = 30_000  # nodes up to which further runs (seeds, references) are made after every move
LARGE = 15_000_000  # nodes × features beyond which a map or a silhouette takes seconds
REST = 0.15  # seconds without a move before further runs begin

result_of = remembered(most=16)(run)


@remembered(most=512)
def accuracy_of(settings: Settings, graph: Graph | None) -> float | None:
    """The accuracy of a run that is not looked at further."""
    return run(settings, graph).metrics.accuracy


def map_of(result: Result) -> Map:
    """The map to draw now: the UMAP if it is there, else the preview."""
    graph, s = result.graph, at_test(result.graph, result.settings)
    return embed.ready(graph, s.alpha, s.steps) or embed.preview(graph, s.alpha, s.steps)


class Explorer(Cell):
    """The explorer: sliders, accuracy, the map, λ and silhouettes.

    `settings` can be read, observed and set, and `result` is the run with them. `selected` is the
    node that was clicked last, `hovered` the one under the pointer; None where there is none.
    """

    settings = traitlets.Instance(Settings)
    result = traitlets.Instance(Result, read_only=True)
    selected = traitlets.Int(None, allow_none=True)
    hovered = traitlets.Int(None, allow_none=True)

    def __init__(self, settings: Settings, graph: Graph | None = None) -> None:
        super().__init__()
        self._graph, self._guard, self._jobs = graph, threading.RLock(), Jobs(rest=REST)
        self._placing = threading.Lock()  # a map is made once, whoever needs it first
        self._job: Job[None] | None = None
        self._last: Result | None = None  # of which this is a change
        self._before: Result | None = None
        self._chosen: tuple[int, int] | None = None  # client and class of a prototype
        self._panels = Panels(self._picked)
        self._panels.map.observe(lambda c: self.set_trait("hovered", c["new"]), "hovered")
        self._controls = Controls(settings, self._moved)
        self._controls.by_name["dataset"].disabled = graph is not None
        self.add_class("spear-explorer")
        try:
            self.settings = settings
        except BaseException:
            self.close()
            raise
        self.children = self._panels.laid_out(self._controls.box)

    # -- the settings and the run with them

    @traitlets.validate("settings")
    def _can_be_run(self, proposal: Any) -> Settings:
        """The settings, once there is a run with them: else everything stays as it was."""
        settings: Settings = proposal["value"]
        if self._graph is None:
            load(settings, progress=lambda sentence, part: self._panels.tell(sentence))
        result_of(settings, self._graph).metrics.accuracy  # noqa: B018  computed when read
        return settings

    @traitlets.observe("settings")
    def _follow(self, change: Any) -> None:
        """The number and the map at once, what takes longer in the background."""
        last, now = self._last, result_of(self.settings, self._graph)
        with self._guard:
            if self._job:
                self._job.cancel()
            self._before = last if last and comparable(last, now) else None
            self._last = now
            self.set_trait("result", now)
            if self._before is None:
                self._chosen, self.selected = None, None
            self._panels.complain("")
            self._panels.tell("")
            self._panels.draw_number(now, self._before)
            small = now.graph.num_nodes <= SMALL and now.graph.x.numel() <= LARGE
            if small:
                self._draw_map()
            self._panels.draw_weights(now, self._chosen)
            self._job = self._jobs.ask(object(), lambda job: self._go_on(now, job, small))
        self._controls.put(self.settings)

    def _moved(self, change: dict[str, Any]) -> None:
        """A control was moved: the run follows, or a sentence says why it cannot."""
        try:
            self.settings = replace(self.settings, **change)
        except SpearError as error:
            self._panels.complain(f"{error} Nothing was changed.")
            self._controls.put(self.settings)

    def _draw_map(self) -> None:
        result, node = self.result, self.selected
        view = None if node is None else inspect(result, node)
        self._panels.draw_map(map_of(result), result, self._before, self._chosen, view)

    # -- in the background, until somebody moves on

    def _go_on(self, result: Result, job: Job[None], small: bool) -> None:
        seeds: list[float] = []
        simpler: dict[str, float] = {}
        if not small:
            self._map_is_made(result, job)
        elif result.metrics.accuracy is not None:
            s, graph = result.settings, self._graph
            each = [accuracy_of(replace(s, seed=seed), graph) for seed in PAPER_SEEDS]
            seeds = [value for value in each if value is not None]
            found = {name: accuracy_of(one, graph) for name, one in references(s).items()}
            simpler = {name: value for name, value in found.items() if value is not None}
        with self._guard:
            job.pause()
            self._panels.draw_further(result, seeds, simpler)
        if result.graph.x.numel() <= LARGE:
            words.silhouette(result)  # computed when read
            with self._guard:
                job.pause()
                self._panels.draw_silhouettes(result)
        if not map_of(result).final:
            self._fit(result, job)

    def _fit(self, result: Result, job: Job[None]) -> None:
        """The UMAP in the place of the preview, when it is there."""
        s = at_test(result.graph, result.settings)
        fit = embed.background_fit(result.graph, s.alpha, s.steps, by=self)
        try:
            while not fit.ended.wait(0.1):
                with self._guard:
                    job.pause()
                    self._panels.tell(f"PCA preview shown. {fit.sentence}")
        finally:
            maps.jobs.leave(self)
        with self._guard:
            job.pause()
            self._panels.tell(fit.error or "")
        self._map_is_made(result, job)

    def _map_is_made(self, result: Result, job: Job[None]) -> None:
        self._made_map(result)
        with self._guard:
            job.pause()
            self._draw_map()

    def _made_map(self, result: Result) -> Map:
        with self._placing:
            plane = map_of(result)
            placed(plane, result)
            return plane

    # -- what was chosen

    def _picked(self, customdata: Any) -> None:
        """A node or a prototype of the map, or a cell of λ, was clicked."""
        if isinstance(customdata, list):
            self._choose((int(customdata[0]), int(customdata[1])))
        elif "client" in customdata:
            self._choose((int(customdata["client"]), int(customdata["label"])))
        elif "node" in customdata:
            self.selected = customdata["node"]

    def _choose(self, cell: tuple[int, int]) -> None:
        with self._guard:
            self._chosen = None if self._chosen == cell else cell
            self._panels.draw_weights(self.result, self._chosen)
            self._draw_map()

    @traitlets.validate("selected")
    def _is_a_node(self, proposal: Any) -> int | None:
        if proposal["value"] is not None:
            check_node(self.result.graph, proposal["value"])
        return proposal["value"]

    @traitlets.observe("selected")
    def _ask(self, change: Any) -> None:
        with self._guard:
            self._draw_map()

    # -- without a kernel

    def still(self) -> tuple[bytes, int, int]:
        return still.picture(self._made_map(self.result), self.result)

    def __repr__(self) -> str:
        accuracy = percent(self.result.metrics.accuracy)
        return f"<Explorer: {accuracy} with {words.in_a_line(self.settings)}>"

    def close(self) -> None:
        """End what is under way, and the widget."""
        self._jobs.close()
        super().close()


def explore(settings: Settings | None = None, graph: Graph | None = None) -> Explorer:
    """The explorer, to show as the last line of a cell; on a graph of your own if there is one."""
    return Explorer(settings or Settings(), graph)
