"""What pages do while nobody waits: maps placed late, work ahead of a click, turns with the page.

Work in the background changes when a result is there, never what it is. Every visitor's work is
its own: a new result cancels what the same visitor had under way, and a page that runs holds that
up, nobody else's. A visitor who closes the tab waits for nothing; one who comes back finds the page
drawn anew.
"""

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from weakref import ref

import streamlit as st
import torch
from streamlit.runtime.scriptrunner import get_script_run_ctx
from torch import Tensor

from spear_core import Graph, Result, Settings
from spear_core.client import Uploads
from spear_core.embed import Job, Jobs, Map, maps
from spear_core.embed.nodes import Pause, no_pause
from spear_core.lance.gate import at_test
from spear_core.memory import budget
from spear_core.memory.allocator import few_arenas
from spear_core.powers import keep_z, kept_z, propagate_slowly, tested_powers, z_key
from spear_core.propagate import propagate
from spear_core.wanted import while_wanted

PATIENCE = 0.4  # seconds that a run and its map may take on a large graph before the page goes on
ROOM = 500_000_000  # bytes of the test nodes' features kept with a graph, and of sums ...
ROOM_SHARE = 0.25  # ... at most this part of the budget each
LONGEST = 2.0  # seconds that a piece of work waits for pages, however busy they are

few_arenas()  # every run of a page is a new thread


def by_timer() -> bool:
    """Whether a fragment runs by its timer: a rerun inside a run of the page cuts that short."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


# -- what one visitor has under way


class Visitor:
    """The last map that was placed for one visitor, and the work for the present result.

    Maps and results themselves stay on their shelves, within the budget. On few cores a page and
    the work behind it take longer at once than one after the other, and the page is looked at.
    """

    def __init__(self) -> None:
        self._pages, self._changed = 0, threading.Condition()
        self._placed: tuple[ref[Map], ref[Result]] | None = None
        self._result: ref[Result] | None = None
        self._ahead, self._places = Jobs(), Jobs()
        self.placing: Job[None] | None = None
        self.preparing: Job[None] | None = None
        self._view: Hashable = None
        self._fits: set[Job[str]] = set()  # asked for since the page began

    @contextmanager
    def pages_first(self) -> Iterator[None]:
        """Hold this visitor's work in the background while the block runs."""
        with self._changed:
            self._pages += 1
        try:
            yield
        finally:
            with self._changed:
                self._pages -= 1
                self._changed.notify_all()

    def wait_for_pages(self) -> None:
        """For threads in the background, between two pieces of work; a page's own goes on."""
        if get_script_run_ctx(suppress_warning=True) is not None:
            return
        with self._changed:
            self._changed.wait_for(lambda: self._pages == 0, timeout=LONGEST)

    def place(
        self, result: Result, make: Callable[[Pause], Map], patience: float | None
    ) -> tuple[Map, Result]:
        """The map to draw and the result on it: this one, or the last one while this is made.

        `make` gives the map of this result, at once if it was made before. Without `patience`,
        seconds, it is waited for however long it takes.
        """
        self._want(result)
        last = self.placed
        if patience is not None and last is not None:
            if self.placing is None:
                self.placing = self._places.ask(object(), lambda job: self._made(make, job))
            if not self.placing.ended.wait(max(0.0, patience - result.spent_seconds)):
                return last
        made = make(no_pause)
        self._placed = ref(made), ref(result)
        return made, result

    @property
    def placed(self) -> tuple[Map, Result] | None:
        """The last map and the result on it, while both are kept."""
        if self._placed is None:
            return None
        made, result = self._placed[0](), self._placed[1]()
        return (made, result) if made and result else None

    def prepare(self, result: Result, most_steps: int) -> None:
        """Make ahead what the next click can use, once the visitor's map is placed."""
        self._want(result)
        placing = self.placing

        def work(job: Job[None]) -> None:
            def pause() -> None:
                self.wait_for_pages()
                if placing is not None:
                    placing.ended.wait(10)
                job.pause()

            prepare(result.graph, result.sent, result.settings, most_steps, pause)

        if self.preparing is None or self.preparing.done:
            self.preparing = self._ahead.ask(object(), work)

    def fit(self, graph: Graph, alpha: float, steps: int) -> Job[str]:
        """The job that fits a UMAP; it is this visitor's until a page does not ask for it."""
        job = maps.background_fit(graph, alpha, steps, self.wait_for_pages, by=self)
        self._fits.add(job)
        return job

    def begin(self, view: Hashable) -> None:
        """A page is drawn; in another view than the last one's its UMAPs are not waited for."""
        self._fits = set()
        if view != self._view:
            self._view = view
            maps.jobs.leave(self)

    def end(self) -> None:
        """The page is drawn: what it did not ask for is not waited for."""
        maps.jobs.leave(self, but=self._fits)

    def leave(self) -> None:
        """The tab was closed."""
        self._want(None)
        maps.jobs.leave(self, grace=0)  # who has gone asks for nothing more

    def _made(self, make: Callable[[Pause], Map], job: Job[None]) -> None:
        def pause() -> None:
            job.pause()
            self.wait_for_pages()

        make(pause)

    def _want(self, result: Result | None) -> None:
        """Cancel this visitor's work for another result."""
        if (self._result() if self._result else None) is not result:
            for job in filter(None, (self.placing, self.preparing)):
                job.cancel()
            self._result = ref(result) if result else None
            self.placing = self.preparing = None


def visitor() -> Visitor:
    """Of the session that runs."""
    own: Visitor = st.session_state.setdefault("_background", Visitor())
    return _present(own, id(own))


@st.cache_resource(scope="session", on_release=Visitor.leave, show_spinner=False)
def _present(_visitor: Visitor, number: int) -> Visitor:
    """The visitor, until Streamlit lets the session's resources go: then the tab was closed."""
    return _visitor


def pages_first() -> AbstractContextManager[None]:
    """Hold the work of the session that runs while the block does; nobody's outside of one."""
    on_a_page = get_script_run_ctx(suppress_warning=True) is not None
    return visitor().pages_first() if on_a_page else nullcontext()


@contextmanager
def watched(view: Hashable) -> Iterator[None]:
    """Draw a page for as long as its visitor waits for it: to the next click, or until they leave.

    Streamlit then ends the script at the next piece of work, as it does at every `st.` call.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:  # the script is run by itself, for nobody
        yield
        return
    own = visitor()
    own.begin(view)
    with while_wanted(context.yield_check):
        yield
    own.end()


# -- work ahead of the next run on the same graph and partition


def prepare(graph: Graph, sent: Uploads, settings: Settings, most_steps: int, pause: Pause) -> None:
    """Make what gives every α and T up to `most_steps` at once; `pause` may raise.

    Kept are the test nodes' features after every number of steps, of which those of any α and T
    are a mixture, and each client's sums of the same kind, which serve every α, T and γ on its
    split. A run reads what is there. It is made for dense features, where it is small and
    propagations are what takes long.
    """
    settings = at_test(graph, settings)
    if graph.features.layout == torch.sparse_csr or settings.alpha == 0:
        return

    rows = (graph.test_nodes, graph.test_operator)

    def make(t: int, whole: Tensor | None) -> tuple[Tensor, Tensor]:
        if whole is None:
            return graph.features, graph.features.index_select(0, graph.test_nodes)
        if t > 1:  # one behind: the last product is made for the test nodes alone
            whole = propagate(graph.operator, whole, 1.0, 1)
        return whole, propagate(graph.operator, whole, 1.0, 1, rows)

    now, room = z_key(settings), min(ROOM, int(ROOM_SHARE * budget.limit()))
    most_kept = room // (4 * max(1, len(graph.test_nodes)) * graph.num_features) - 1
    powers = tested_powers(graph)
    powers.grow_slowly(min(now[1], most_kept), make, pause)  # what is needed now comes first
    if most_kept >= 0 and kept_z(graph, settings) is None:  # no room for so many steps
        z = propagate_slowly(graph.operator, graph.features, *now, rows, pause)
        keep_z(graph, settings, z)
    sums = 4 * len(sent.label) * graph.num_features * (most_steps + 1)
    if sent.source is not None and sums <= room:
        sent.source.prepare(most_steps, pause)
    powers.grow_slowly(min(most_steps, most_kept), make, pause)
    powers.let_go()
    budget.fit()
