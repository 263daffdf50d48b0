"""Reading public graphs from raw files with PyG's and OGB's own readers, writing nothing.

PyG writes `processed/` beside `raw/`; the data folder is read only, so the reader classes are
used with that step taken out and the graph kept in memory.
"""

import contextlib
import pickle
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from spear_core.datasets.catalogue import Entry
from spear_core.datasets.own import DENSE_ABOVE
from spear_core.errors import DataDamaged, SpearError


def read_raw(entry: Entry, root: Path) -> dict[str, np.ndarray]:
    """Plain arrays of a public graph, or one sentence that names the damage."""
    folder = root / entry.folder
    try:
        _refuse_cut_text(entry, folder)
        data = _read_ogb(folder) if entry.reader == "ogb" else _read_pyg(entry, root)
        arrays = _plain(entry, data)
        _refuse_lost_lines(entry, folder, arrays)
        return arrays
    except SpearError:
        raise
    except MemoryError:
        raise SpearError(f"There is not enough memory to read {entry.name}.") from None
    except PermissionError as error:
        raise DataDamaged(
            f"{entry.name} cannot be read from {folder} ({error.strerror}); give yourself the "
            "right to read its files."
        ) from error
    except Exception as error:  # unpickling damaged files can raise anything
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
        if "allow_pickle" in reason:
            reason = "an .npz file is not one"
        raise DataDamaged(
            f"{entry.name} cannot be read from {folder} ({reason}); a file there is damaged, "
            "replace it by a whole copy."
        ) from error


def pyg_class(entry: Entry, root: Path) -> tuple[type, tuple[Any, ...], dict[str, Any]]:
    """PyG's class for a dataset with the arguments that make it look below `root`."""
    from torch_geometric import datasets as pyg

    base = getattr(pyg, entry.reader)
    return base, (str(root / entry.reader), *entry.arguments), entry.options


class _InMemory:
    """Put before a PyG dataset class: process the raw files, write and download nothing."""

    kept: Any = None

    def _download(self) -> None:
        pass

    def _process(self) -> None:
        self.process()  # type: ignore[attr-defined]

    @classmethod
    def save(cls, data_list: list[Any], path: str) -> None:
        cls.kept = data_list[0]

    def load(self, path: str) -> None:
        pass


def _read_pyg(entry: Entry, root: Path) -> Any:
    base, args, kwargs = pyg_class(entry, root)
    if entry.reader in ("Amazon", "Coauthor"):  # PyG would cut the fractions off
        with np.load(root / entry.folder / entry.files[0]) as raw:
            if raw["labels"].dtype.kind not in "iu":
                raise DataDamaged(f"{entry.name} has no labels; give one whole number a node.")
    reader: Any = type(base.__name__, (_InMemory, base), {})
    reader(*args, **kwargs)
    return reader.kept


_importing = threading.Lock()


@contextlib.contextmanager
def importing_ogb() -> Iterator[None]:
    """Import OGB without the thread that asks the network for updates; one import at a time."""
    with _importing:
        before = {name: sys.modules[name] for name in ("outdated",) if name in sys.modules}
        sys.modules["outdated"] = None  # type: ignore[assignment]
        try:
            yield
        finally:
            del sys.modules["outdated"]
            sys.modules.update(before)


def _ogb_reader() -> Any:
    """OGB's reader of csv files; it says and draws nothing, and stdout stays the process's."""
    with importing_ogb():
        from ogb.io import read_graph_pyg as reader
        from ogb.io import read_graph_raw as raw

        for module in (reader, raw):
            module.print = lambda *_: None
            module.tqdm = lambda items, **_: items
    return reader.read_graph_pyg


def _read_ogb(folder: Path) -> Any:
    """ogbn-arxiv from OGB's csv files; its dataset class would ask questions and torch.load."""
    import pandas as pd
    from torch_geometric.utils import to_undirected

    data = _ogb_reader()(str(folder / "raw"))[0]
    labels = pd.read_csv(folder / "raw" / "node-label.csv.gz", header=None).to_numpy()
    data.y = torch.tensor(labels[:, 0])
    n = len(labels)
    data.edge_index = to_undirected(data.edge_index, num_nodes=n)
    for part, file in (("train", "train"), ("val", "valid"), ("test", "test")):
        index = pd.read_csv(folder / "split" / "time" / f"{file}.csv.gz", header=None).to_numpy()
        mask = torch.zeros(n, dtype=torch.bool)
        mask[torch.tensor(index[:, 0])] = True
        data[f"{part}_mask"] = mask
    return data


def _plain(entry: Entry, data: Any) -> dict[str, np.ndarray]:
    """NumPy arrays small enough to keep: CSR features when sparse, 32-bit edges."""
    x, y = data.x.to(torch.float32), data.y
    if y is None or y.numel() == 0 or bool((y != y.long()).any()):
        raise DataDamaged(f"{entry.name} has no labels; give one whole number a node.")
    if bool((y < 0).any()):
        missing = int((y < 0).sum())
        raise DataDamaged(f"{entry.name}: {missing} nodes have no label; drop or label them.")
    if len(x) != len(y):
        raise DataDamaged(
            f"{entry.name} has {len(x)} rows of features for {len(y)} labels; "
            "a file is cut short, replace it by a whole copy."
        )
    if not bool(torch.isfinite(x).all()):
        raise DataDamaged(
            f"{entry.name} has NaN or infinite features; replace them, for example by 0."
        )
    arrays = {"edge_index": data.edge_index.numpy().astype(np.int32), "y": y.long().numpy()}
    if int(torch.count_nonzero(x)) <= DENSE_ABOVE * x.numel():
        csr = x.to_sparse_csr()
        arrays["x_crow"] = csr.crow_indices().numpy().astype(np.int32)
        arrays["x_col"] = csr.col_indices().numpy().astype(np.int32)
        arrays["x_values"] = csr.values().numpy()
        arrays["x_shape"] = np.array(x.shape)
    else:
        arrays["x"] = x.numpy()
    for part in ("train", "val", "test"):
        mask = getattr(data, f"{part}_mask", None)
        if mask is not None:
            if len(mask) != len(y):
                raise DataDamaged(
                    f"{entry.name}: a split has {len(mask)} entries for {len(y)} nodes; "
                    "a file is cut short, replace it by a whole copy."
                )
            arrays[part] = mask.numpy().astype(bool)
    return arrays


def _refuse_cut_text(entry: Entry, folder: Path) -> None:
    """A text file that stops in the middle of a line would be read as a smaller graph."""
    for name in entry.files:
        if name.endswith((".txt", ".index")):
            with open(folder / name, "rb") as file:
                end = file.seek(0, 2)
                file.seek(max(0, end - 1))
                if file.read(1) != b"\n":
                    raise DataDamaged(
                        f"{entry.name}: {folder / name} is cut short; replace it by a whole copy."
                    )


def _refuse_lost_lines(entry: Entry, folder: Path, arrays: dict[str, np.ndarray]) -> None:
    """Text cut between two lines still reads well, so what must be there is counted."""
    nodes, edges = len(arrays["y"]), arrays["edge_index"].shape[1]
    if nodes == entry.nodes and edges != entry.edges:
        raise DataDamaged(
            f"{entry.name} has {edges} edges in {folder} instead of {entry.edges}; "
            "a file is cut short, replace it by a whole copy."
        )
    if entry.reader == "ogb" and nodes == entry.nodes:
        named = sum(int(arrays[part].sum()) for part in ("train", "val", "test"))
        if named != nodes:
            raise DataDamaged(
                f"{entry.name}: the split in {folder} names {named} of {nodes} nodes; "
                "a file is cut short, replace it by a whole copy."
            )
    if entry.reader == "Planetoid":
        stem = f"ind.{entry.name.lower()}"
        with open(folder / f"{stem}.tx", "rb") as file:
            rows = pickle.load(file, encoding="latin1").shape[0]
        if int(arrays["test"].sum()) != rows:
            raise DataDamaged(
                f"{entry.name}: {folder / f'{stem}.test.index'} does not name the {rows} test "
                "nodes; it is cut short, replace it by a whole copy."
            )
