"""Work done ahead of the next run on the same graph and partition, while nobody waits for it.

`prepare` keeps two things: the smoothed features of the test nodes, which serve every split and γ
at this α and T, and each client's sums for every power of the operator, which serve every α, T and
γ on this split. A run reads them where they are there and gives the same labels without them, only
later. They are made for dense features, where they are small and a propagation is what takes long.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from spear_core.client import Uploads
from spear_core.graph import Graph
from spear_core.propagate import enough_steps, propagate
from spear_core.settings import Settings

AT_ONCE = 32  # columns propagated between two pauses


def prepare(
    graph: Graph, sent: Uploads, settings: Settings, most_steps: int, pause: Callable[[], None]
) -> None:
    """Make both, for T up to `most_steps` at this α; `pause` is called often and may raise."""
    if graph.features.layout == torch.sparse_csr or settings.alpha == 0:
        return
    if kept_z(graph, settings) is None:
        rows, parts = (graph.test_nodes, graph.test_operator), []
        for some in graph.features.split(AT_ONCE, dim=1):
            pause()
            parts.append(propagate(graph.operator, some, *_key(settings), rows))
        graph.__dict__["_kept_z"] = (_key(settings), torch.cat(parts, dim=1))
    sent.prepare(most_steps, pause)


def kept_z(graph: Graph, settings: Settings) -> Tensor | None:
    """The smoothed features of the test nodes (M, F), if they were made for this α and T."""
    key, z = graph.__dict__.get("_kept_z", (None, None))
    return z if key == _key(settings) else None


def _key(settings: Settings) -> tuple[float, int]:
    return settings.alpha, enough_steps(settings.alpha, settings.steps)
