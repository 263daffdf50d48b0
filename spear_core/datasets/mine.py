"""Graphs of one's own, as the cache keeps them: one file each, a named dataset like any other.

A file holds the arrays of a compact graph, the ids of the nodes and the names of the features as
plain text, who owns a node, and `about`: facts as JSON. It is there whole or not at all.
"""

import json
import os
import re
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
import torch

from spear_core.datasets import store
from spear_core.datasets.arrays import check_graph, check_trained, decoded, read_whole
from spear_core.datasets.catalogue import CATALOGUE, plain
from spear_core.datasets.entry import OWN, Entry
from spear_core.errors import DataDamaged, DataMissing, SettingError, one_line
from spear_core.graph import Extra, Graph
from spear_core.memory import budget

Arrays = dict[str, np.ndarray]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", re.ASCII)
ABOUT, OWNER, IDS, WORDS = "about", "owner", "ids", "words"
BESIDE = (ABOUT, OWNER, IDS, WORDS)
MOST_ABOUT = 10**7  # bytes
NO_LABEL_NAME = "no label"  # the last class of a graph in which some nodes have none
BROKEN = (OSError, ValueError, KeyError, TypeError, BadZipFile)

_seen: dict[Path, tuple[tuple[int, int], Entry | None]] = {}  # file -> its state and entry


def entries() -> dict[str, Entry]:
    """What this machine keeps, by name; a file that cannot be read is passed over."""
    found: dict[str, Entry] = {}
    for folder in (root / OWN for root in store.roots()):
        try:
            files = sorted(one.path for one in os.scandir(folder) if one.name.endswith(".npz"))
        except OSError:  # there is none
            continue
        for path in map(Path, files):
            entry = _entry(path)
            if entry is not None:
                found.setdefault(entry.name, entry)
    return found


CATALOGUE.added = entries


def _entry(path: Path) -> Entry | None:
    """The entry of one file, read again when the file has changed."""
    try:
        state = path.stat()
    except OSError:
        return None
    stamp = (state.st_mtime_ns, state.st_size)
    before = _seen.get(path)
    if before is None or before[0] != stamp:
        if before is not None:  # another graph under a name that was in use
            budget.clear()
        _seen[path] = (stamp, _described(path))
    return _seen[path][1]


def _described(path: Path) -> Entry | None:
    if not NAME.fullmatch(path.stem) or path.stem in CATALOGUE.public:
        return None
    try:
        with ZipFile(path) as kept:
            if kept.getinfo(f"{ABOUT}.npy").file_size > MOST_ABOUT:
                return None
            said = json.loads(decoded(kept.read(f"{ABOUT}.npy")).tobytes())
        return Entry(
            path.stem,
            label(said["about"], 57),
            reader=OWN,
            folder=OWN,
            files=(path.name,),
            nodes=int(said["nodes"]),
            edges=int(said["edges"]),
            classes=int(said["classes"]),
            features=int(said["features"]),
            clients=int(said["clients"]),
            splits=bool(said["splits"]),
            drawn=str(said["drawn"]),
            class_names=tuple(label(name) for name in said["class_names"]),
            owners=tuple(label(name) for name in said["owners"]),
            notes=tuple(one_line(note)[:300] for note in said["notes"]),
            unlabelled=bool(said["unlabelled"]),
            text=bool(said["text"]),
        )
    except BROKEN:
        return None


def label(text: object, most: int = 60) -> str:
    """A name as charts and sentences may show it."""
    return store.NO_LABEL.sub("", one_line(text)).strip()[:most] or "?"


def free_name(name: str) -> str:
    """The name, if a graph may be kept under it."""
    if not NAME.fullmatch(name):
        raise SettingError(
            f"{one_line(name)[:40]!r} cannot be the name of a graph; use up to 40 letters, digits, "
            "- and _, beginning with a letter or a digit."
        )
    taken = {plain(one): one for one in CATALOGUE}.get(plain(name))
    if taken is not None:
        own = CATALOGUE[taken].own
        more = f", or remove it first: spear data remove {taken}" if own else ""
        raise SettingError(f"There is a dataset {taken} already; choose another name{more}.")
    return name


def keep(name: str, arrays: Arrays, about: dict[str, Any]) -> Entry:
    """Keep a graph under a free name; whole or not at all."""
    path = store.raw_cache() / OWN / f"{free_name(name)}.npz"
    said = np.frombuffer(json.dumps(about).encode(), np.uint8)
    store.ready(path.parent)
    with store.writing(path.parent):
        store.save_whole(path, {**arrays, ABOUT: said})
    budget.clear()  # what was run under this name before is of another graph
    return CATALOGUE[name]


def remove(name: str) -> None:
    """Forget a graph that was added here; any other dataset stays."""
    found = {plain(one): entry for one, entry in entries().items()}.get(plain(name))
    if found is None:
        listed = ", ".join(entries()) or "none yet"
        raise DataMissing(
            f"There is no graph of your own named {one_line(name)[:40]!r}; there are: {listed}."
        )
    path = store.raw_cache() / OWN / found.files[0]
    if not path.is_file():
        raise DataMissing(f"{found.name} lies in $SPEAR_DATA, which is never written to.")
    with store.writing(path.parent):
        path.unlink()
    budget.clear()


def read(entry: Entry, root: str | Path) -> Arrays:
    """The arrays of a kept graph, or one sentence."""
    path = Path(root) / entry.folder / entry.files[0]
    try:
        arrays = read_whole(path)
        check_graph(arrays, entry.splits, BESIDE)
        check_trained(arrays)
        if OWNER in arrays:
            owner = arrays[OWNER]
            fits = owner.dtype.kind == "i" and owner.shape == arrays["y"].shape
            if not fits or owner.min() < 0 or owner.max() >= len(entry.owners):
                raise ValueError("its owners do not fit its nodes")
        return arrays
    except BROKEN as error:
        raise DataDamaged(
            f"{entry.name} cannot be read from {path}; remove it and add the graph again."
        ) from error


def with_extra(graph: Graph, entry: Entry, arrays: Arrays) -> Graph:
    """The graph with its owners, ids and words beside it."""
    owner = arrays.get(OWNER)
    extra = Extra(
        owner=None if owner is None else torch.as_tensor(owner, device=graph.device).long(),
        owners=entry.owners,
        ids=arrays.get(IDS),
        words=arrays.get(WORDS),
        text=entry.text,
        unlabelled=entry.unlabelled,
    )
    return graph.replace(extra=extra, notes=(*entry.notes, *graph.notes))


def packed(texts: Any) -> np.ndarray:
    """Short texts as the bytes of lines."""
    return np.frombuffer("\n".join(map(one_line, texts)).encode(), np.uint8)


def drawn_masks(graph: Graph, rule: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training, validation and test nodes by a rule, of the nodes that have a label."""
    known = graph.known.cpu().numpy().nonzero()[0]
    y = graph.y.cpu().numpy()
    order = np.random.RandomState(seed).permutation(len(known))
    nodes, share = known[order], rule.endswith("%")
    if share:
        part = float(rule.rstrip("% ")) / 100
        first, last = (int(round(end, 12) * len(nodes)) for end in (part, (1 + part) / 2))
        chosen = (nodes[:first], nodes[first:last], nodes[last:])
    else:
        each = int(rule)
        rank = np.zeros(len(nodes), dtype=np.int64)
        for c in np.unique(y[nodes]):
            mine = y[nodes] == c
            rank[mine] = np.arange(mine.sum())
        rest = nodes[rank >= each]
        chosen = (nodes[rank < each], rest[: len(rest) // 2], rest[len(rest) // 2 :])
    masks = np.zeros((3, graph.num_nodes), dtype=bool)
    for mask, some in zip(masks, chosen, strict=True):
        mask[some] = True
    return masks[0], masks[1], masks[2]
