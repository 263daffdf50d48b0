"""Edge lists: two columns of ids of any kind; weights and whatever else is there is left out."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spear_core.datasets.store import Progress
from spear_core.errors import DataDamaged
from spear_core.own.columns import Table, rows_of
from spear_core.own.given import Given, short
from spear_core.own.table import is_number, read_table

SOURCE = ("source", "src", "from", "head", "u", "node1", "id1", "start", "a", "i", "citing")
TARGET = ("target", "dst", "to", "tail", "v", "node2", "id2", "end", "b", "j", "cited", "dest")


def ends(names: Sequence[str]) -> tuple[str, str]:
    """The columns that name both ends: by their names, else the first two."""
    lower = {name.lower(): name for name in reversed(names)}
    for one, other in zip(SOURCE, TARGET, strict=False):
        if one in lower and other in lower:
            return lower[one], lower[other]
    one = next((lower[name] for name in SOURCE if name in lower), "")
    other = next((lower[name] for name in TARGET if name in lower), "")
    return (one, other) if one and other else (names[0], names[1])


def read_edges(
    one: Given, ids: Sequence[str] | None = None, progress: Progress | None = None
) -> Table:
    """An edge list with or without a header."""
    known = frozenset(ids or ())

    def is_head(first: list[str], second: list[str]) -> bool:
        cells = [cell.strip() for cell in first[:2]]
        if {cell.lower() for cell in cells} <= {*SOURCE, *TARGET} and len(set(cells)) == 2:
            return not known.issuperset(cells)
        if known:
            return not known & set(cells) and bool(known & {cell.strip() for cell in second[:2]})
        numbers = [is_number(cell) for cell in cells], [is_number(cell) for cell in second[:2]]
        return not any(numbers[0]) and bool(second) and all(numbers[1])

    return read_table(one, is_text_edge, is_head, progress)


def is_text_edge(names: Sequence[str]) -> set[str]:
    """Ids are text, whatever they look like."""
    if len(names) < 2:
        return set(names)
    return set(ends(names))


def linked(
    table: Table, ids: list[str] | None, directed: bool, notes: list[str]
) -> tuple[np.ndarray, list[str]]:
    """Numbers of both ends, (2, E), each edge once, and the ids.

    Without a node table the nodes are those that edges name, in the order of their ids.
    """
    if len(table.names) < 2:
        raise DataDamaged(
            f"{table.name} has one column; give two with the ids of both ends, and a separator."
        )
    one, other = ends(table.names)
    if rest := [name for name in table.names if name not in (one, other)]:
        shown = ", ".join(short(name, 20) for name in rest[:5])
        notes.append(f"Beside the ends of the edges there is more, left out: {shown}.")
    source, target = table.texts(one), table.texts(other)
    if table.columns.num_rows == 0:
        raise DataDamaged(f"{table.name} has no edge; give at least one.")
    empty = pc.or_(pc.equal(source, ""), pc.equal(target, ""))
    if pc.any(empty).as_py():
        raise DataDamaged(
            f"{table.name}, {rows_of(table, empty)}: an edge lacks one of its ends; give both ids."
        )
    ids = _in_order(source, target) if ids is None else ids
    known = pa.array(ids, pa.string())
    ends_of = [
        pc.fill_null(pc.index_in(end, value_set=known), -1).to_numpy(zero_copy_only=False)
        for end in (source, target)
    ]
    edges = np.stack(ends_of).astype(np.int64)
    unknown = (edges < 0).any(axis=0)
    if unknown.any():
        row = int(unknown.argmax())
        name = (source if edges[0, row] < 0 else target)[row].as_py()
        if unknown.all():
            raise DataDamaged(
                f"{table.name}: no edge joins two nodes of the node table ({table.place(row)} "
                f"names {short(name)!r}, the table has {short(ids[0])!r}); write ids alike in both."
            )
        notes.append(
            f"{int(unknown.sum()):,} edges name a node that is not in the node table and are left "
            f"out, the first {short(name)!r} in row {row + table.first}."
        )
        edges = edges[:, ~unknown]
    return one_each(edges, len(ids), directed, notes), ids


def one_each(edges: np.ndarray, n: int, directed: bool, notes: list[str]) -> np.ndarray:
    """The edges in order without repeats, both ways unless they are directed."""
    if edges.shape[1] == 0:
        raise DataDamaged("There is no edge between two nodes; give at least one.")
    key = np.unique(edges[0] * n + edges[1])
    if again := edges.shape[1] - len(key):
        notes.append(f"{again:,} repeated edge{'s' * (again > 1)} counted once.")
    back = np.unique((key % n) * n + key // n)
    one_way = int((~np.isin(key, back, assume_unique=True)).sum())
    if one_way and directed:
        notes.append(f"{one_way:,} of {len(key):,} edges go one way only, as asked for.")
    elif one_way:
        key = np.union1d(key, back)
        notes.append(
            f"{one_way:,} edges were given one way and are taken both ways; say directed to keep "
            "their direction."
        )
    return np.stack([key // n, key % n])


def _in_order(source: pa.Array, target: pa.Array) -> list[str]:
    """The ids that edges name: by number where all are numbers, else by letter."""
    both = pa.chunked_array([source, target])
    ids: list[str] = pc.unique(both).to_pylist()
    if all(map(is_number, ids)):
        return sorted(ids, key=lambda name: (float(name), name))
    return sorted(ids)
