"""Datasets at hand rewritten as the tables that people have, on the fly."""

import csv
import io
from pathlib import Path

import numpy as np
import torch

from spear_core import Graph

SPLITS = ("train", "val", "test")


def dense(graph: Graph) -> np.ndarray:
    x = graph.x.to_dense() if graph.x.layout == torch.sparse_csr else graph.x
    return x.numpy()


def split_of(graph: Graph) -> list[str]:
    """train, val, test or nothing for every node."""
    words = np.full(graph.num_nodes, "", dtype=object)
    for part in SPLITS:
        words[getattr(graph, part).numpy()] = part
    return words.tolist()


def text(rows) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def edges_csv(graph: Graph) -> bytes:
    return text([("source", "target"), *graph.edge_index.t().tolist()])


def nodes_csv(graph: Graph, split: bool = True, features: bool = True, name=str) -> bytes:
    """Columns id,label,split,f0,f1,… in the order of the nodes."""
    x = dense(graph)
    head = ["id", "label", *(["split"] if split else [])]
    head += [f"f{i}" for i in range(x.shape[1])] if features else []
    rows = []
    for i, (label, part) in enumerate(zip(graph.y.tolist(), split_of(graph), strict=True)):
        row = [i, name(label), *([part] if split else [])]
        rows.append(row + ([f"{v:.9g}" for v in x[i].tolist()] if features else []))
    return text([head, *rows])


def write(folder: Path, graph: Graph, **more) -> tuple[Path, Path]:
    """Both tables on disk."""
    edges, nodes = folder / "edges.csv", folder / "nodes.csv"
    edges.write_bytes(edges_csv(graph))
    nodes.write_bytes(nodes_csv(graph, **more))
    return edges, nodes
