"""`python -m spear_core field …`: make the stored runs of all rivals, one process a core.

It can be killed at any time and called again: what is stored is not run again, and a run that was
under way goes on from its checkpoint. Without parts it makes all of them.
"""

import argparse
import os
from pathlib import Path
from typing import Any

from spear_core.baselines import results
from spear_core.baselines.methods import METHODS
from spear_core.baselines.plan import PARTS, missing, plan
from spear_core.baselines.runner import carry_out
from spear_core.cli.options import add_seeds
from spear_core.errors import SettingError, SpearError

HOUR = 3600.0


def add(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser("field", help="make the stored runs of all rivals, to go on")
    parser.set_defaults(command=main)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"what for: {', '.join(PARTS)} (default all)"
    )
    parser.add_argument("--methods", default="", metavar="A,B,…", help="only these")
    parser.add_argument(
        "--datasets", default="", metavar="A,B,…", help="these in the place of the parts' own"
    )
    add_seeds(parser)
    parser.add_argument("--store", type=Path, metavar="FILE", help="the CSV that rows are added to")
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="runs at once (default a core)"
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=HOUR,
        metavar="SECONDS",
        help="a run is stored as it is after so long (default 3600)",
    )
    parser.add_argument("--list", action="store_true", help="only name the runs that are missing")


def main(args: argparse.Namespace) -> None:
    """Make what is missing, and say each run as it ends."""
    parts = args.parts or list(PARTS)
    methods = [name.lower() for name in _split(args.methods)]
    for what, names, known in (("part", parts, PARTS), ("method", methods, METHODS)):
        for name in names:
            if name not in known:
                raise SettingError(f"{what} must be one of {', '.join(known)}, got {name}.")
    if args.processes < 1:
        raise SettingError(f"processes must be at least 1, got {args.processes}.")
    wanted = plan(parts, methods, _split(args.datasets), args.seeds or ())
    store = args.store or results.own()
    if args.list:
        for one in missing(wanted, results.stored(store), args.limit):
            print(one.title)
        return

    def say(line: str) -> None:
        print(line, flush=True)

    if failed := carry_out(wanted, store, args.processes, args.limit, say):
        raise SpearError(f"{failed} runs failed; what they said stands above.")


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]
