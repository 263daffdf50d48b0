"""What somebody asks for, and the graph as it was read: looked at before anything is kept."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spear_core.datasets.arrays import MASKS
from spear_core.errors import SettingError
from spear_core.own.given import Given

MADE = ("identity", "structural", "degree")  # features where none are given
MOST_TERMS = 5000  # of a text


@dataclass(frozen=True)
class Choices:
    """How the files are to be read; an empty name of a column means: find it by its name."""

    directed: bool = False  # edges go one way only; else each is taken both ways
    id: str = ""
    label: str = ""
    split: str = ""
    owner: str = ""
    text: str = ""
    features: str = ""  # one of MADE where there are none; empty: identity, structural if large
    drawn: str = "20 %"  # training nodes where no split is given: a share, or so many a class
    terms: int = MOST_TERMS

    def __post_init__(self) -> None:
        if self.features not in ("", *MADE):
            raise SettingError(f"features must be one of {', '.join(MADE)}, got {self.features}.")
        object.__setattr__(self, "drawn", rule(self.drawn))
        if not 1 <= self.terms <= 10**5:
            raise SettingError(f"terms must be 1 to 100000, got {self.terms}.")


def rule(text: str) -> str:
    """How many nodes train: "20 %" of them, or "20" of every class.

    >>> rule("10%"), rule("20")
    ('10 %', '20')
    """
    words = str(text).strip()
    try:
        if words.endswith("%"):
            share = float(words[:-1])
            if 0 < share < 100:
                return f"{share:g} %"
        elif int(words) > 0:
            return str(int(words))
    except ValueError:
        pass
    raise SettingError(
        f"The split must be a share as in 20% or a number of nodes a class as in 20, got "
        f"{words[:20]!r}."
    )


@dataclass(frozen=True)
class Sources:
    """The files that make one graph; not all of them are needed."""

    edges: Given | None = None
    nodes: Given | None = None
    features: Given | None = None
    graphml: Given | None = None
    compact: Given | None = None
    folder: tuple[Given, ...] = ()  # of Geom-GCN's text files


@dataclass
class Nodes:
    """Nodes as they were read; what is None was not given."""

    ids: list[str]
    x: Any = None  # dense array or scipy's CSR, float32
    words: list[str] = field(default_factory=list)  # names of the features
    text: bool = False  # whether they are terms of a text
    y: np.ndarray | None = None  # -1: no label
    class_names: list[str] = field(default_factory=list)
    masks: np.ndarray | None = None  # (3, N), or (3, N, S)
    owner: np.ndarray | None = None
    owners: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Draft:
    """A graph that could be kept: its arrays, facts as the kept file has them, and what to know."""

    arrays: dict[str, np.ndarray]
    about: dict[str, Any]

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self.about["notes"])


def described(draft: Draft) -> list[str]:
    """The draft in sentences: its sizes, its classes, its split, its owners, what was put right."""
    a, y = draft.about, draft.arrays["y"]
    names, count = a["class_names"], np.bincount(y, minlength=a["classes"])
    classes = [f"{name} {n:,}" for name, n in zip(names, count.tolist(), strict=True)]
    lines = [
        f"{a['nodes']:,} nodes, {a['edges']:,} edges (each way counted), {a['features']:,} "
        f"features, {a['classes'] - a['unlabelled']} classes.",
        f"Nodes of each class: {', '.join(classes[:10])}{', …' if len(classes) > 10 else ''}.",
    ]
    if a["splits"]:
        sizes = [int(draft.arrays[part].reshape(len(y), -1)[:, 0].sum()) for part in MASKS]
        many = draft.arrays["train"].reshape(len(y), -1).shape[1]
        words = f" in the first of {many} splits" if many > 1 else ""
        lines.append("{:,} train, {:,} validate, {:,} test{}.".format(*sizes, words))
    else:
        how = a["drawn"] if a["drawn"].endswith("%") else f"{a['drawn']} a class"
        lines.append(f"No split was given: {how} train, the rest is halved, drawn by the seed.")
    if a["owners"]:
        lines.append(f"{len(a['owners'])} owners: {', '.join(a['owners'][:10])}.")
    return [*lines, *a["notes"]]
