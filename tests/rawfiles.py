"""Tiny datasets in the raw formats of the public ones, written where the loaders look."""

import gzip
import json
import pickle
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def wikics(root: Path, nodes: int = 30) -> Path:
    """WikiCS/raw/data.json: one-way links, 20 splits, one test mask."""
    r, folder = rng(), root / "WikiCS" / "raw"
    folder.mkdir(parents=True)
    train = (r.random((20, nodes)) < 0.4).tolist()
    data = {
        "features": r.random((nodes, 5)).tolist(),
        "labels": [i % 3 for i in range(nodes)],
        "links": [[(i + 1) % nodes] for i in range(nodes)],
        "train_masks": train,
        "val_masks": (r.random((20, nodes)) < 0.2).tolist(),
        "stopping_masks": (r.random((20, nodes)) < 0.2).tolist(),
        "test_mask": (r.random(nodes) < 0.5).tolist(),
    }
    (folder / "data.json").write_text(json.dumps(data))
    return folder


def roman_empire(root: Path, nodes: int = 30, name: str = "roman_empire") -> Path:
    """HeterophilousGraphDataset/roman_empire/raw/roman_empire.npz: 10 splits."""
    r, folder = rng(), root / "HeterophilousGraphDataset" / name / "raw"
    folder.mkdir(parents=True)
    part = r.integers(0, 3, (10, nodes))
    np.savez(
        folder / f"{name}.npz",
        node_features=r.random((nodes, 5), dtype=np.float32),
        node_labels=np.arange(nodes) % 4,
        edges=np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes], axis=1),
        train_masks=part == 0,
        val_masks=part == 1,
        test_masks=part == 2,
    )
    return folder


def arxiv(root: Path, nodes: int = 30) -> Path:
    """ogbn_arxiv as OGB unpacks it: gzipped csv files, one official split by time."""
    r, folder = rng(), root / "ogbn_arxiv"
    index = np.arange(nodes)
    tables = {
        "raw/edge": np.stack([index, (index + 1) % nodes], axis=1),
        "raw/node-feat": r.standard_normal((nodes, 6)).round(4),
        "raw/node-label": (index % 4)[:, None],
        "raw/node_year": np.full((nodes, 1), 2017),
        "raw/num-node-list": np.array([[nodes]]),
        "raw/num-edge-list": np.array([[nodes]]),
        "split/time/train": index[: nodes // 2, None],
        "split/time/valid": index[nodes // 2 : nodes // 2 + 5, None],
        "split/time/test": index[nodes // 2 + 5 :, None],
    }
    for name, table in tables.items():
        path = folder / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt") as file:
            file.writelines(",".join(str(v) for v in row) + "\n" for row in table.tolist())
    return folder


def amazon(root: Path, name: str = "Photo", nodes: int = 40, **changes: np.ndarray) -> Path:
    """Amazon/Photo/raw/amazon_electronics_photo.npz: features and links as CSR, no split."""
    r, folder = rng(), root / "Amazon" / name / "raw"
    folder.mkdir(parents=True, exist_ok=True)
    attr = sp.csr_matrix((r.random((nodes, 8)) < 0.3).astype(np.float32))
    links = sp.csr_matrix((r.random((nodes, nodes)) < 0.1).astype(np.float32))
    arrays = {
        "attr_data": attr.data,
        "attr_indices": attr.indices,
        "attr_indptr": attr.indptr,
        "attr_shape": np.array(attr.shape),
        "adj_data": links.data,
        "adj_indices": links.indices,
        "adj_indptr": links.indptr,
        "adj_shape": np.array(links.shape),
        "labels": np.arange(nodes) % 4,
        **changes,
    }
    arrays = {key: value for key, value in arrays.items() if value is not None}
    np.savez(folder / f"amazon_electronics_{name.lower()}.npz", **arrays)
    return folder


def webkb(root: Path, name: str = "cornell", nodes: int = 20, splits: int = 10) -> Path:
    """WebKB/cornell/raw: tab-separated text and ten splits."""
    r, folder = rng(), root / "WebKB" / name / "raw"
    folder.mkdir(parents=True)
    lines = ["node_id\tfeature\tlabel"]
    for i in range(nodes):
        lines.append(f"{i}\t{','.join(str(v) for v in r.integers(0, 2, 6))}\t{i % 3}")
    (folder / "out1_node_feature_label.txt").write_text("\n".join(lines) + "\n")
    pairs = [f"{i}\t{(i + 1) % nodes}" for i in range(nodes)]
    (folder / "out1_graph_edges.txt").write_text("\n".join(["a\tb", *pairs]) + "\n")
    for s in range(splits):
        part = r.integers(0, 3, nodes)
        np.savez(
            folder / f"{name}_split_0.6_0.2_{s}.npz",
            train_mask=part == 0,
            val_mask=part == 1,
            test_mask=part == 2,
        )
    return folder


def planetoid(root: Path, name: str = "cora") -> Path:
    """Planetoid/Cora/raw/ind.cora.*: pickles; 8 labelled, 508 in allx, 4 tested."""
    r = rng()
    folder = root / "Planetoid" / {"cora": "Cora", "pubmed": "PubMed"}[name] / "raw"
    folder.mkdir(parents=True)
    n_all, n_test, classes = 508, 4, 2
    x = sp.csr_matrix((r.random((n_all + n_test, 6)) < 0.4).astype(np.float32))
    y = np.eye(classes)[np.arange(n_all + n_test) % classes]
    n = n_all + n_test
    parts = {
        "x": x[:8],
        "y": y[:8],
        "allx": x[:n_all],
        "ally": y[:n_all],
        "tx": x[n_all:],
        "ty": y[n_all:],
        "graph": {i: [(i + 1) % n, (i - 1) % n] for i in range(n)},
    }
    for part, value in parts.items():
        (folder / f"ind.{name}.{part}").write_bytes(pickle.dumps(value, protocol=2))
    index = "".join(f"{i}\n" for i in range(n_all, n))
    (folder / f"ind.{name}.test.index").write_text(index)
    return folder
