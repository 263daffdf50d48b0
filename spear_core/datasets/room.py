"""How much of the disk the cache may take: what can be made again goes, the oldest first.

That is sweeps' logs, trained rivals and maps. Raw files, compact graphs and tables of what was
measured here stay.
"""

import contextlib
import math
import os
import time
from pathlib import Path

from spear_core.datasets.store import cache_folder
from spear_core.errors import StorageError

AGAIN = ("sweeps/*/*.log", "baselines/*.pt", "maps/*.npz")  # what can be made again
USUAL_GB = 2.0
PAUSE = 60.0  # seconds between two looks at the disk

_looked = -math.inf  # when the disk was looked at last


def budget() -> float:
    """Bytes that may be kept: $SPEAR_CACHE_GB, or two gigabytes."""
    text = os.environ.get("SPEAR_CACHE_GB") or str(USUAL_GB)
    with contextlib.suppress(ValueError):
        if float(text) >= 0:
            return 1e9 * float(text)
    raise StorageError(f"SPEAR_CACHE_GB is {text!r}; give a number of gigabytes, for example 2.")


def clean(spare: Path | None = None) -> tuple[int, int]:
    """Remove the oldest files until the rest fits the budget: bytes freed, bytes left."""
    most, left, freed = budget(), 0, 0
    for path, size in reversed(_oldest_first()):
        if path != spare and left + size > most:
            most = 0.0  # whatever is older goes too
            with contextlib.suppress(OSError):
                path.unlink()
                freed += size
                continue
        left += size
    for folder in cache_folder().glob("sweeps/*/"):
        with contextlib.suppress(OSError):  # not empty
            folder.rmdir()
    return freed, left


def after_writing(path: Path) -> None:
    """Clean, though not at every write; what was just written stays."""
    global _looked
    if time.monotonic() - _looked < PAUSE:
        return
    _looked = time.monotonic()
    clean(spare=path)


def _oldest_first() -> list[tuple[Path, int]]:
    """The files that can be made again, with their bytes."""
    found = []
    for pattern in AGAIN:
        for path in cache_folder().glob(pattern):
            with contextlib.suppress(OSError):  # gone meanwhile
                state = path.stat()
                found.append((state.st_mtime_ns, path, state.st_size))
    return [(path, size) for _, path, size in sorted(found)]
