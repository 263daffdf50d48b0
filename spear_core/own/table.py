"""CSV and TSV as columns, read in pieces; what is wrong is said by row and column.

A column is text or 32-bit numbers. Which are text is known from the header, and from the first rows
where it does not say.
"""

import csv
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from spear_core.datasets.store import Progress
from spear_core.errors import DataDamaged
from spear_core.own.columns import Table, unlike
from spear_core.own.given import MOST_COLUMNS, Given, check_size, human, short
from spear_core.own.parquet import PARQUET, IsText, read_parquet
from spear_core.wanted import still_wanted

MOST_HEAD = 2**24  # bytes of the first line, and of the rows that are looked at before
SAMPLE = 100  # rows from which a column is taken for one of numbers
NO_NUMBER = ("", "nan", "NaN", "NA", "N/A", "null", "NULL", "None", "?", "inf", "-inf")
ROW, COLUMN = re.compile(r"Row #(\d+)"), re.compile(r"column #(\d+)")

IsHead = Callable[[list[str], list[str]], bool]  # first and second row -> whether it is a header


def read_table(
    one: Given, is_text: IsText, is_head: IsHead | None = None, progress: Progress | None = None
) -> Table:
    """The table in a file. Without `is_head` its first row has the names of the columns."""
    if one.suffix in PARQUET:
        return read_parquet(one, is_text, progress)
    with one.open() as file:
        head = file.read(MOST_HEAD)
    lines, start = _lines(one, head)
    delimiter = _delimiter(one, lines[0])
    rows = list(csv.reader(lines, delimiter=delimiter))
    headed = is_head is None or is_head(rows[0], rows[1] if len(rows) > 1 else [])
    if headed and len(rows) < 2:
        raise DataDamaged(f"{one.name} has a header and no row; give at least one row.")
    names = (
        unlike(one.name, rows[0], is_head is not None)
        if headed
        else [f"column {i + 1}" for i in range(len(rows[0]))]
    )
    texts = _text_columns(names, rows[1:] if headed else rows, is_text(names))
    kinds = {name: pa.string() if name in texts else pa.float32() for name in names}
    table = _delimited(one, delimiter, names, kinds, start + headed, progress)
    return Table(one.name, table, 1 + start + headed)


def _lines(one: Given, head: bytes) -> tuple[list[str], int]:
    """The first lines below any comments, and how many of those there are."""
    if b"\0" in head[:4096]:
        raise DataDamaged(f"{one.name} is no table in UTF-8; save it as CSV in UTF-8.")
    if b"\n" not in head and b"\r" not in head and len(head) == MOST_HEAD:
        raise DataDamaged(
            f"{one.name} has a first line of more than {human(MOST_HEAD)}; give one row a line."
        )
    whole = head if len(head) < MOST_HEAD else head[: max(head.rfind(b"\n"), 1)]
    try:
        text = whole[:MOST_HEAD].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = whole.count(b"\n", 0, error.start) + 1
        raise DataDamaged(
            f"{one.name}, row {row}, is not in UTF-8; save the table as CSV in UTF-8."
        ) from None
    lines: list[str] = []
    start = 0
    for line in text.splitlines():
        if not lines and line[:1] in ("#", "%"):
            start += 1
            continue
        lines.append(line)
        if len(lines) > SAMPLE:
            break
    if not lines:
        raise DataDamaged(f"{one.name} has no row; give a table.")
    if lines[0].count(",") > MOST_COLUMNS or lines[0].count("\t") > MOST_COLUMNS:
        raise DataDamaged(
            f"{one.name} has more than {MOST_COLUMNS:,} columns; give wide features as .npz."
        )
    return lines, start


def _delimiter(one: Given, line: str) -> str:
    """What stands between two cells."""
    marks = "\t,; " if one.suffix in (".tsv", ".txt", ".edges", ".tab") else ",\t; "
    return next((mark for mark in marks if mark in line), ",")


def _text_columns(names: list[str], rows: list[list[str]], known: set[str]) -> set[str]:
    """Those that are text: by their role, or since most of the first cells are no numbers."""
    text, number = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for row in rows:
        for name, cell in zip(names, row, strict=False):
            if name not in known and cell.strip():
                (number if is_number(cell) else text)[name] += 1
    return known | {name for name in names if text[name] > number[name]}


def is_number(cell: str) -> bool:
    """Whether a cell can stand in a column of numbers.

    >>> is_number("1e-3"), is_number(""), is_number("abc")
    (True, True, False)
    """
    try:
        float(cell.strip() or 0)
    except ValueError:
        return cell.strip() in NO_NUMBER
    return "_" not in cell


def _delimited(
    one: Given,
    delimiter: str,
    names: list[str],
    kinds: dict[str, Any],
    skip: int,
    progress: Progress | None,
) -> pa.Table:
    from pyarrow import csv as arrow

    convert = arrow.ConvertOptions(column_types=kinds, null_values=NO_NUMBER, check_utf8=True)
    reading = arrow.ReadOptions(
        use_threads=False, block_size=MOST_HEAD, skip_rows=skip, column_names=names
    )
    parsing = arrow.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    pieces: list[pa.RecordBatch] = []
    held, rows = 0, 0
    try:
        with one.open() as file:
            reader = arrow.open_csv(file, reading, parsing, convert)
            for piece in reader:
                still_wanted()
                held, rows = held + piece.nbytes, rows + piece.num_rows
                check_size(one.name, held / 4, "has cells that take")
                pieces.append(piece)
                if progress:
                    progress(f"Reading {one.name}: {rows:,} rows", min(1.0, file.tell() / one.size))
    except pa.ArrowInvalid as error:
        raise _culprit(one, str(error), names, skip) from None
    return pa.Table.from_batches(pieces, reader.schema)


def _culprit(one: Given, said: str, names: list[str], skip: int) -> DataDamaged:
    """What the reader met, by row and column."""
    row, column = ROW.search(said), COLUMN.search(said)
    where = f"{one.name}, row {int(row[1])}" if row else one.name
    if column and int(column[1]) < len(names):
        value = re.search(r"invalid value '(.*)'", said, re.S)
        if "UTF8" in said:
            what = "is not in UTF-8; save the table as CSV in UTF-8."
        else:
            cell = short(value[1]) if value else "a cell"
            what = f"{cell!r} is no number; write a number or leave the cell empty."
        return DataDamaged(f"{where}, column {short(names[int(column[1])])}: {what}")
    counts = re.search(r"Expected (\d+) columns, got (\d+)", said)
    if counts:
        return DataDamaged(
            f"{where} has {counts[2]} cells and the header {counts[1]} columns; give as many, with "
            "quotes around a cell that has the separator in it."
        )
    return DataDamaged(f"{where} cannot be read as a table ({short(said, 80)}); save it as CSV.")
