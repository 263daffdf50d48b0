"""Features where none are given: who a node is, how walks from it return, how many it knows."""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, identity

from spear_core.errors import DataDamaged
from spear_core.randomness import generator
from spear_core.wanted import still_wanted

MOST_IDENTITY = 20_000  # nodes up to which every node is its own feature by default
RETURNS = 16  # steps of a walk
EXACT = 2e9  # products for exact return probabilities; with more they are estimated ...
PROBES = 256  # ... with so many random signs
MOST_DEGREE = 64  # degrees up to here have a column each, larger ones one for every doubling

WORDS = {
    "identity": "No features were given: every node is its own feature (identity).",
    "structural": "No features were given: the probabilities that a walk from a node is back there "
    f"after 1 to {RETURNS} steps (structural).",
    "degree": "No features were given: the number of a node's neighbours (degree).",
}


def made_features(kind: str, edges: np.ndarray, n: int, notes: list[str]) -> tuple[Any, list[str]]:
    """Features of a kind and their names; without a kind identity, structural where it is large."""
    kind = kind or ("identity" if n <= MOST_IDENTITY else "structural")
    notes.append(WORDS[kind])
    if kind == "identity":
        if n > 10**5:
            raise DataDamaged(
                f"identity features of {n:,} nodes are too many; use structural or degree."
            )
        return identity(n, dtype=np.float32, format="csr"), [f"node {i}" for i in range(n)]
    others = edges[:, edges[0] != edges[1]]
    if kind == "degree":
        return _degrees(np.bincount(others[0], minlength=n))
    return _returns(others, n)


def _degrees(degree: np.ndarray) -> tuple[Any, list[str]]:
    """One column for every degree, for large ones one a doubling."""
    double = np.floor(np.log2(np.maximum(degree, 1) / MOST_DEGREE)).astype(np.int64)
    place = np.where(degree < MOST_DEGREE, degree, MOST_DEGREE + np.maximum(double, 0))
    used, column = np.unique(place, return_inverse=True)
    n = len(degree)
    x = csr_matrix((np.ones(n, np.float32), column, np.arange(n + 1)), (n, len(used)))
    names = [
        f"{p} neighbours" if p < MOST_DEGREE else f"{2 ** (p - MOST_DEGREE) * MOST_DEGREE} or more"
        for p in used.tolist()
    ]
    return x, names


def _returns(edges: np.ndarray, n: int) -> tuple[Any, list[str]]:
    """Probability that a random walk from a node is back there after t steps, (N, RETURNS)."""
    degree = np.bincount(edges[0], minlength=n)
    weight = 1 / np.maximum(degree, 1)[edges[0]]
    walk = csr_matrix((weight, (edges[0], edges[1])), (n, n))
    found = np.zeros((n, RETURNS), dtype=np.float64)
    if edges.shape[1] * n * RETURNS <= EXACT:
        for start in range(0, n, 256):
            some = np.arange(start, min(start + 256, n))
            at = np.zeros((n, len(some)))
            at[some, np.arange(len(some))] = 1
            for t in range(RETURNS):
                still_wanted()
                at = walk @ at
                found[some, t] = at[some, np.arange(len(some))]
    else:  # the diagonal of a power, by random signs
        rng = generator(0, "returns")
        for _ in range(PROBES // 16):
            signs = rng.choice([-1.0, 1.0], size=(n, 16))
            at = signs
            for t in range(RETURNS):
                still_wanted()
                at = walk @ at
                found[:, t] += (signs * at).sum(1)
        found = np.maximum(found / PROBES, 0)
    return found.astype(np.float32), [f"back after {t + 1}" for t in range(RETURNS)]
