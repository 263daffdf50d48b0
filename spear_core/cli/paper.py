"""`python -m spear_core paper`: measure what the paper prints and say where we differ."""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from spear_core.cli.options import progress
from spear_core.datasets import store
from spear_core.errors import SpearError
from spear_core.paper import measured
from spear_core.paper.cells import cells, curves


def add(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser("paper", help="measure every figure of the paper for SPEAR")
    parser.set_defaults(command=main)
    parser.add_argument("--only", metavar="A,B,…", help=f"some tables: {', '.join(tables())}")
    parser.add_argument("--out", metavar="FILE", help="a CSV file to store into, not the cache")


def tables() -> list[str]:
    return list(dict.fromkeys(cell.table for cell in [*cells(), *curves()]))


def main(args: argparse.Namespace) -> None:
    """Measure, store, and list every deviation beyond two standard errors or 3 points."""
    only = [name.strip() for name in args.only.split(",")] if args.only else []
    unknown = [name for name in only if name not in tables()]
    if unknown:
        raise SpearError(f"There is no table {unknown[0]!r}; choose from {', '.join(tables())}.")
    path = Path(args.out) if args.out else measured.own()
    store.ready(path.parent)
    rows = measured.measure_all(only, progress)
    measured.write(rows, path)
    for table in dict.fromkeys(row.table for row in rows):
        marks = Counter(row.mark for row in rows if row.table == table)
        said = ", ".join(f"{count} {mark}" for mark, count in marks.items())
        print(f"{table:16} {said}")
    differing = [row for row in rows if row.mark in (measured.DIFFERS, measured.FAR)]
    if differing:
        print(f"\nBeyond two standard errors or 3 points ({len(differing)}), measured and printed:")
    for row in differing:
        print(
            f"  {row.table}, {row.row}, {row.column}: {row.words} "
            f"against {row.printed:g}" + (f" ({row.note})" if row.note else "")
        )
    print(f"\nStored in {path}")
