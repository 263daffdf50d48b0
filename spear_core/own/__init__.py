"""A graph of one's own from the files that people have: read, checked, looked at, then kept.

>>> from spear_core.own import Given, Sources, read_graph
>>> nodes = Given("n.csv", b"id,label,f0\\na,x,1\\nb,y,0.5\\nc,y,0.1\\n")
>>> made = read_graph(Sources(edges=Given("e.csv", b"source,target\\na,b\\nb,c\\n"), nodes=nodes))
>>> made.about["class_names"], made.about["edges"]
(['x', 'y'], 4)
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from spear_core.datasets import mine
from spear_core.datasets.arrays import MASKS, MOST_FEATURES, SPARSE, check_graph, read_whole
from spear_core.datasets.entry import Entry
from spear_core.datasets.own import DENSE_ABOVE
from spear_core.datasets.store import Progress
from spear_core.errors import DataDamaged
from spear_core.own.columns import Table
from spear_core.own.draft import MADE, MOST_TERMS, Choices, Draft, Nodes, Sources, described
from spear_core.own.edges import linked, read_edges
from spear_core.own.given import (
    Given,
    check_size,
    given_file,
    given_folder,
    given_path,
    human,
    most_bytes,
    short,
)
from spear_core.own.nodes import nodes_of, roles
from spear_core.own.table import read_table
from spear_core.wanted import still_wanted

__all__ = [
    "MADE",
    "MOST_TERMS",
    "Choices",
    "Draft",
    "Given",
    "Sources",
    "described",
    "given_file",
    "given_folder",
    "given_path",
    "human",
    "keep",
    "most_bytes",
    "read_graph",
]


def keep(draft: Draft, name: str) -> Entry:
    """Keep a draft as a dataset of this name."""
    return mine.keep(name, draft.arrays, draft.about)


def read_graph(
    sources: Sources, choices: Choices | None = None, progress: Progress | None = None
) -> Draft:
    """The graph in the files, with what was put right; nothing is written."""
    choices = choices or Choices()
    if sources.compact is not None:
        return _compact(sources.compact, choices)
    if sources.folder:
        from spear_core.own.geom import read_geom

        nodes, file = read_geom(sources.folder)
        edges = read_edges(file, nodes.ids, progress)
    elif sources.graphml is not None:
        from spear_core.own.graphml import read_graphml

        table, edges = read_graphml(sources.graphml)
        nodes = nodes_of(_numbers_as_text(table, choices), choices, sources.features is not None)
    elif sources.edges is None or sources.nodes is None:
        raise DataDamaged(
            "A graph needs a list of edges and a table of nodes with labels; give both, or a "
            "GraphML file, Geom-GCN's folder or a compact file."
        )
    else:
        table = read_table(
            sources.nodes, lambda names: set(roles(names, choices).values()), None, progress
        )
        nodes = nodes_of(table, choices, sources.features is not None)
        edges = read_edges(sources.edges, nodes.ids, progress)
    return _draft(nodes, edges, sources, choices)


def _numbers_as_text(table: Table, choices: Choices) -> Table:
    """The table with the columns that have a role as text."""
    columns = table.columns
    for name in roles(table.names, choices).values():
        place = columns.column_names.index(name)
        columns = columns.set_column(place, name, table.texts(name))
    return Table(table.name, columns, table.first)


def _draft(nodes: Nodes, edges: Table, sources: Sources, choices: Choices) -> Draft:
    notes = nodes.notes
    if nodes.y is None:
        raise DataDamaged(
            "The node table has no column of labels; call one label, or say which it is."
        )
    ends, _ = linked(edges, nodes.ids, choices.directed, notes)
    still_wanted()
    x, words, text = nodes.x, nodes.words, nodes.text
    if sources.features is not None:
        from spear_core.own.matrix import read_matrix

        x, words, text = read_matrix(sources.features, len(nodes), notes), [], False
    elif x is None:
        from spear_core.own.made import made_features

        x, words = made_features(choices.features, ends, len(nodes), notes)
    if x.shape[1] > MOST_FEATURES:
        raise DataDamaged(f"There are {x.shape[1]:,} features, more than {MOST_FEATURES:,}.")
    y, unlabelled = nodes.y, bool((nodes.y < 0).any())
    names = [mine.label(name) for name in nodes.class_names]
    arrays = {"y": y.astype(np.int64), "edge_index": ends, **_features(x)}
    arrays |= _checked_masks(nodes, notes)
    if unlabelled:  # a class of its own at the end, in which nobody trains or tests
        arrays["y"][y < 0] = len(names)
        names.append(mine.NO_LABEL_NAME)
    if nodes.owner is not None:
        arrays[mine.OWNER] = nodes.owner.astype(np.int64)
    arrays[mine.IDS] = mine.packed(nodes.ids)
    if words:
        arrays[mine.WORDS] = mine.packed(words)
    _fits(arrays)
    return Draft(arrays, _about(arrays, names, nodes.owners, text, unlabelled, choices, notes))


def _about(
    arrays: mine.Arrays,
    names: list[str],
    owners: list[str],
    text: bool,
    unlabelled: bool,
    choices: Choices,
    notes: list[str],
) -> dict[str, Any]:
    nodes, edges = len(arrays["y"]), arrays["edge_index"].shape[1]
    width = int(arrays["x_shape"][1]) if "x_shape" in arrays else arrays["x"].shape[1]
    usual = 10 if nodes >= 100 else max(1, min(3, nodes // 2))  # ten nodes a client
    return {
        "about": f"your own, {nodes:,} nodes, {edges:,} edges",
        "nodes": nodes,
        "edges": edges,
        "classes": len(names),
        "features": width,
        "class_names": names,
        "owners": [mine.label(name) for name in owners],
        "splits": "train" in arrays,
        "drawn": choices.drawn,
        "clients": len(owners) or usual,
        "unlabelled": unlabelled,
        "text": text,
        "notes": notes,
    }


def _features(x: Any) -> mine.Arrays:
    """Dense, or CSR where that is smaller; the same rule as for any graph."""
    if not issparse(x):
        if np.count_nonzero(x) > DENSE_ABOVE * x.size:
            return {"x": np.ascontiguousarray(x, dtype=np.float32)}
        x = csr_matrix(x)
    x.sort_indices()
    parts = (x.indptr, x.indices, x.data.astype(np.float32), np.array(x.shape))
    return {
        name: part if name == "x_values" else part.astype(np.int64)
        for name, part in zip(SPARSE, parts, strict=True)
    }


def _checked_masks(nodes: Nodes, notes: list[str]) -> mine.Arrays:
    """The given split, without nodes that have no label; none where nothing was given."""
    if nodes.masks is None or nodes.y is None:
        return {}
    masks, known = nodes.masks, nodes.y >= 0
    masks = masks.reshape(3, len(nodes), -1)
    if lost := int(masks[:, ~known].sum()):
        notes.append(f"{lost:,} places in the split are of nodes without a label and left out.")
        masks = masks & known[None, :, None]
    if not masks[0].any(axis=0).all():
        raise DataDamaged("The split has no training node with a label; mark some as train.")
    if not masks[2].any(axis=0).all():
        raise DataDamaged("The split has no test node with a label; mark some as test.")
    return {name: np.ascontiguousarray(mask) for name, mask in zip(MASKS, masks, strict=True)}


def _fits(arrays: mine.Arrays) -> None:
    """What every reader of a kept graph will check, checked before."""
    try:
        check_size("The graph", sum(a.nbytes for a in arrays.values()))
        check_graph(arrays, "train" in arrays, mine.BESIDE)
    except DataDamaged:
        raise
    except ValueError as error:
        raise DataDamaged(f"The files do not make a graph: {short(error, 80)}.") from None


def _compact(one: Given, choices: Choices) -> Draft:
    """A file that was written here, or a graph that somebody shared."""
    try:
        with one.open() as file:
            arrays = read_whole(file)
        said = _said(arrays.pop(mine.ABOUT, None))
        arrays.pop("classes", None)  # of a client's file
        splits = any(name in arrays for name in MASKS)
        check_graph(arrays, splits, mine.BESIDE)
        top = int(arrays["y"].max()) + 1
        if mine.OWNER in arrays and not said.get("owners"):
            raise ValueError("its owners have no names")
    except Exception as error:  # whatever is wrong with it
        raise DataDamaged(
            f"{one.name} is no compact graph ({short(error, 80)}); give a file that was written "
            "here, or tables."
        ) from None
    names = [mine.label(name) for name in said.get("class_names", [])]
    if len(names) != top:
        names = [str(c) for c in range(top)]
        said = {}
    if len(names) < 2:
        raise DataDamaged(f"{one.name} has one class; give at least two.")
    if not said:
        arrays.pop(mine.OWNER, None)
    rule_given = Choices(drawn=str(said.get("drawn", choices.drawn)))
    facts = _about(
        arrays,
        names,
        [str(name) for name in said.get("owners", [])] if mine.OWNER in arrays else [],
        bool(said.get("text", False)),
        bool(said.get("unlabelled", False)),
        rule_given,
        [str(note)[:300] for note in said.get("notes", [])][:50],
    )
    return Draft(arrays, facts)


def _said(raw: np.ndarray | None) -> dict[str, Any]:
    import json

    found = {} if raw is None else json.loads(raw.tobytes())
    return found if isinstance(found, dict) else {}
