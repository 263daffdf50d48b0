"""A contextual block model: a graph of any size with chosen homophily and feature strength."""

import numpy as np

from spear_core.memory import free
from spear_core.wanted import still_wanted


def needed(nodes: float, degree: float, classes: float, features: float) -> float:
    """Bytes that making the graph and one run on it take at most, about.

    Measured: 62 to 70 bytes for every end of an edge (five columns of 8 while they are drawn, then
    sorted keys, pairs and operators), 12 for a feature (raw, normalised and a copy on the way), 9
    for a node and class while indicators travel.
    """
    return nodes * (70 * degree + 12 * features + 10 * classes)


def synthetic(
    nodes: float, degree: float, classes: float, features: float, homophily: float, strength: float
) -> dict[str, np.ndarray]:
    """Plain arrays of a random graph; the same arguments always give the same graph.

    Labels are uniform. Each of N · degree / 2 edges starts at a random node and ends, with
    probability `homophily`, at a random node of the same class, else at one of another class.
    A node's features are its class mean, a random vector of length `strength`, plus unit noise
    (per node, spread over the F features).
    """
    free.check(needed(nodes, degree, classes, features))
    n, c, f = int(nodes), int(classes), int(features)
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % c)
    by_class = np.argsort(y, kind="stable")
    size = np.bincount(y, minlength=c)
    first = np.cumsum(size) - size
    m = int(n * degree / 2)
    source = rng.integers(0, n, m)
    own = y[source]
    other = (own + rng.integers(1, c, m)) % c
    aim = np.where(rng.random(m) < homophily, own, other)
    still_wanted()
    target = by_class[first[aim] + (rng.random(m) * size[aim]).astype(np.int64)]
    different = source != target
    source, target = source[different], target[different]
    still_wanted()
    key = np.sort(np.concatenate([source * n + target, target * n + source]))
    still_wanted()
    fresh = np.ones(len(key), dtype=bool)
    fresh[1:] = key[1:] != key[:-1]
    key = key[fresh]  # np.unique is many times slower
    mean = rng.standard_normal((c, f), dtype=np.float32)
    mean *= strength / np.linalg.norm(mean, axis=1, keepdims=True)
    still_wanted()
    x = rng.standard_normal((n, f), dtype=np.float32)
    x /= np.float32(np.sqrt(f))
    x += mean[y]
    still_wanted()
    return {"x": x, "edge_index": np.stack([key // n, key % n]), "y": y.astype(np.int64)}
