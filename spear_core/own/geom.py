"""Geom-GCN's text files: features and labels, edges, and up to some published splits."""

import re
from collections.abc import Sequence
from zipfile import BadZipFile, ZipFile

import numpy as np
from scipy.sparse import csr_matrix

from spear_core.datasets.arrays import MASKS, MOST_FEATURES, decoded
from spear_core.errors import DataDamaged
from spear_core.own.draft import Nodes
from spear_core.own.given import Given, check_size, short
from spear_core.own.nodes import NO_LABEL
from spear_core.wanted import still_wanted

FEATURES, EDGES = "node_feature_label.txt", "graph_edges.txt"
SPLIT = re.compile(r"_split_.*?(\d+)\.npz$")


def read_geom(files: Sequence[Given]) -> tuple[Nodes, Given]:
    """The nodes of such a folder, and the file of its edges."""
    found = {end: [f for f in files if f.name.endswith(end)] for end in (FEATURES, EDGES)}
    for end, some in found.items():
        if len(some) != 1:
            raise DataDamaged(
                f"Geom-GCN's folder needs one file that ends in {end}, there are {len(some)}; "
                "give the two text files, and the splits beside them."
            )
    nodes = _nodes(found[FEATURES][0])
    splits = sorted(
        (int(number[1]), f) for f in files if (number := SPLIT.search(f.name)) is not None
    )
    if splits:
        each = [_split(f, len(nodes)) for _, f in splits]
        nodes.masks = np.stack(each, axis=2)
    return nodes, found[EDGES][0]


def _nodes(one: Given) -> Nodes:
    check_size(one.name, 4 * one.size, "would take")
    ids, rows, labels = [], [], []
    with one.open() as file:
        for number, raw in enumerate(file, 1):
            if number % 1000 == 0:
                still_wanted()
            cells = raw.decode("utf-8", "replace").rstrip("\r\n").split("\t")
            if number == 1 or cells == [""]:  # the header
                continue
            if len(cells) != 3:
                raise DataDamaged(
                    f"{one.name}, row {number}, has {len(cells)} cells; give a node, its features "
                    "and its label with tabs between."
                )
            try:
                rows.append(np.array([float(v) for v in cells[1].split(",")], dtype=np.float32))
            except ValueError:
                wrong = next(v for v in cells[1].split(",") if not _number(v))
                raise DataDamaged(
                    f"{one.name}, row {number}, column feature: {short(wrong)!r} is no number."
                ) from None
            ids.append(cells[0].strip())
            labels.append(cells[2].strip())
    if not ids:
        raise DataDamaged(f"{one.name} has no node; give a row a node.")
    order = _ascending(ids)
    ids, labels = [ids[i] for i in order], [labels[i] for i in order]
    rows = [rows[i] for i in order]
    made = Nodes(ids, x=_matrix(one, rows))
    known = sorted({word for word in labels if word not in NO_LABEL}, key=_key(labels))
    if len(known) < 2:
        raise DataDamaged(f"{one.name} has {len(known)} class; give at least two.")
    made.class_names = known
    made.y = np.array([known.index(word) if word in known else -1 for word in labels])
    return made


def _matrix(one: Given, rows: list[np.ndarray]) -> csr_matrix:
    """Whole rows, or the numbers of the features that are 1, as films have them."""
    widths = {len(row) for row in rows}
    if len(widths) == 1 and (widths != {1} or max(row[0] for row in rows) <= 1):
        x = np.stack(rows)
        if not np.isfinite(x).all():
            raise DataDamaged(f"{one.name} has features that are no finite numbers.")
        return csr_matrix(x)
    width = int(max(row.max() for row in rows)) + 1
    if width > MOST_FEATURES or min(row.min() for row in rows) < 0:
        raise DataDamaged(
            f"{one.name} has rows of different lengths that are no numbers of features below "
            f"{MOST_FEATURES:,}; give every row as many features."
        )
    where = [np.unique(row).astype(np.int64) for row in rows]
    crow = np.concatenate([[0], np.cumsum([len(row) for row in where])])
    col = np.concatenate(where)
    return csr_matrix((np.ones(len(col), np.float32), col, crow), (len(rows), width))


def _split(one: Given, nodes: int) -> np.ndarray:
    try:
        with one.open() as file, ZipFile(file) as packed:
            check_size(one.name, sum(part.file_size for part in packed.infolist()), "unpacks to")
            masks = [decoded(packed.read(f"{part}_mask.npy")) for part in MASKS]
        if any(mask.shape != (nodes,) for mask in masks):
            raise ValueError("its masks do not fit the nodes")
        return np.stack([mask.astype(bool) for mask in masks])
    except (BadZipFile, KeyError, ValueError, OSError) as error:
        raise DataDamaged(
            f"{one.name} holds no split ({short(error, 80)}); give masks of every node, or leave "
            "the file out."
        ) from None


def _ascending(ids: list[str]) -> list[int]:
    """Rows in the order of their ids, where these are numbers."""
    rows = list(range(len(ids)))
    return sorted(rows, key=lambda i: float(ids[i])) if all(map(_number, ids)) else rows


def _key(labels: list[str]):  # type: ignore[no-untyped-def]
    return float if all(_number(w) for w in labels if w not in NO_LABEL) else str


def _number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False
