"""The graphs on offer: names, where their raw files lie, what they weigh, what to expect.

A plain table of facts, read by the settings, the loaders and the pages; it loads nothing.
"""

import difflib
from dataclasses import dataclass

from spear_core.errors import SettingError

PLANETOID = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")


@dataclass(frozen=True)
class Entry:
    """One dataset: `kind` says which reader, `folder` where its raw files lie below a data root."""

    name: str
    kind: str
    about: str
    folder: str = ""
    files: tuple[str, ...] = ()
    megabytes: float = 0.0  # what a download takes
    nodes: int = 0  # as published
    edges: int = 0  # columns of PyG's edge_index

    @property
    def builtin(self) -> bool:
        return self.kind in ("digits", "karate", "synthetic")


def _planetoid(name: str, mb: float, nodes: int, edges: int, about: str) -> Entry:
    files = tuple(f"ind.{name.lower()}.{part}" for part in PLANETOID)
    return Entry(name, "Planetoid", about, f"Planetoid/{name}/raw", files, mb, nodes, edges)


def _geom(name: str, kind: str, folder: str, stem: str, mb: float, nodes: int, edges: int) -> Entry:
    splits = tuple(f"{stem}_split_0.6_0.2_{i}.npz" for i in range(10))
    files = ("out1_node_feature_label.txt", "out1_graph_edges.txt", *splits)
    about = {"WebKB": "web pages of a university", "Actor": "actors on the same page"}.get(
        kind, "linked Wikipedia pages"
    )
    return Entry(name, kind, f"{about}, heterophilous", folder, files, mb, nodes, edges)


_ENTRIES = (
    Entry("digits", "digits", "handwritten digits; a prototype is a picture", nodes=1797),
    Entry("karate", "karate", "a karate club's two factions, small enough to draw", nodes=34),
    Entry("synthetic", "synthetic", "a block model of any size, homophily and feature strength"),
    _planetoid("Cora", 6.3, 2708, 10556, "citations between papers, homophilous"),
    _planetoid("CiteSeer", 4.2, 3327, 9104, "citations between papers, homophilous"),
    _planetoid("PubMed", 40.0, 19717, 88648, "citations between papers on diabetes"),
    Entry(
        "Computers",
        "Amazon",
        "goods bought together, homophilous",
        "Amazon/Computers/raw",
        ("amazon_electronics_computers.npz",),
        21.4,
        13752,
        491722,
    ),
    Entry(
        "Photo",
        "Amazon",
        "goods bought together, homophilous",
        "Amazon/Photo/raw",
        ("amazon_electronics_photo.npz",),
        11.0,
        7650,
        238162,
    ),
    Entry(
        "WikiCS",
        "WikiCS",
        "Wikipedia pages on computing, dense features",
        "WikiCS/raw",
        ("data.json",),
        71.0,
        11701,
        431726,
    ),
    Entry(
        "Coauthor-CS",
        "Coauthor",
        "authors of joint papers, homophilous",
        "Coauthor/CS/raw",
        ("ms_academic_cs.npz",),
        15.0,
        18333,
        163788,
    ),
    Entry(
        "Coauthor-Physics",
        "Coauthor",
        "authors of joint papers, homophilous",
        "Coauthor/Physics/raw",
        ("ms_academic_phy.npz",),
        31.0,
        34493,
        495924,
    ),
    Entry(
        "ogbn-arxiv",
        "ogb",
        "citations between arXiv papers, split by year",
        "ogbn_arxiv",
        (
            *(f"raw/{f}.csv.gz" for f in ("edge", "node-feat", "node-label")),
            *(f"raw/{f}.csv.gz" for f in ("num-node-list", "num-edge-list")),
            *(f"split/time/{f}.csv.gz" for f in ("train", "valid", "test")),
        ),
        81.0,
        169343,
        2315598,
    ),
    _geom("Texas", "WebKB", "WebKB/texas/raw", "texas", 0.7, 183, 325),
    _geom("Cornell", "WebKB", "WebKB/cornell/raw", "cornell", 0.7, 183, 298),
    _geom("Wisconsin", "WebKB", "WebKB/wisconsin/raw", "wisconsin", 0.9, 251, 515),
    _geom("Actor", "Actor", "Actor/raw", "film", 1.6, 7600, 30019),
    _geom(
        "Chameleon",
        "WikipediaNetwork",
        "WikipediaNetwork/chameleon/geom_gcn/raw",
        "chameleon",
        11.0,
        2277,
        36101,
    ),
    _geom(
        "Squirrel",
        "WikipediaNetwork",
        "WikipediaNetwork/squirrel/geom_gcn/raw",
        "squirrel",
        23.0,
        5201,
        217073,
    ),
    Entry(
        "Roman-empire",
        "HeterophilousGraphDataset",
        "words of one text, heterophilous",
        "HeterophilousGraphDataset/roman_empire/raw",
        ("roman_empire.npz",),
        13.0,
        22662,
        65854,
    ),
)

CATALOGUE = {entry.name: entry for entry in _ENTRIES}
NAMES = tuple(CATALOGUE)


def resolve(name: str) -> str:
    """The dataset's proper name, whatever the case and the hyphens.

    >>> resolve("coauthor_cs")
    'Coauthor-CS'
    """
    plain = {_plain(known): known for known in NAMES}
    if _plain(name) in plain:
        return plain[_plain(name)]
    near = difflib.get_close_matches(_plain(name), plain, n=1, cutoff=0.3)
    hint = f"; did you mean {plain[near[0]]}?" if near else "."
    raise SettingError(f"There is no dataset {name[:40]!r}{hint} The names are {', '.join(NAMES)}.")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
