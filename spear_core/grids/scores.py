"""What both ways of scoring a grid share: powers at the test nodes, and who wins."""

from collections.abc import Callable

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.propagate import block_width
from spear_core.wanted import still_wanted

BLOCK = 500_000  # scores made at once: they stay in the cache

Put = Callable[[int, int | slice, int | slice | Tensor, int | Tensor], None]
"""Takes the row of w, the γ, the test nodes and the class that won at each."""


def powers_at_tests(
    graph: Graph, x: Tensor, operator: Tensor, test_operator: Tensor, top: int
) -> Tensor:
    """The test rows of x, Â x, …, Â^T x, (T + 1, M, width); a few columns at a time, as runs do."""
    nodes, width = graph.test_nodes, x.shape[1]
    powers = x.new_empty(top + 1, len(nodes), width)
    step = block_width(graph.num_nodes, graph.device)
    for first in range(0, width, step):
        still_wanted()
        columns = slice(first, first + step)
        power = x[:, columns].contiguous()
        powers[0, :, columns] = power.index_select(0, nodes)
        for t in range(1, top):
            power = operator @ power
            powers[t, :, columns] = power.index_select(0, nodes)
        if top:
            powers[top, :, columns] = test_operator @ power
    return powers


def winners(scores: Tensor, least: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
    """The first class over dimension 1 that reaches `least`, and where others do too.

    Shapes (U', G, M') and (L, 3). A comparison that gives 1.0 or 0.0 is quicker than one
    that gives a truth value, and one product then counts and names the classes that reach it.
    Where all scores are zero there is no doubt: the first class wins, whoever adds up.
    """
    still_wanted()
    reaching = torch.ge(scores, least[:, None], out=torch.empty_like(scores))
    tally = torch.stack([torch.ones_like(classes), classes]).to(scores.dtype)
    found = (tally @ reaching.flatten(2)).unflatten(2, scores.shape[2:])  # (U', 2, G, M')
    count, winner = found.unbind(1)
    u, j, m = (count > 1).nonzero(as_tuple=True)
    close = reaching[u, :, j, m] > 0
    winner[u, j, m] = classes[close.to(torch.uint8).argmax(dim=1)].to(winner.dtype)
    doubt = scores[u, :, j, m].any(dim=1)
    return winner, torch.stack([u, j, m], dim=1)[doubt]
