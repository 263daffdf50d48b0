"""One file a run: written after every round, so that a killed run loses at most one.

The name is a digest of all that the numbers depend on: the graph, the partition, the seed, the
training and the versions. A finished run keeps its curve, its model and its scores there.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from spear_core.baselines.training import Training
from spear_core.datasets import room, store
from spear_core.graph import Graph
from spear_core.partition import Partition

FORMAT = 2  # raise when a method changes its numbers


def path_of(
    partition: Partition, seed: int, training: Training, tested: Graph | None = None
) -> Path:
    """Where a run is kept; `tested` is the graph that it is tested on, if that is another."""
    graph = partition.graph
    digest = hashlib.sha256()
    x = graph.x
    about = [FORMAT, torch.__version__, str(graph.device), seed, partition.clients]
    about += [graph.classes, *x.shape]  # the width of the model, whatever the rows hold
    digest.update(json.dumps([*about, training.used()], sort_keys=True).encode())
    more = [] if tested is None or tested is graph else _parts(tested)
    for part in (*_parts(graph), partition.owner, *more):
        digest.update(part.contiguous().cpu().numpy().tobytes())
    name = f"{graph.name}-{training.method}-{digest.hexdigest()[:20]}.pt"
    return store.cache_folder() / "baselines" / name


def _parts(graph: Graph) -> list[Tensor]:
    x = graph.x
    parts = [x.crow_indices(), x.col_indices(), x.values()] if x.layout != torch.strided else [x]
    return [*parts, graph.edge_index, graph.y, graph.train, graph.val, graph.test]


def save(path: Path, saved: dict[str, Any]) -> None:
    """Write a run so that its file is there whole or not at all."""
    with store.writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with store.whole(path) as file:
            torch.save(saved, file)
    room.after_writing(path)


def load(path: Path, device: torch.device) -> dict[str, Any] | None:
    """A run as it was saved, or nothing; a damaged file is as good as none."""
    if not path.is_file():
        return None
    try:
        saved: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
        return saved if {"curve", "done"} <= set(saved) else None
    except Exception:  # whatever is wrong with a damaged file, the run starts anew
        return None
