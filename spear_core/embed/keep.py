"""What a map is known by, and how a fitted one is kept on disk."""

import hashlib
import re
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from spear_core.datasets import room, store
from spear_core.graph import Graph

VERSION = 1  # raise when a map would come out differently, so that kept ones are made anew
SHIPPED = Path(__file__).parent / "shipped"

_digests: Any = WeakTensorKeyDictionary()  # tensor -> digest of its values


def map_key(graph: Graph, nodes: Tensor, alpha: float, steps: int) -> str:
    """A key of everything a map depends on."""
    if alpha == 0 or steps == 0:
        alpha, steps = 0.0, 0
    parts = [digest(graph.x), digest(graph.edge_index), digest(nodes)]
    text = "|".join([*parts, repr(float(alpha)), str(int(steps)), str(VERSION)])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def digest(tensor: Tensor) -> str:
    """A hash of a tensor's shape and values, computed once for each tensor."""
    if tensor not in _digests:
        values = _fingerprint(tensor) if tensor.is_floating_point() else tensor.cpu().numpy()
        text = f"{tuple(tensor.shape)}".encode() + np.ascontiguousarray(values).tobytes()
        _digests[tensor] = hashlib.sha256(text).hexdigest()
    return str(_digests[tensor])


def _fingerprint(x: Tensor) -> np.ndarray:
    """16 products uᵀ X v with random u and v, in thousandths of ‖X‖.

    Another processor rounds features differently in the last bit: such a change, too small to be
    seen on a map, leaves the key as it is, so that shipped maps are found everywhere.
    """
    draw = np.random.RandomState(0)
    u, v = (
        torch.as_tensor(draw.rand(n, 16) - 0.5, dtype=torch.float32, device=x.device)
        for n in x.shape
    )
    length = (x.values() if x.is_sparse_csr else x).norm().double()
    sums = (u * (x @ v)).sum(0, dtype=torch.float64)
    return (1000 * sums / length.clamp_min(1e-30)).round().long().cpu().numpy()


def file_name(graph: Graph, key: str) -> str:
    return f"{re.sub('[^A-Za-z0-9]+', '-', graph.name)}-{key}.npz"


def folders() -> tuple[Path, Path]:
    """Where a fitted map may lie: shipped with the package, or kept in the cache."""
    return SHIPPED, store.cache_folder() / "maps"


def read(path: Path, nodes: int) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Places, lengths and the usual cosine in a file; None if it is not there or damaged."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            xy, lengths, usual = kept["xy"], kept["lengths"], float(kept["hollow_below"])
    except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile):
        return None
    whole = xy.shape == (nodes, 2) and lengths.shape == (nodes,)
    if not whole or not (np.isfinite(xy).all() and np.isfinite(lengths).all()):
        return None
    return xy, lengths, usual


def write(path: Path, xy: Tensor, lengths: Tensor, usual: float) -> None:
    with store.writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {"xy": xy.cpu().numpy(), "lengths": lengths.cpu().numpy()}
        store.save_whole(path, {**arrays, "hollow_below": np.array(usual)})
    room.after_writing(path)
