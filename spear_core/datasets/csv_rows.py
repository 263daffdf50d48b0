"""Rows in a CSV file, a dataclass a line: written whole, or added to by several writers at once.

Files grow, and other versions of this program may write to them too: names of columns may come
again and hold from there on, a field with a default may have no column, and a line that cannot be
read is passed over.
"""

import csv
import fcntl
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from spear_core.datasets.store import whole, writing

Row = TypeVar("Row")
Cells = Mapping[str, str]  # of one line, by the name of their column


def read(path: Path, names: Sequence[str], made: Callable[[Cells], Row]) -> list[Row]:
    """The rows of a file; none where there is no file.

    `names` are the columns until the file says others. A row is what `made` gives, unless it
    raises: then the line was torn, or is of a newer version.
    """
    rows, first = [], names[0]
    for line in _lines(path):
        try:
            cells = next(csv.reader([line]), [])
            if cells[:1] == [first]:
                names = cells
            else:
                rows.append(made(dict(zip(names, cells, strict=True))))
        except (KeyError, TypeError, ValueError, csv.Error):
            continue
    return rows


def read_all(path: Path, kind: type[Row]) -> list[Row]:
    """The rows of a file that has one column for each field of a dataclass."""
    return read(path, columns(kind), lambda cells: kind(**values(fields(kind), cells)))  # type: ignore[arg-type]


def append(path: Path, cells: Mapping[str, Any], names: Sequence[str]) -> None:
    """Add one line in one write, with the columns' names where the file has others above it."""
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
            before = _lines(path)
            above = [line for line in before if line.startswith(f"{names[0]},")]
            headed = bool(above) and next(csv.reader(above[-1:])) == list(names)
            cut_off = "\n" if before[-1] else ""
            file.write((cut_off + _text([cells], names, headed)).encode())


def write(path: Path, kind: Any, rows: Iterable[Any], number: Callable[[float], object]) -> None:
    """Write the rows of a dataclass as a file; it is there whole or not at all."""
    names = columns(kind)
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as file:
            os.fchmod(file.fileno(), 0o644)  # such files are shipped too
            lines = (texts(row, names, number) for row in rows)
            file.write(_text(lines, names, headed=False).encode())


def columns(kind: Any) -> list[str]:
    """The columns of a dataclass, one a field."""
    return [f.name for f in fields(kind)]


def values(some: "Iterable[Field[Any]]", cells: Cells) -> dict[str, Any]:
    """What the cells say of some fields, each in its type; a field may be absent if it may."""
    return {
        f.name: _value(f.type, cells[f.name])
        for f in some
        if f.name in cells or f.default is MISSING
    }


def texts(row: Any, names: Iterable[str], number: Callable[[float], object]) -> dict[str, Any]:
    """Those fields of a row as cells: `number` writes a fraction, a list has blanks between."""
    found = {name: getattr(row, name) for name in names}
    for name, value in found.items():
        if isinstance(value, float):
            found[name] = "" if value != value else number(value)
        elif isinstance(value, tuple):
            found[name] = " ".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in value)
    return found


def _value(kind: Any, text: str) -> Any:
    if get_origin(kind) is tuple:
        return tuple(get_args(kind)[0](part) for part in text.split())
    if kind in (str, int, float):
        return kind(text)
    return float(text) if text else None  # float | None


def _text(lines: Iterable[Mapping[str, Any]], names: Sequence[str], headed: bool) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    if not headed:
        writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def _lines(path: Path) -> list[str]:
    """The lines of a file; the last is empty unless it was cut off."""
    return path.read_text("utf-8", "replace").split("\n") if path.is_file() else [""]
