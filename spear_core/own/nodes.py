"""The node table: ids, labels, splits, owners, and features as columns or as terms of a text."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spear_core.errors import DataDamaged
from spear_core.own.columns import Table, rows_of
from spear_core.own.draft import Choices, Nodes
from spear_core.own.given import MOST_COLUMNS, check_size, short
from spear_core.wanted import still_wanted

ROLES = {  # role -> names of a column that has it, the likeliest first
    "id": ("id", "node", "node_id", "nodeid", "name", "key", "index"),
    "label": ("label", "class", "y", "target", "category", "topic"),
    "split": ("split", "set", "fold", "subset"),
    "owner": ("owner", "client", "silo", "site"),
    "text": ("text", "abstract", "title", "description", "content", "words"),
}
SPLITS = {
    **dict.fromkeys(("train", "training", "tr"), 0),
    **dict.fromkeys(("val", "valid", "validation", "dev"), 1),
    **dict.fromkeys(("test", "testing", "te"), 2),
}
NO_SPLIT = ("", "none", "nan", "-", "rest", "unlabelled", "unlabeled", "unused", "null", "na")
NO_LABEL = ("", "nan", "NaN", "null", "NULL", "None", "NA", "N/A", "<NA>", "?")
MOST_CLASSES = 1000
MOST_OWNERS = 1000


def roles(names: Sequence[str], choices: Choices) -> dict[str, str]:
    """Role -> its column, as chosen or by the column's name."""
    lower = {name.lower(): name for name in reversed(names)}
    found: dict[str, str] = {}
    for role, usual in ROLES.items():
        chosen = getattr(choices, role)
        if chosen and chosen not in names:
            shown = ", ".join(short(name, 20) for name in names[:12])
            raise DataDamaged(
                f"There is no column {short(chosen)!r} for {role}; the columns are {shown}"
                f"{', …' if len(names) > 12 else ''}."
            )
        column = chosen or next((lower[name] for name in usual if name in lower), "")
        if column and column not in found.values():
            found[role] = column
    return found


def nodes_of(table: Table, choices: Choices, given_features: bool = False) -> Nodes:
    """What a node table says."""
    named = roles(table.names, choices)
    table, ids, notes = _ids(table, named)
    made = Nodes(ids, notes=notes)
    if "label" in named:
        made.y, made.class_names = labels(table, named["label"], made.notes)
    if "split" in named:
        made.masks = _masks(table, named["split"])
    if "owner" in named:
        made.owner, made.owners = _owners(table, named["owner"], made.notes)
    rest = [name for name in table.names if name not in named.values()]
    numbers = [name for name in rest if not table.is_text(name)]
    if left := [name for name in rest if name not in numbers]:
        names = ", ".join(short(name, 20) for name in left[:5])
        made.notes.append(
            f"Left out, since most cells are no numbers: {names}{', …' if len(left) > 5 else ''}."
        )
    if given_features:
        return made
    if "text" in named:
        from spear_core.own.text import terms_of

        made.x, made.words = terms_of(table, named["text"], choices.terms)
        made.text = True
        made.notes.append(
            f"{len(made.words)} terms of the column {short(named['text'])}, weighed by TF-IDF over "
            "all nodes."
        )
        if numbers:
            made.notes.append("The text makes the features; columns of numbers are left out.")
    elif numbers:
        made.x, made.words = _numbers(table, numbers, made.notes), numbers
    return made


def _ids(table: Table, named: dict[str, str]) -> tuple[Table, list[str], list[str]]:
    """Ids of the nodes, each once."""
    rows = table.columns.num_rows
    if "id" not in named:
        return table, [str(i) for i in range(rows)], ["No column of ids: rows count from 0."]
    column = table.texts(named["id"])
    if pc.any(empty := pc.equal(column, "")).as_py():
        raise DataDamaged(
            f"{table.name}, {rows_of(table, empty)}, column {short(named['id'])}: a node has no "
            "id; give every node one."
        )
    ids = column.to_pylist()
    first: dict[str, int] = {}
    for i, name in enumerate(ids):
        first.setdefault(name, i)
    if len(first) == rows:
        return table, ids, []
    again = next(i for i, name in enumerate(ids) if first[name] != i)
    kept = pa.array(list(first.values()))
    notes = [
        f"{rows - len(first)} rows name a node again, the first {short(ids[again])!r} in row "
        f"{again + table.first}: of each the first row counts."
    ]
    return Table(table.name, table.columns.take(kept), table.first), list(first), notes


def labels(table: Table, name: str, notes: list[str]) -> tuple[np.ndarray, list[str]]:
    """A number for every node, -1 without a label, and the names; numbers keep their order."""
    y, names = _numbered(table.texts(name))
    if not names:
        raise DataDamaged(f"{table.name}, column {short(name)}: no node has a label; label some.")
    if len(names) == 1:
        raise DataDamaged(
            f"{table.name}, column {short(name)}: every label is {short(names[0])!r}; give at "
            "least two classes, or name another column."
        )
    if len(names) > MOST_CLASSES:
        raise DataDamaged(
            f"{table.name}, column {short(name)}: {len(names):,} different labels, more than "
            f"{MOST_CLASSES:,}; name the column that holds classes."
        )
    if missing := int((y < 0).sum()):
        notes.append(f"{missing:,} nodes without a label: they take part in smoothing alone.")
    return y, names


def _numbered(texts: pa.Array, missing: tuple[str, ...] = NO_LABEL) -> tuple[np.ndarray, list[str]]:
    """Texts as numbers in the order of their names; -1 where there is none."""
    coded = pc.dictionary_encode(texts)
    words = coded.dictionary.to_pylist()
    names = sorted(set(words) - set(missing), key=_order(words, missing))
    place = {name: i for i, name in enumerate(names)}
    code = np.array([place.get(word, -1) for word in words] or [0], dtype=np.int64)
    return code[coded.indices.to_numpy(zero_copy_only=False)], names


def _order(words: list[str], missing: tuple[str, ...]):  # type: ignore[no-untyped-def]
    """By number if all names are numbers, else by letter."""
    try:
        value = {word: float(word) for word in words if word not in missing}
    except ValueError:
        return str
    finite = all(v == v for v in value.values())
    return (lambda word: (value[word], word)) if finite else str


def _masks(table: Table, name: str) -> np.ndarray:
    """Training, validation and test nodes, (3, N)."""
    coded = pc.dictionary_encode(table.texts(name))
    words = [word.lower() for word in coded.dictionary.to_pylist()]
    wrong = [word for word in words if word not in SPLITS and word not in NO_SPLIT]
    index = coded.indices.to_numpy(zero_copy_only=False)
    if wrong:
        row = int(np.flatnonzero(index == words.index(wrong[0]))[0])
        raise DataDamaged(
            f"{table.place(row)}, column {short(name)}: {short(wrong[0])!r} is no part of a split; "
            "write train, val or test, or leave the cell empty."
        )
    code = np.array([SPLITS.get(word, -1) for word in words] or [-1])[index]
    return np.stack([code == part for part in range(3)])


def _owners(table: Table, name: str, notes: list[str]) -> tuple[np.ndarray, list[str]]:
    owner, names = _numbered(table.texts(name), missing=("",))
    if missing := int((owner < 0).sum()):
        owner[owner < 0] = len(names)
        names = [*names, "nobody"]
        notes.append(f"{missing:,} nodes without an owner: they are one client, nobody.")
    if len(names) > MOST_OWNERS:
        raise DataDamaged(
            f"{table.name}, column {short(name)}: {len(names):,} owners, more than "
            f"{MOST_OWNERS:,}; name the column that says who holds a node."
        )
    return owner, names


def _numbers(table: Table, names: list[str], notes: list[str]) -> np.ndarray:
    """The columns of numbers as rows, (N, F); what is missing is 0."""
    rows = table.columns.num_rows
    if len(names) > MOST_COLUMNS:
        raise DataDamaged(f"{table.name} has more than {MOST_COLUMNS:,} features.")
    check_size(table.name, rows * len(names), "has features that take")
    x = np.empty((rows, len(names)), dtype=np.float32)
    first, missing = "", 0
    for i, name in enumerate(names):
        if i % 64 == 0:
            still_wanted()
        x[:, i] = pc.fill_null(table.columns.column(name), float("nan")).to_numpy()
        bad = ~np.isfinite(x[:, i])
        if bad.any():
            first = first or f"{table.place(int(bad.argmax()))}, column {short(name)}"
            missing += int(bad.sum())
            x[bad, i] = 0
    if missing:
        notes.append(f"{missing:,} cells without a finite number are 0, the first in {first}.")
    return x
