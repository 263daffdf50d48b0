"""`spear data`: which datasets are there, how to get one, and how to free the disk."""

import argparse
from typing import Any

from spear_core.cli.options import program, progress
from spear_core.datasets import CATALOGUE, load, locate, room, store
from spear_core.datasets.catalogue import resolve
from spear_core.settings import defaults


def add(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser("data", help="show which datasets are there, or get one")
    parser.set_defaults(command=main)
    parser.add_argument("name", nargs="?", help="a dataset to get and check")
    words = "free the cache down to SPEAR_CACHE_GB (2), the oldest first; datasets stay"
    parser.add_argument("--clean", action="store_true", help=words)


def main(args: argparse.Namespace) -> None:
    if args.clean:
        freed, left = room.clean()
        most = room.budget() / 1e9
        print(f"{_size(freed)} freed, {_size(left)} left of {most:g} GB in {store.cache_folder()}.")
        return
    if args.name:
        entry = CATALOGUE[resolve(args.name)]
        graph = load(defaults(entry.name), progress=progress)
        where = "built in" if entry.builtin else str(locate(entry) / entry.folder)
        print(
            f"{entry.name} is ready ({where}): {graph.num_nodes} nodes, {graph.num_edges} edges, "
            f"{graph.num_features} features, {graph.classes} classes."
        )
        return
    print("Raw files are looked for in")
    print(f"  $SPEAR_DATA   {store.data_folder() or 'not set'} (never written to)")
    print(f"  the cache     {store.raw_cache()} (set SPEAR_CACHE for another)\n")
    for entry in CATALOGUE.values():
        root = None if entry.builtin else store.found(entry)
        state = (
            "built in"
            if entry.builtin
            else f"in {root}"
            if root
            else f"to download, about {entry.megabytes:g} MB"
        )
        print(f"{entry.name:17} {entry.about:57} {state}")
    print(f"\nGet one with: {program()} data NAME")


def _size(amount: float) -> str:
    """Bytes in a unit that reads well."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if amount >= unit:
            return f"{amount / unit:.1f} {name}"
    return f"{amount / 1e3:.1f} kB"
