"""LANCE less SPEAR on graphs that nothing was chosen on: `python -m benchmarks.unseen [WORD …]`.

Words of real classes in small graphs of uneven classes, parts of the real graphs, graphs whose
nodes share no feature, built-in ones. Every kind is one graph with fresh splits; printed are
SPEAR's accuracy and what ranks 8 and 32 add, capped and not, in points, means over the splits, with
the standard error of the first. Words choose the kinds whose name has one of them.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from zlib import crc32

import numpy as np
import torch

from spear_core import Graph, Settings, load, make_graph, run
from spear_core.lance import lance

BETAS = (0.05, 1.0, 10.0)
SPLITS = 3
READINGS = {"r8": (8.0, False), "r8 capped": (8.0, True), "r32": (32.0, False)}
READINGS["r32 capped"] = (32.0, True)
SHARES = {"Cornell": (183, (42, 19, 82, 15, 25)), "Wisconsin": (251, (10, 70, 118, 32, 21))}
Made = tuple[np.ndarray, np.ndarray, np.ndarray]  # features, edges, labels
Kind = tuple[str, Callable[[np.random.Generator], Made]]  # how nodes are split, the graph


@cache
def real(name: str) -> Made:
    graph = load(Settings(dataset=name))
    x = graph.x.to_dense() if graph.x.layout == torch.sparse_csr else graph.x
    return x.numpy(), graph.edge_index.numpy(), graph.y.numpy()


def part_of(made: Made, nodes: np.ndarray) -> Made:
    x, edges, y = made
    place = np.full(len(y), -1)
    place[nodes] = np.arange(len(nodes))
    inside = (place[edges] >= 0).all(0)
    return x[nodes], place[edges[:, inside]], np.unique(y[nodes], return_inverse=True)[1]


def drawn(n: int, shares: tuple[float, ...], rng: np.random.Generator) -> np.ndarray:
    y = rng.choice(len(shares), n, p=np.array(shares) / sum(shares))
    y[: len(shares)] = np.arange(len(shares))
    return y


def linked(y: np.ndarray, m: int, homophily: float, rng: np.random.Generator) -> np.ndarray:
    """m edges, both ways; one end is of the same class by `homophily`, and hubs have many."""
    weight = (1 / np.sqrt(1 + np.arange(len(y))))[rng.permutation(len(y))]
    source, same = rng.integers(0, len(y), m), rng.random(m) < homophily
    target = np.empty(m, dtype=np.int64)
    for c in np.unique(y):
        for alike in (True, False):
            p = weight * ((y == c) == alike)
            mine = (y[source] == c) & (same == alike)
            target[mine] = rng.choice(len(y), int(mine.sum()), p=p / p.sum())
    edges = np.stack([source, target])[:, source != target]
    return np.unique(np.concatenate([edges, edges[::-1]], axis=1), axis=1)


def words_of(name: str, like: str) -> Kind:
    """A heterophilous graph of a WebKB size, with feature rows of another graph's classes."""
    n, shares = SHARES[like]

    def make(rng: np.random.Generator) -> Made:
        x, _, theirs = real(name)
        y = drawn(n, shares, rng)
        rows = [rng.choice(np.flatnonzero(theirs == c)) for c in y]
        return x[rows], linked(y, int(1.6 * n), 0.12, rng), y

    return "stratified", make


def random_part(name: str, n: int) -> Kind:
    def make(rng: np.random.Generator) -> Made:
        whole = real(name)
        return part_of(whole, np.sort(rng.choice(len(whole[2]), n, replace=False)))

    return "20/40/40", make


def blurred(rng: np.random.Generator) -> Made:
    """Chameleon with a third of the labels mixed and many more edges, about as hard as Squirrel."""
    x, edges, y = real("Chameleon")
    y = y.copy()
    some = rng.random(len(y)) < 0.35
    y[some] = rng.permutation(y[some])
    return x, np.concatenate([edges, linked(y, 60_000, 0.22, rng)], axis=1), y


def featureless(n: int, shares: tuple[float, ...], degree: int, homophily: float) -> Kind:
    """Every node is a feature of its own: all that is known is in the edges."""

    def make(rng: np.random.Generator) -> Made:
        y = drawn(n, shares, rng)
        return np.eye(n, dtype=np.float32), linked(y, n * degree // 2, homophily, rng), y

    return "20/40/40", make


def sentence(rng: np.random.Generator) -> Made:
    """A chain of words with a few longer links: 18 uneven classes, dense features."""
    n, held = 4000, rng.dirichlet(3 / (1 + np.arange(18)) ** 0.8, 18)
    y = np.zeros(n, dtype=np.int64)
    for i in range(1, n):
        y[i] = rng.choice(18, p=held[y[i - 1]])
    y = np.unique(y, return_inverse=True)[1]
    word = rng.standard_normal((18, 33, 300)) + 0.4 * rng.standard_normal((18, 1, 300))
    x = word[y, np.minimum(rng.zipf(1.5, n), 33) - 1] + 0.5 * rng.standard_normal(300)
    far = np.stack([np.arange(n), np.minimum(np.arange(n) + rng.integers(2, 6, n), n - 1)])
    edges = np.concatenate([np.stack([np.arange(n - 1), np.arange(1, n)]), far[:, ::3]], axis=1)
    edges = edges[:, edges[0] != edges[1]]
    return x.astype(np.float32), np.concatenate([edges, edges[::-1]], axis=1), y


KINDS: dict[str, Kind] = {
    "Texas, fresh splits": ("stratified", lambda _: real("Texas")),
    **{
        f"{like}'s size, words of {name}": words_of(name, like)
        for like in SHARES
        for name in ("CiteSeer", "Cora", "Computers", "Chameleon")
    },
    "Chameleon, blurred, dense": ("stratified", blurred),
    "400 of Actor": random_part("Actor", 400),
    "2,000 of Computers": random_part("Computers", 2000),
    "3,000 of PubMed": random_part("PubMed", 3000),
    "900 of Cora": random_part("Cora", 900),
    "a chain of words": ("20/40/40", sentence),
    "digits": ("20/40/40", lambda _: real("digits")),
    "karate": ("20/40/40", lambda _: real("karate")),
    "synthetic": ("20/40/40", lambda _: real("synthetic")),
    "no shared feature, 60 nodes": featureless(60, (1, 1), 4, 0.9),
    "no shared feature, 400 nodes, uneven": featureless(400, (6, 3, 1), 8, 0.7),
    "no shared feature, 1,000 nodes": featureless(1000, (1, 1, 1, 1), 20, 0.6),
}


def split(made: Made, how: str, rng: np.random.Generator, name: str) -> Graph:
    """The graph with fresh masks: 48/32/20 % of every class, or 20/40/40 % of all nodes."""
    x, edges, y = made
    train, test = np.zeros((2, len(y)), dtype=bool)
    stratified = how == "stratified"
    groups = [np.flatnonzero(y == c) for c in np.unique(y)] if stratified else [np.arange(len(y))]
    low, high = (0.48, 0.8) if stratified else (0.2, 0.6)
    for nodes in map(rng.permutation, groups):
        train[nodes[: max(1, round(low * len(nodes)))]] = True
        test[nodes[round(high * len(nodes)) :]] = True
    return make_graph(x, edges, y, train, None, test & ~train, name=name)


def main(words: list[str]) -> None:
    torch.set_grad_enabled(False)
    print(f"{'kind':38} {'β':>5} {'SPEAR':>6}  " + "  ".join(READINGS))
    for name, (how, make) in KINDS.items():
        if words and not any(word in name for word in words):
            continue
        made = make(np.random.default_rng(crc32(name.encode())))
        rngs = [np.random.default_rng((crc32(name.encode()), i)) for i in range(SPLITS)]
        graphs = [split(made, how, rng, name) for rng in rngs]
        for beta in BETAS:
            found: dict[str, list[float]] = {"SPEAR": [], **{label: [] for label in READINGS}}
            for seed, graph in enumerate(graphs):
                s = Settings(seed=seed, beta=beta, clients=3 if graph.num_nodes < 60 else 10)
                each = {
                    label: replace(lance(s), sketch=rank, sketch_cap=cap)
                    for label, (rank, cap) in READINGS.items()
                }
                for label, one in ({"SPEAR": s} | each).items():
                    found[label].append(100 * (run(one, graph).metrics.accuracy or 0.0))
            spear = np.array(found.pop("SPEAR"))
            more = [np.array(values) - spear for values in found.values()]
            error = more[0].std() / max(len(spear) - 1, 1) ** 0.5
            said = "  ".join(f"{gain.mean():+.1f}" for gain in more)
            print(f"{name:38} {beta:5g} {spear.mean():6.1f}  {said}  ± {error:.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
