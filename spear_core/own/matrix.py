"""Features from .npy, .npz or Parquet: plain numbers, read without trust, never a pickle."""

from io import BytesIO
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from spear_core.datasets.arrays import LONGEST_HEADER, MOST_FEATURES
from spear_core.errors import DataDamaged
from spear_core.own.given import Given, check_size, short
from spear_core.own.parquet import PARQUET
from spear_core.own.table import read_table

DENSE = ("x", "features", "feat", "X", "attr_matrix", "arr_0")  # names of a dense matrix
PARTS = ("indptr", "indices", "data", "shape")  # of scipy's save_npz
BROKEN = (ValueError, KeyError, EOFError, BadZipFile, OSError, TypeError, NotImplementedError)


def read_matrix(one: Given, rows: int | None, notes: list[str]) -> Any:
    """Features as a dense array or CSR, float32, one row a node in the order of the nodes."""
    try:
        x = _read(one)
    except DataDamaged:
        raise
    except BROKEN as error:
        raise DataDamaged(
            f"{one.name} holds no plain matrix ({short(error, 80)}); write it with numpy.save or "
            "scipy.sparse.save_npz."
        ) from None
    if x.ndim != 2 or 0 in x.shape:
        raise DataDamaged(f"{one.name} has the shape {x.shape}; give one row of features a node.")
    if rows is not None and x.shape[0] != rows:
        raise DataDamaged(
            f"{one.name} has {x.shape[0]:,} rows for {rows:,} nodes; give one row a node, in the "
            "order of the node table."
        )
    if x.shape[1] > MOST_FEATURES:
        raise DataDamaged(f"{one.name} has {x.shape[1]:,} features, more than {MOST_FEATURES:,}.")
    values = x if isinstance(x, np.ndarray) else x.data
    bad = ~np.isfinite(values)
    if bad.any():
        where = ""
        if isinstance(x, np.ndarray):
            row, column = np.argwhere(bad)[0]
            where = f", the first in row {row + 1}, column {column + 1}"
        values[bad] = 0
        notes.append(f"{int(bad.sum()):,} features without a finite number are 0{where}.")
    return x


def _read(one: Given) -> Any:
    if one.suffix in PARQUET:
        table = read_table(one, lambda names: set())
        texts = [name for name in table.names if table.is_text(name)]
        if texts:
            raise DataDamaged(
                f"{one.name}, column {short(texts[0])}, is text; give numbers alone as features."
            )
        columns = table.columns.columns
        return np.stack([c.fill_null(float("nan")).to_numpy() for c in columns], axis=1)
    if one.suffix == ".npy":
        with one.open() as file:
            return _array(file.read()).astype(np.float32)
    if one.suffix != ".npz":
        raise DataDamaged(f"{one.name} is no .npz, .npy or .parquet; give features in one of them.")
    with one.open() as file, ZipFile(file) as packed:
        parts = {part.filename.removesuffix(".npy"): part for part in packed.infolist()}
        check_size(one.name, sum(part.file_size for part in parts.values()), "unpacks to")
        if set(PARTS) <= set(parts):
            return _sparse(packed, parts)
        name = next((n for n in DENSE if n in parts), next(iter(parts), ""))
        return _array(packed.read(parts[name])).astype(np.float32)


def _sparse(packed: ZipFile, parts: dict[str, ZipInfo]) -> Any:
    """A matrix of scipy's; its indices are checked before anything trusts them."""
    kind = b"csr"
    if "format" in parts:
        kind = BytesIO(packed.read(parts["format"])).getvalue()[-6:].replace(b"\0", b"")
    crow, col, values, shape = (_array(packed.read(parts[name])) for name in PARTS)
    size = tuple(int(n) for n in shape)
    if len(size) != 2 or min(size) <= 0 or max(size) > 2**31:
        raise ValueError(f"its shape is {size}")
    made = (csc_matrix if kind.endswith(b"csc") else csr_matrix)(
        (values.astype(np.float32), col.astype(np.int64), crow.astype(np.int64)), shape=size
    )
    made.check_format(full_check=True)
    made = made.tocsr()
    made.sum_duplicates()
    made.eliminate_zeros()
    return made


def _array(data: bytes) -> np.ndarray:
    """The numbers in the bytes of an npy file; its header may claim anything."""
    file = BytesIO(data)
    version = np.lib.format.read_magic(file)
    reader = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, columns_first, kind = reader(file, LONGEST_HEADER)
    if kind.kind not in "biuf":
        raise ValueError("it holds objects or text, no numbers")
    size = int(np.prod([float(n) for n in shape])) * kind.itemsize if shape else kind.itemsize
    if min(shape, default=0) < 0 or size != len(data) - file.tell():
        raise ValueError("its shape does not fit its length")
    flat = np.frombuffer(data, kind, offset=file.tell())
    return flat.reshape(shape[::-1]).T if columns_first else flat.reshape(shape)
