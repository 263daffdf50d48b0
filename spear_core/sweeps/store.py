"""What sweeps keep on disk: a log for every dataset and version of the engine, one line a block.

A line is written whole behind the others and never changed, so a sweep that is killed loses only
the block it was at, and a line that was torn is passed over. Two sweeps may write at once.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from spear_core.datasets import CATALOGUE, room, store
from spear_core.settings import Settings

Row = dict[str, Any]  # the measures of one run, by name
# what a run's numbers come from, besides the files of the root
FOLDERS = (
    "client",
    "lance",
    "datasets",
    "transforms",
    "defences",
    "measures",
    "grids",
    "sweeps",
    "memory",
)


@lru_cache(maxsize=1)
def version() -> str:
    """Of the engine's own source and of torch: what another version measured is not taken over."""
    return version_of(Path(__file__).parents[1])


def version_of(engine: Path) -> str:
    """The version of the source in a folder: its files and those of `FOLDERS` in it."""
    digest = hashlib.sha256(torch.__version__.encode())
    for folder in (engine, *(engine / name for name in FOLDERS)):
        for file in sorted(folder.glob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def key(settings: Settings) -> str:
    """Of everything in the settings but α, γ and T, and of the raw files where they are at hand."""
    plain = {k: v for k, v in settings.to_dict().items() if k not in ("alpha", "gamma", "steps")}
    entry = CATALOGUE[settings.dataset]
    root = None if entry.builtin else store.found(entry)
    plain["files"] = store.signature(entry, root) if root else ""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:24]


def log(dataset: str) -> Path:
    """The file in which the runs on a dataset are kept."""
    return store.cache_folder() / "sweeps" / version() / f"{dataset}.log"


def append(dataset: str, key: str, record: Mapping[str, Any]) -> None:
    """Keep what a block gave; a line break comes first, in case the line before was torn."""
    path = log(dataset)
    line = f"\n{key} {json.dumps(record, separators=(',', ':'))}\n".encode()
    with store.writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            while line:  # one call unless the disk is full
                line = line[os.write(file, line) :]
        finally:
            os.close(file)
    room.after_writing(path)


def read(dataset: str, keys: Iterable[str]) -> dict[str, dict[tuple[float, ...], Row]]:
    """What is kept for these keys: the measures of every point (α, γ, T)."""
    kept: dict[str, dict[tuple[float, ...], Row]] = {key: {} for key in keys}
    path = log(dataset)
    if not path.exists():
        return kept
    with path.open("rb") as lines:
        for line in lines:
            name, _, text = line.partition(b" ")
            found = kept.get(name.decode("ascii", "replace"))
            if found is None:
                continue
            try:
                record = json.loads(text)
            except ValueError:  # torn: its block is measured again
                continue
            for point, row in rows(record).items():
                found[point] = {**found.get(point, {}), **row}
    return kept


def rows(record: Mapping[str, Any]) -> dict[tuple[float, ...], Row]:
    """A block's record as one row of measures a point."""
    if "problem" in record:
        return {tuple(point): {"problem": record["problem"]} for point in record["points"]}
    columns = record["each"].values()
    return {
        tuple(point): {**record["shared"], **dict(zip(record["each"], values, strict=True))}
        for point, values in zip(record["points"], zip(*columns, strict=True), strict=True)
    }
