"""What a client keeps at home: its graph as one compact file, or as three plain tables."""

import csv
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch

from spear_core.datasets.arrays import check_graph, read_whole
from spear_core.datasets.own import make_graph
from spear_core.datasets.store import save_whole, writing
from spear_core.errors import DataDamaged, DataMissing
from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.propagate import select_rows, subgraph

TABLES = ("edges.csv", "labels.csv")  # and features.npy or features.csv
UNREADABLE = (ValueError, IndexError, OverflowError, OSError, EOFError, BadZipFile)


def client_graph(partition: Partition, client: int) -> Graph:
    """One client's own nodes with the edges among them, numbered from 0."""
    graph, nodes = partition.graph, partition.nodes_of(client)
    dense = graph.x.layout == torch.strided
    return Graph(
        x=graph.x.index_select(0, nodes) if dense else select_rows(graph.x, nodes),
        edge_index=subgraph(graph.edge_index, nodes, graph.num_nodes),
        y=graph.y[nodes],
        train=graph.train[nodes],
        val=graph.val[nodes],
        test=graph.test[nodes],
        name=f"{graph.name}, client {client}",
        classes=graph.classes,  # also those it does not hold
    )


def write_client(path: Path, graph: Graph) -> None:
    """Keep a client's graph in one file, there whole or not at all."""
    arrays: dict[str, Any] = {
        name: getattr(graph, name).cpu().numpy()
        for name in ("edge_index", "y", "train", "val", "test")
    }
    arrays["classes"] = np.array(graph.classes)
    if graph.x.layout == torch.sparse_csr:
        arrays |= {
            "x_crow": graph.x.crow_indices().cpu().numpy(),
            "x_col": graph.x.col_indices().cpu().numpy(),
            "x_values": graph.x.values().cpu().numpy(),
            "x_shape": np.array(graph.x.shape),
        }
    else:
        arrays["x"] = graph.x.cpu().numpy()
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        save_whole(path, arrays)


def read_client(path: Path) -> Graph:
    """A client's graph from its file, or from a folder with its tables."""
    if path.is_dir():
        return _read_tables(path)
    if not path.is_file():
        raise DataMissing(f"There is no client file {path}; name it as data-path of this node.")
    try:
        arrays = read_whole(path)
        check_graph(arrays, splits=True, others=("classes",))
        x: Any = arrays.get("x")
        if x is None:
            names = ("x_crow", "x_col", "x_values")
            crow, col, values = (torch.from_numpy(arrays[name]) for name in names)
            size = arrays["x_shape"].tolist()
            x = torch.sparse_csr_tensor(crow, col, values, size, device="cpu")
        classes = int(arrays["classes"])
        rest = {name: arrays[name] for name in ("edge_index", "y", "train", "val", "test")}
    except Exception as error:  # whatever is wrong with it
        raise DataDamaged(f"{path} is not a whole client file; export it again.") from error
    return _graph(x, name=path.stem, classes=classes, **rest)


def _read_tables(folder: Path) -> Graph:
    """edges.csv (source,target), features.npy or features.csv, labels.csv (label[,train]).

    A node without a label takes part in smoothing only; without a train column every labelled
    node is a training node.
    """
    lacking = [name for name in TABLES if not (folder / name).is_file()]
    packed, plain = folder / "features.npy", folder / "features.csv"
    if lacking or not (packed.is_file() or plain.is_file()):
        wanted = lacking[0] if lacking else "features.npy"
        raise DataMissing(f"{folder} has no {wanted}; a client folder needs it.")
    try:
        labels = _table(folder / "labels.csv")
        pairs = [[int(a), int(b)] for a, b in _table(folder / "edges.csv")]
        edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        if packed.is_file():
            x = np.array(np.load(packed, mmap_mode="r", allow_pickle=False))
        else:
            x = np.array([[float(v) for v in row] for row in _table(plain)], dtype=np.float32)
        if not labels or x.dtype.kind not in "biuf":
            raise ValueError("there is no row, or a feature is no real number")
        known = np.array([row[0].strip() != "" for row in labels])
        y = np.array([int(row[0]) if row[0].strip() else 0 for row in labels], dtype=np.int64)
        train = (
            np.array([len(row) < 2 or row[1].strip() in ("1", "true") for row in labels]) & known
        )
    except (*UNREADABLE, csv.Error) as error:
        raise DataDamaged(  # the server will read this, so no cell is quoted
            f"{folder} has a table that cannot be read; give numbers, and a row for every node."
        ) from error
    return _graph(x, edges.T, y, train, np.zeros_like(train), known & ~train, name=folder.name)


def _graph(
    x: Any,
    edge_index: Any,
    y: Any,
    train: Any,
    val: Any,
    test: Any,
    name: str,
    classes: int = 0,
) -> Graph:
    """A checked graph; a client may have no training node, then it has nothing to send."""
    some = np.asarray(train).any()
    asked = train if some else np.ones(len(y), dtype=bool)
    made = make_graph(x, edge_index, y, asked, val, test, name).replace(classes=classes)
    return made if some else made.replace(train=torch.zeros_like(made.train))


def _table(path: Path) -> list[list[str]]:
    """The rows of a CSV file below its heading."""
    with path.open(newline="") as lines:
        return list(csv.reader(lines))[1:]
