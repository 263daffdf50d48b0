"""Plain arrays as bytes, read without trust: nothing is allocated before the sizes were compared.

One reader serves what lies on disk (compact graphs, client files) and what strangers send: NumPy's
npy format, whose header may claim anything.
"""

import hashlib
import math
from io import BytesIO
from pathlib import Path
from typing import IO
from zipfile import ZIP_STORED, ZipFile

import numpy as np

KINDS = ("bool", "uint8", "int32", "int64", "float32", "float64")  # nothing else is read
LONGEST_HEADER = 1000  # NumPy writes 128 bytes
DIGEST = "digest"
MASKS = ("train", "val", "test")
SPARSE = ("x_crow", "x_col", "x_values", "x_shape")
MOST_CLASSES, MOST_FEATURES = 10**4, 10**5  # more than any graph on offer has

Names = tuple[str, ...]


def decoded(data: bytes, most: tuple[int, ...] | None = None) -> np.ndarray:
    """The array in the bytes of an npy file, or a ValueError; `most` limits every axis of it."""
    file = BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("it is not a plain array")
    shape, columns_first, kind = np.lib.format.read_array_header_1_0(file, LONGEST_HEADER)
    if str(kind) not in KINDS or not kind.isnative:
        raise ValueError(f"its numbers are of the kind {str(kind)[:20]}")
    if most is not None and (
        len(shape) != len(most) or any(n > limit for n, limit in zip(shape, most, strict=True))
    ):
        raise ValueError(f"its shape is {str(shape)[:60]} and at most {most} was asked for")
    if min(shape, default=0) < 0 or math.prod(shape) * kind.itemsize != len(data) - file.tell():
        raise ValueError(f"its shape {str(shape)[:60]} does not fit its length")
    flat = np.frombuffer(data, kind, offset=file.tell())
    return flat.reshape(shape[::-1]).T if columns_first else flat.reshape(shape)


def digest(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """32 bytes that change with any name, kind, shape or number of the arrays."""
    seen = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        seen.update(f"{name} {array.dtype.str} {np.shape(arrays[name])}\n".encode())
        seen.update(array.data)
    return np.frombuffer(seen.digest(), np.uint8)


def read_whole(path: Path | IO[bytes]) -> dict[str, np.ndarray]:
    """The arrays of a file that `save_whole` wrote, or a ValueError if it is not as it was."""
    with ZipFile(path) as kept:
        if any(part.compress_type != ZIP_STORED for part in kept.infolist()):
            raise ValueError("it is packed")  # it could unpack to any size
        arrays = {
            part.filename.removesuffix(".npy"): decoded(kept.read(part)).copy()
            for part in kept.infolist()
        }  # copied, since bytes cannot be written to and torch wants arrays that can
    found = arrays.pop(DIGEST, None)
    if found is None or not np.array_equal(found, digest(arrays)):
        raise ValueError("it was changed since it was written")
    return arrays


def check_graph(arrays: dict[str, np.ndarray], splits: bool, others: Names = ()) -> None:
    """Raise a ValueError unless these arrays are a graph, with or without its masks.

    Torch's products trust their indices: one out of range is read from somebody else's memory, and
    a size that is only claimed is allocated. `others` are names that may be there too.
    """
    y, edges = arrays["y"], arrays["edge_index"]
    nodes = len(y)
    if not set(arrays) <= {"y", "edge_index", "x", *SPARSE, *MASKS, *others}:
        raise ValueError("it holds more than a graph")
    if y.shape != (nodes,) or not nodes or y.dtype.kind != "i":
        raise ValueError("its labels are not whole numbers")
    if y.min() < 0 or y.max() >= MOST_CLASSES:
        raise ValueError("its labels are no numbers of classes")
    if edges.ndim != 2 or len(edges) != 2 or edges.dtype.kind != "i" or _outside(edges, nodes):
        raise ValueError("its edges do not fit its nodes")
    if "x" in arrays and any(name in arrays for name in SPARSE):
        raise ValueError("its features are there twice")
    values = arrays["x"] if "x" in arrays else arrays["x_values"]
    if values.dtype != np.float32 or not np.isfinite(values).all():
        raise ValueError("its features are not finite numbers")
    size = values.shape if "x" in arrays else _sparse_size(arrays)
    if len(size) != 2 or size[0] != nodes or not 0 < size[1] <= MOST_FEATURES:
        raise ValueError("its features do not fit its nodes")
    masks = [arrays[name] for name in MASKS if name in arrays]
    if len(masks) != (len(MASKS) if splits else 0):
        raise ValueError("its masks are not those it was written with")
    if any(len(mask) != nodes or mask.ndim not in (1, 2) or mask.dtype != bool for mask in masks):
        raise ValueError("its masks do not fit its nodes")


def check_trained(arrays: dict[str, np.ndarray]) -> None:
    """Raise a ValueError where a split has no training node."""
    if "train" in arrays and not arrays["train"].any(axis=0).all():
        raise ValueError("it has no training node")


def _sparse_size(arrays: dict[str, np.ndarray]) -> tuple[int, ...]:
    """The shape of a CSR matrix whose every row has its columns in order, each once."""
    crow, col, values, size = (arrays[name] for name in SPARSE)
    if size.dtype.kind != "i" or size.shape != (2,):
        raise ValueError("its size is not two whole numbers")
    whole = crow.dtype.kind == col.dtype.kind == "i"
    if not whole or not crow.ndim == col.ndim == values.ndim == 1 or len(col) != len(values):
        raise ValueError("its rows are not those of a matrix")
    if len(crow) != size[0] + 1 or crow[0] != 0 or crow[-1] != len(col):
        raise ValueError("its rows do not fit its size")
    if (np.diff(crow) < 0).any() or _outside(col, size[1]):
        raise ValueError("its columns do not fit its size")
    later = np.diff(col.astype(np.int64)) > 0
    first = crow[1:-1]
    later[first[(first > 0) & (first < len(col))] - 1] = True  # where a row begins
    if not later.all():
        raise ValueError("its columns are not in order, each once")
    return tuple(size.tolist())


def _outside(index: np.ndarray, n: int) -> bool:
    return bool(index.size and (index.min() < 0 or index.max() >= n))
