"""What pages do while nobody waits: whose turn it is, maps placed late, work ahead of a click.

Work in the background changes when a result is there, never what it is. Every visitor's work is
its own: a new result cancels what the same visitor had under way, nobody else's.
"""

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
import torch
from streamlit.runtime.scriptrunner import get_script_run_ctx
from torch import Tensor

from spear_core import Graph, Result, Settings
from spear_core.client import Uploads
from spear_core.embed import Job, Jobs, Map
from spear_core.embed.nodes import Pause, no_pause
from spear_core.powers import forget_tested, keep_z, kept_z, tested_powers, z_key
from spear_core.propagate import propagate

PATIENCE = 0.4  # seconds that a run and its map may take on a large graph before the page goes on
ROOM = 500_000_000  # bytes of the test nodes' features kept with a graph
LONGEST = 2.0  # seconds that a piece of work waits for pages, however busy they are
AT_ONCE = 32  # columns propagated between two pauses

# -- turns: on few cores both at once take longer than one after the other, and a page is looked at

_pages = 0
_changed = threading.Condition()


@contextmanager
def pages_first() -> Iterator[None]:
    """Hold the work in the background while the block runs."""
    global _pages
    with _changed:
        _pages += 1
    try:
        yield
    finally:
        with _changed:
            _pages -= 1
            if _pages == 0:
                _changed.notify_all()


def wait_for_pages() -> None:
    """For threads in the background, between two pieces of work; a page's own goes on at once."""
    if get_script_run_ctx(suppress_warning=True) is not None:
        return
    with _changed:
        _changed.wait_for(lambda: _pages == 0, timeout=LONGEST)


def by_timer() -> bool:
    """Whether a fragment runs by its timer: a rerun inside a run of the page cuts that short."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


# -- what one visitor has under way

_ahead = Jobs()
_places = Jobs()  # the last to be made, the first to end: what is made ahead waits for places


class Visitor:
    """The last map that was placed for one visitor, and the work for the present result."""

    def __init__(self) -> None:
        self.placed: tuple[Map, Result] | None = None
        self._result: Result | None = None
        self.placing: Job[None] | None = None
        self.preparing: Job[None] | None = None

    def place(
        self, result: Result, make: Callable[[Pause], Map], patience: float | None
    ) -> tuple[Map, Result]:
        """The map to draw and the result on it: this one, or the last one while this is made.

        `make` gives the map of this result, at once if it was made before. Without `patience`,
        seconds, it is waited for however long it takes.
        """
        self._want(result)
        if patience is not None and self.placed is not None:
            if self.placing is None:
                self.placing = _places.ask(object(), lambda job: _made(make, job))
            if not self.placing.ended.wait(max(0.0, patience - result.method_seconds)):
                return self.placed
        self.placed = make(no_pause), result
        return self.placed

    def prepare(self, result: Result, most_steps: int) -> None:
        """Make ahead what the next click can use, once every map is placed."""
        self._want(result)

        def work(job: Job[None]) -> None:
            def pause() -> None:
                job.pause()
                wait_for_pages()
                _places.join(10)

            prepare(result.graph, result.sent, result.settings, most_steps, pause)

        if self.preparing is None or self.preparing.done:
            self.preparing = _ahead.ask(object(), work)

    def _want(self, result: Result) -> None:
        """Cancel this visitor's work for another result."""
        if self._result is not result:
            for job in filter(None, (self.placing, self.preparing)):
                job.cancel()
            self._result, self.placing, self.preparing = result, None, None


def visitor() -> Visitor:
    """Of the session that runs."""
    return st.session_state.setdefault("_background", Visitor())


def _made(make: Callable[[Pause], Map], job: Job[None]) -> None:
    def pause() -> None:
        job.pause()
        wait_for_pages()

    make(pause)


# -- work ahead of the next run on the same graph and partition


def prepare(graph: Graph, sent: Uploads, settings: Settings, most_steps: int, pause: Pause) -> None:
    """Make what gives every α and T up to `most_steps` at once; `pause` may raise.

    Kept are the test nodes' features after every number of steps, of which those of any α and T
    are a mixture, and each client's sums of the same kind, which serve every α, T and γ on its
    split. A run reads what is there. It is made for dense features, where it is small and
    propagations are what takes long.
    """
    if graph.features.layout == torch.sparse_csr or settings.alpha == 0:
        return

    rows = (graph.test_nodes, graph.test_operator)

    def smooth(x: Tensor, alpha: float, steps: int, rows: tuple[Tensor, Tensor] | None) -> Tensor:
        parts = []
        for some in x.split(AT_ONCE, dim=1):
            pause()
            parts.append(propagate(graph.operator, some, alpha, steps, rows))
        return torch.cat(parts, dim=1)

    def make(t: int, whole: Tensor | None) -> tuple[Tensor, Tensor]:
        if whole is None:
            return graph.features, graph.features.index_select(0, graph.test_nodes)
        if t > 1:  # one behind: the last product is made for the test nodes alone
            whole = smooth(whole, 1.0, 1, None)
        return whole, smooth(whole, 1.0, 1, rows)

    _only(graph)
    now = z_key(settings)
    most_kept = ROOM // (4 * max(1, len(graph.test_nodes)) * graph.num_features) - 1
    powers = tested_powers(graph)
    powers.grow(min(now[1], most_kept), make)  # what is needed now comes first
    if most_kept >= 0 and kept_z(graph, settings) is None:  # no room for so many steps
        keep_z(graph, settings, smooth(graph.features, *now, rows))
    if sent.source is not None:
        sent.source.prepare(most_steps, pause)
    powers.grow(min(most_steps, most_kept), make).let_go()


_last: weakref.ref[Graph] | None = None


def _only(graph: Graph) -> None:
    """One graph at a time: what was kept with the last one goes."""
    global _last
    before = _last() if _last else None
    if before is not None and before is not graph:
        forget_tested(before)
    _last = weakref.ref(graph)
