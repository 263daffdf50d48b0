"""`spear data`: which datasets are there, how to get one or add one's own, how to free the disk."""

import argparse
from pathlib import Path
from typing import Any

from spear_core.cli.options import program, progress
from spear_core.datasets import CATALOGUE, load, locate, mine, room, store
from spear_core.datasets.catalogue import resolve
from spear_core.datasets.entry import Entry
from spear_core.errors import SettingError
from spear_core.settings import defaults

FILES = {  # option -> what it names
    "edges": "your edges: CSV, TSV or Parquet, two columns of ids",
    "nodes": "your nodes: id, label, split, features or a text",
    "features": "features as .npz, .npy or .parquet, a row a node",
    "graphml": "a GraphML file, in the place of both tables",
    "folder": "a folder with Geom-GCN's text files, in their place",
    "compact": "a file of a kept graph that somebody shared",
}
COLUMNS = {
    "id": "the id of a node",
    "label": "its class",
    "split": "train, val or test",
    "owner": "who holds it: the partition owner",
    "text": "a text that becomes the features",
}


def add(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser(
        "data", help="show which datasets are there, get one, add or remove one of your own"
    )
    parser.set_defaults(command=main)
    parser.add_argument(
        "what", nargs="*", metavar="NAME", help="a dataset to get and check; add NAME; remove NAME"
    )
    words = "free the cache down to SPEAR_CACHE_GB (2), the oldest first; datasets stay"
    parser.add_argument("--clean", action="store_true", help=words)
    own = parser.add_argument_group("a graph of your own (spear data add NAME)")
    for name, words in FILES.items():
        own.add_argument(f"--{name}", type=Path, metavar="PATH", help=words)
    for name, words in COLUMNS.items():
        own.add_argument(f"--{name}-column", default="", metavar="COLUMN", help=words)
    own.add_argument("--directed", action="store_true", help="an edge goes one way only")
    own.add_argument(
        "--no-features",
        default="",
        metavar="KIND",
        help="where there are none: identity, structural (a walk's returns) or degree",
    )
    own.add_argument(
        "--draw-split",
        default="20%",
        metavar="SHARE",
        help="where there is none, training nodes by seed: 10%% of them, or 20 a class "
        "(default 20%%)",
    )
    own.add_argument("--terms", type=int, default=5000, help="of a text at most (default 5000)")
    own.add_argument("--dry-run", action="store_true", help="read and describe, keep nothing")


def main(args: argparse.Namespace) -> None:
    if args.clean:
        freed, left = room.clean()
        most = room.budget() / 1e9
        print(f"{_size(freed)} freed, {_size(left)} left of {most:g} GB in {store.cache_folder()}.")
        return
    what = args.what
    given = [name for name in FILES if getattr(args, name) is not None]
    if given and what[:1] != ["add"]:
        raise SettingError(f"--{given[0]} is for a graph of your own: {program()} data add NAME …")
    if what[:1] in (["add"], ["remove"]) and len(what) == 2:
        (_add if what[0] == "add" else _remove)(args, what[1])
    elif len(what) > 1 or what in (["add"], ["remove"]):
        raise SettingError(f"Say {program()} data NAME, data add NAME … or data remove NAME.")
    elif what:
        _get(what[0])
    else:
        _list()


def _add(args: argparse.Namespace, name: str) -> None:
    """Read, describe and keep somebody's graph."""
    from spear_core import own

    mine.free_name(name)
    paths = {kind: getattr(args, kind) for kind in FILES}
    files = {
        kind: own.given_path(path) for kind, path in paths.items() if path and kind != "folder"
    }
    folder = own.given_folder(paths["folder"]) if paths["folder"] else ()
    chosen = {kind: getattr(args, f"{kind}_column") for kind in COLUMNS}
    choices = own.Choices(
        directed=args.directed,
        features=args.no_features,
        drawn=args.draw_split,
        terms=args.terms,
        **chosen,
    )
    draft = own.read_graph(own.Sources(**files, folder=folder), choices, progress)
    for line in own.described(draft):
        print(f"· {line}")
    if args.dry_run:
        print(f"Nothing was kept. Without --dry-run it becomes the dataset {name}.")
        return
    own.keep(draft, name)
    print(f"{name} is a dataset now. Run it with: {program()} run --dataset {name}")


def _remove(args: argparse.Namespace, name: str) -> None:
    mine.remove(name)
    print(f"{name} is removed from the cache; the files it was made from stay.")


def _get(name: str) -> None:
    entry = CATALOGUE[resolve(name)]
    graph = load(defaults(entry.name), progress=progress)
    where = "built in" if entry.builtin else str(locate(entry) / entry.folder)
    print(
        f"{entry.name} is ready ({where}): {graph.num_nodes} nodes, {graph.num_edges} edges, "
        f"{graph.num_features} features, {graph.classes} classes."
    )


def _list() -> None:
    print("Raw files are looked for in")
    print(f"  $SPEAR_DATA   {store.data_folder() or 'not set'} (never written to)")
    print(f"  the cache     {store.raw_cache()} (set SPEAR_CACHE for another)\n")
    for entry in CATALOGUE.values():
        print(f"{entry.name:17} {entry.about:57} {_state(entry)}")
    print(f"\nGet one with: {program()} data NAME")
    print(f"Add your own: {program()} data add NAME --edges e.csv --nodes n.csv")


def _state(entry: Entry) -> str:
    if entry.builtin:
        return "built in"
    root = store.found(entry)
    return f"in {root}" if root else f"to download, about {entry.megabytes:g} MB"


def _size(amount: float) -> str:
    """Bytes in a unit that reads well."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if amount >= unit:
            return f"{amount / unit:.1f} {name}"
    return f"{amount / 1e3:.1f} kB"
