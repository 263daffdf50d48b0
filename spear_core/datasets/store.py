"""Where graphs lie on disk: $SPEAR_DATA (read only), the local cache, and the compact copies.

A public graph is read from its raw files once and kept as one compact file that loads in a moment.
Files appear in the cache under their final name only when they are whole.
"""

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from spear_core.datasets.arrays import DIGEST, check_graph, check_trained, digest, read_whole
from spear_core.datasets.catalogue import Entry
from spear_core.errors import DataDamaged, SpearError, StorageError
from spear_core.wanted import still_wanted

Progress = Callable[[str, float], object]

FORMAT = 1  # raise when the compact file changes, so that old copies are made anew
# no marks of HTML or Markdown, no ":" or "@", and no "_" but within a word
NO_LABEL = re.compile(r"[^\w .,()'/+-]|(?<![^\W_])_+|_+(?![^\W_])")
ADDRESS = re.compile(r"www\.", re.IGNORECASE)  # what is left of an address then


def data_folder() -> Path | None:
    """$SPEAR_DATA: raw files in PyG's layout, never written to."""
    value = os.environ.get("SPEAR_DATA")
    return _at_home(value) if value else None


def cache_folder() -> Path:
    """$SPEAR_CACHE, or a folder of the user's cache."""
    value = os.environ.get("SPEAR_CACHE")
    if value:
        return _at_home(value)
    return _at_home(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "spear"


def _at_home(value: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise StorageError(
            f"The folder {value} cannot be found, since there is no home folder here; "
            "set SPEAR_CACHE to a folder that can be written."
        ) from None


def raw_cache() -> Path:
    """Downloaded raw files, in the same layout as $SPEAR_DATA."""
    return cache_folder() / "raw"


def roots() -> list[Path]:
    """The folders that are searched, in order."""
    shared = data_folder()
    return [*([shared] if shared else []), raw_cache()]


def missing(entry: Entry, root: Path) -> list[str]:
    """The raw files of a dataset that are not below a root."""
    return [f for f in entry.files if not os.path.isfile(root / entry.folder / f)]


def found(entry: Entry) -> Path | None:
    """The first root that holds every raw file of a dataset."""
    return next((root for root in roots() if not missing(entry, root)), None)


def on_disk(entry: Entry) -> bool:
    """Whether a dataset needs no download."""
    return entry.builtin or found(entry) is not None


def read(entry: Entry, root: str | Path) -> dict[str, np.ndarray]:
    """Plain arrays of a public graph, from its compact copy or, the first time, its raw files."""
    compact = cache_folder() / "graphs" / f"{entry.name}-{signature(entry, Path(root))}.npz"
    if os.path.isfile(compact):
        try:
            arrays = read_whole(compact)
            check_graph(arrays, entry.splits)
            check_trained(arrays)
            return arrays
        except Exception:  # whatever is wrong with a damaged copy, it is made anew
            pass
    from spear_core.datasets.public import read_raw

    ready(compact.parent)
    arrays = read_raw(entry, Path(root))
    still_wanted()
    with writing(compact.parent):
        for old in compact.parent.glob(f"{entry.name}-*.npz"):  # of raw files that have changed
            old.unlink(missing_ok=True)
        save_whole(compact, arrays)
    return arrays


def names_in(entry: Entry, root: str | Path) -> tuple[str, ...]:
    """The class names that a graph of one npz file holds as plain text, or none.

    They go into figures and sentences, so what a browser could take for more than text is left out.
    """
    if len(entry.files) != 1 or not entry.files[0].endswith(".npz"):
        return ()
    try:
        with np.load(Path(root) / entry.folder / entry.files[0], allow_pickle=False) as raw:
            names = (NO_LABEL.sub("", str(name)) for name in raw["class_names"])
            return tuple(ADDRESS.sub("www ", name)[:60] or "?" for name in names)
    except (OSError, KeyError, ValueError):  # not there, or pickled
        return ()


def published_note(entry: Entry, arrays: dict[str, np.ndarray]) -> tuple[str, ...]:
    """A sentence where a graph has another size than the published one."""
    if entry.builtin or entry.own:
        return ()
    nodes, edges = len(arrays["y"]), arrays["edge_index"].shape[1]
    if (nodes, edges) == (entry.nodes, entry.edges):
        return ()
    return (
        f"This {entry.name} has {nodes} nodes and {edges} edges, the published one {entry.nodes} "
        f"and {entry.edges}.",
    )


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn a failure to write into one sentence."""
    try:
        yield
    except SpearError:  # some are OSErrors too; they say what they mean already
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageError(
                f"No space is left in {folder}; free some, or set SPEAR_CACHE to another folder."
            ) from error
        raise StorageError(
            f"The cache {folder} cannot be written ({error.strerror or error}); set SPEAR_CACHE "
            "to a folder that can."
        ) from error


def ready(folder: Path) -> None:
    """Make a folder, and say before the slow part if it cannot be written."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write into; it is at its place whole or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def save_whole(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write arrays and their digest so that the file is there whole or not at all."""
    with whole(path) as file:
        np.savez(file, **arrays, **{DIGEST: digest(arrays)})  # type: ignore[arg-type]


def signature(entry: Entry, root: Path) -> str:
    """Changes whenever a raw file does."""
    parts = [str(FORMAT)]
    for name in entry.files:
        try:
            state = (root / entry.folder / name).stat()
        except OSError as error:
            raise DataDamaged(
                f"{entry.name}: {root / entry.folder / name} cannot be read "
                f"({error.strerror}); put it back or check its rights."
            ) from error
        parts.append(f"{name}:{state.st_size}:{state.st_mtime_ns}")
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]
