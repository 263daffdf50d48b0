"""`Table`: the columns of one file, text or 32-bit numbers, and the row that each cell is in."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from spear_core.errors import DataDamaged
from spear_core.own.given import short


@dataclass(frozen=True)
class Table:
    """Columns of one file, and the number of the line that its first row is in."""

    name: str
    columns: pa.Table
    first: int = 2

    @property
    def names(self) -> list[str]:
        return self.columns.column_names

    def place(self, row: int) -> str:
        """A row for people: `nodes.csv, row 12`."""
        return f"{self.name}, row {row + self.first}"

    def is_text(self, name: str) -> bool:
        return pa.types.is_string(self.columns.schema.field(name).type)

    def texts(self, name: str) -> pa.Array:
        """A column as text without blanks around it; of numbers as they are written."""
        column = self.columns.column(name).combine_chunks()
        if not self.is_text(name):
            column = pa.array([_written(v) for v in column.to_pylist()], pa.string())
        return pc.fill_null(pc.utf8_trim_whitespace(column), "")


def _written(value: Any) -> str | None:
    if value is None or value != value:
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def unlike(table: str, row: list[str], renamed: bool = False) -> list[str]:
    """The header, which has every name once; one that comes again is numbered where it may be."""
    names = [short(cell.strip(), 60) for cell in row]
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        if not name:
            names[i] = name = f"column {i + 1}"
        if name in seen and renamed:
            names[i] = name = f"{name} {i + 1}"
        if name in seen:
            raise DataDamaged(
                f"{table} has the column {name!r} twice, as number {seen[name] + 1} and "
                f"{i + 1}; give each its own name."
            )
        seen[name] = i
    return names


def from_arrow(name: str, whole: pa.Table, texts: set[str]) -> pa.Table:
    """The columns in our two kinds."""
    made = {}
    for column, cells in zip(whole.column_names, whole.columns, strict=True):
        kind = cells.type
        if pa.types.is_dictionary(kind):
            cells, kind = cells.cast(kind.value_type), kind.value_type
        try:
            if pa.types.is_floating(kind) and column not in texts:
                made[column] = cells.cast(pa.float32(), safe=False)
            elif (pa.types.is_integer(kind) or pa.types.is_boolean(kind)) and column not in texts:
                made[column] = cells.cast(pa.float64()).cast(pa.float32(), safe=False)
            elif pa.types.is_floating(kind):
                texted = [_written(v) for v in cells.to_pylist()]
                made[column] = pa.chunked_array([pa.array(texted, pa.string())])
            else:
                made[column] = cells.cast(pa.string())
        except pa.ArrowException:
            raise DataDamaged(
                f"{name}, column {short(column)}, holds {short(kind)}; give numbers or text."
            ) from None
    return pa.table(made)


def rows_of(table: Table, mask: pa.Array, most: int = 3) -> str:
    """The first rows that a mask marks: `rows 3, 7 and 9`."""
    found = pc.indices_nonzero(mask)[:most].to_pylist()
    numbers = [str(i + table.first) for i in found]
    return f"row{'s' * (len(numbers) > 1)} {', '.join(numbers)}"
