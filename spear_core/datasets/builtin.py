"""Two graphs that need no download: handwritten digits and the karate club."""

import numpy as np


def digits() -> dict[str, np.ndarray]:
    """1,797 pictures of 8 × 8, joined to their 10 nearest neighbours by cosine, both ways.

    One fixed split: the first 20 of each class train, the next 500 val, the next 1,000 test.
    """
    from sklearn.datasets import load_digits

    data = load_digits()
    x, y = data.data.astype(np.float32), data.target
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    near = unit @ unit.T
    np.fill_diagonal(near, -1)
    neighbours = np.argsort(-near, axis=1, kind="stable")[:, :10]
    source = np.repeat(np.arange(len(x)), 10)
    target = neighbours.ravel()
    both = np.unique(np.stack([np.r_[source, target], np.r_[target, source]]), axis=1)
    order = np.random.RandomState(0).permutation(len(x))
    train = np.zeros(len(x), dtype=bool)
    for c in range(10):
        train[order[y[order] == c][:20]] = True
    rest = order[~train[order]]
    val, test = np.zeros_like(train), np.zeros_like(train)
    val[rest[:500]] = True
    test[rest[500:1500]] = True
    names = np.array([str(c) for c in range(10)])
    return {
        "x": x,
        "edge_index": both,
        "y": y.astype(np.int64),
        "train": train,
        "val": val,
        "test": test,
        "class_names": names,
    }


def karate() -> dict[str, np.ndarray]:
    """34 members, friendships outside the club as edges, the two factions as classes.

    Features are the identity; the first five members of each faction train, the rest are tested.
    """
    import networkx as nx

    edges = np.array(nx.karate_club_graph().edges()).T
    both = np.unique(np.concatenate([edges, edges[::-1]], axis=1), axis=1)
    club = nx.karate_club_graph().nodes(data="club")
    y = np.array([0 if faction == "Mr. Hi" else 1 for _, faction in club])
    train = np.zeros(34, dtype=bool)
    for c in (0, 1):
        train[np.flatnonzero(y == c)[:5]] = True
    return {
        "x": np.eye(34, dtype=np.float32),
        "edge_index": both,
        "y": y,
        "train": train,
        "val": np.zeros(34, dtype=bool),
        "test": ~train,
        "class_names": np.array(["instructor", "officer"]),
    }
