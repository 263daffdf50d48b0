"""Edges deleted and added at random inside groups of nodes, exactly as many as asked for."""

import numpy as np
import torch

from spear_core.graph import Graph
from spear_core.wanted import still_wanted


def rewired(graph: Graph, group: np.ndarray, rate: float, rng: np.random.Generator) -> torch.Tensor:
    """`edge_index` with ρE/2 of the E edges inside every group deleted and as many added.

    A larger rate deletes and adds all that a smaller one does. Where the graph is symmetric, both
    directions go together and count as one edge. Self-loops stay. A group that has no room for
    that many new edges takes what fits.
    """
    n, symmetric = graph.num_nodes, graph.adjacency.symmetric
    index = graph.edge_index.cpu().numpy()
    key = index[0] * n + index[1]  # an edge as one number
    if not (key[1:] > key[:-1]).all():
        key = np.sort(key)
        index = np.stack([key // n, key % n])
    source, target = index
    may = (source < target) if symmetric else (source != target)
    place = np.flatnonzero(may & (group[source] == group[target]))
    of = group[source[place]]
    edges = np.bincount(of, minlength=group.max() + 1)  # (K)
    amount = np.rint(rate / 2 * edges).astype(np.int64)
    if not amount.any():
        return graph.edge_index
    order = rng.permutation(len(place))
    gone = place[order[_first(of[order], amount)]]
    still_wanted()
    new = _absent(key, n, symmetric, group, edges, amount, rng)
    still_wanted()
    keep = np.ones(len(key), dtype=bool)
    keep[gone] = False
    if symmetric:
        back = np.sort(target[gone] * n + source[gone])  # looked up faster in order
        keep[np.searchsorted(key, back)] = False
        new = np.concatenate([new, new % n * n + new // n])
    key = np.sort(np.concatenate([key[keep], new]))
    return torch.as_tensor(np.stack([key // n, key % n]), device=graph.device)


def _absent(
    key: np.ndarray,
    n: int,
    symmetric: bool,
    group: np.ndarray,
    edges: np.ndarray,
    amount: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """For every group so many pairs of its nodes without an edge, all as likely, as numbers.

    Pairs are drawn with repeats and those that cannot be used are passed over; in a dense group,
    where that might run dry, all pairs are listed instead.
    """
    size = np.bincount(group, minlength=len(edges))
    member, start = np.argsort(group, kind="stable"), np.cumsum(size) - size
    dense = size * (size - 1) // 2 <= 8 * edges + 64
    of = np.repeat(np.arange(len(edges)), np.where(dense, 0, edges + 32))
    drawn = (rng.random((2, len(of))) * size[of]).astype(np.int64)
    parts, ends = [of], [member[start[of] + drawn]]
    for k in np.flatnonzero(dense & (edges > 0)):
        pairs = np.indices((size[k], size[k])).reshape(2, -1)
        parts.append(np.full(pairs.shape[1], k))
        ends.append(member[start[k] + pairs[:, rng.permutation(pairs.shape[1])]])
    of, (i, j) = np.concatenate(parts), np.concatenate(ends, axis=1)
    pair = np.minimum(i, j) * n + np.maximum(i, j) if symmetric else i * n + j
    once, where = np.unique(pair, return_index=True)
    there = key[np.minimum(np.searchsorted(key, once), len(key) - 1)] == once
    use = np.sort(where[~there])
    use = use[i[use] != j[use]]
    return pair[use[_first(of[use], amount)]]


def _first(group: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """Where the first `amount[k]` members of every group k stand."""
    small = group.astype(np.min_scalar_type(len(amount)))  # sorted faster
    order = np.argsort(small, kind="stable")
    count = np.bincount(group, minlength=len(amount))
    rank = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    return order[rank < amount[group[order]]]
