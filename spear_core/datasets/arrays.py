"""Plain arrays as bytes, read without trust: nothing is allocated before the sizes were compared.

One reader serves what lies on disk (compact graphs, client files) and what strangers send: NumPy's
npy format, whose header may claim anything.
"""

import hashlib
import math
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import numpy as np

KINDS = ("bool", "uint8", "int32", "int64", "float32", "float64")  # nothing else is read
LONGEST_HEADER = 1000  # NumPy writes 128 bytes
DIGEST = "digest"
MASKS = ("train", "val", "test")


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


def read_whole(path: Path) -> dict[str, np.ndarray]:
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


def check_graph(arrays: dict[str, np.ndarray], splits: bool) -> None:
    """Raise a ValueError unless these arrays are a graph, with or without its masks.

    Torch's products trust their indices: one out of range is read from somebody else's memory.
    """
    y, edges = arrays["y"], arrays["edge_index"]
    nodes = len(y)
    if y.shape != (nodes,) or not nodes or y.dtype.kind != "i" or y.min() < 0:
        raise ValueError("its labels are not whole numbers")
    if edges.ndim != 2 or len(edges) != 2 or edges.dtype.kind != "i" or _outside(edges, nodes):
        raise ValueError("its edges do not fit its nodes")
    if "x" in arrays:
        size = arrays["x"].shape
    else:
        crow, col, values = (arrays[name] for name in ("x_crow", "x_col", "x_values"))
        size = tuple(arrays["x_shape"].tolist())
        whole = crow.dtype.kind == col.dtype.kind == "i"
        if not whole or not crow.ndim == col.ndim == values.ndim == 1 or len(col) != len(values):
            raise ValueError("its rows are not those of a matrix")
        if len(crow) != size[0] + 1 or crow[0] != 0 or crow[-1] != len(col):
            raise ValueError("its rows do not fit its size")
        if (np.diff(crow) < 0).any() or _outside(col, size[1]):
            raise ValueError("its columns do not fit its size")
    if len(size) != 2 or size[0] != nodes:
        raise ValueError("its features do not fit its nodes")
    masks = [arrays[name] for name in MASKS if name in arrays]
    if len(masks) != (len(MASKS) if splits else 0):
        raise ValueError("its masks are not those it was written with")
    if any(len(mask) != nodes or mask.ndim > 2 or mask.dtype != bool for mask in masks):
        raise ValueError("its masks do not fit its nodes")


def _outside(index: np.ndarray, n: int) -> bool:
    return bool(index.size and (index.min() < 0 or index.max() >= n))
