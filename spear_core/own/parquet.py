"""A Parquet file as a table, read a piece at a time: it may unpack to any size."""

from collections.abc import Callable, Sequence

import pyarrow as pa

from spear_core.datasets.store import Progress
from spear_core.errors import DataDamaged
from spear_core.own.columns import Table, from_arrow, unlike
from spear_core.own.given import MOST_COLUMNS, Given, check_size
from spear_core.wanted import still_wanted

PARQUET = (".parquet", ".pq")
IsText = Callable[[Sequence[str]], set[str]]  # names of columns -> those that are text for sure


def read_parquet(one: Given, is_text: IsText, progress: Progress | None) -> Table:
    """The table in a file."""
    from pyarrow import parquet

    pieces, held = [], 0
    try:
        with one.open() as file:
            stored = parquet.ParquetFile(file)
            shape = stored.metadata.num_rows, stored.metadata.num_columns
            if shape[1] > MOST_COLUMNS:
                raise DataDamaged(f"{one.name} has more than {MOST_COLUMNS:,} columns.")
            check_size(one.name, stored.metadata.num_rows * shape[1], "has cells that take")
            for piece in stored.iter_batches(batch_size=4096):
                still_wanted()
                held += piece.nbytes
                check_size(one.name, held / 4, "has cells that take")
                pieces.append(piece)
                if progress:
                    done = len(pieces) * 4096 / max(shape[0], 1)
                    progress(f"Reading {one.name}", min(1.0, done))
            whole = pa.Table.from_batches(pieces, stored.schema_arrow)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, DataDamaged):
            raise
        raise DataDamaged(f"{one.name} is no whole Parquet file; write it again.") from error
    names = unlike(one.name, whole.column_names)
    return Table(one.name, from_arrow(one.name, whole.rename_columns(names), is_text(names)), 1)
