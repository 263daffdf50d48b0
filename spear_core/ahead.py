"""Work done ahead of the next run on the same graph and partition, while nobody waits for it.

`prepare` keeps the test nodes' features after every number of steps, of which those of any α and T
are a mixture, and each client's sums of the same kind, which serve every α, T and γ on its split. A
run reads what is there and gives the same labels without it, only later. It is made for dense
features, where it is small and propagations are what takes long.
"""

import weakref
from collections.abc import Callable

import torch
from torch import Tensor

from spear_core.client import Uploads
from spear_core.graph import Graph
from spear_core.powers import kept_z, tested_powers, z_key
from spear_core.propagate import propagate
from spear_core.settings import Settings

ROOM = 500_000_000  # bytes of the test nodes' features kept with a graph
AT_ONCE = 32  # columns propagated between two pauses

_last: Callable[[], Graph | None] = lambda: None  # noqa: E731  a weak reference


def prepare(
    graph: Graph, sent: Uploads, settings: Settings, most_steps: int, pause: Callable[[], None]
) -> None:
    """Make both, for T up to `most_steps`; `pause` is called often and may raise."""
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
    powers = tested_powers(graph).grow(
        min(now[1], most_kept), make
    )  # what is needed now comes first
    if most_kept >= 0 and kept_z(graph, settings) is None:  # no room for so many steps
        graph.__dict__["_kept_z"] = now, smooth(graph.features, *now, rows)
    sent.prepare(most_steps, pause)
    powers.grow(min(most_steps, most_kept), make).let_go()


def _only(graph: Graph) -> None:
    """One graph at a time: what was kept with the last one goes."""
    global _last
    before = _last()
    if before is not None and before is not graph:
        before.__dict__.pop("_test_powers", None)
        before.__dict__.pop("_kept_z", None)
    _last = weakref.ref(graph)
