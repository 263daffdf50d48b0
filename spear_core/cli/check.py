"""`spear check`: is training-free a good idea on this graph, decided without a test label?"""

import argparse
import json
from typing import Any

from spear_core.cli.options import add_settings, progress, settings_of
from spear_core.datasets import load


def add(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser("check", help="a verdict on a graph: what to expect, what to set")
    parser.set_defaults(command=main)
    parser.add_argument("name", metavar="NAME", help="the dataset")
    add_settings(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object with everything")
    parser.add_argument("--fedavg", action="store_true", help="train FedAvg too, shortly")


def main(args: argparse.Namespace) -> None:
    from spear_core.verdict import verdict

    args.dataset = args.name
    settings = settings_of(args)
    load(settings, progress=progress)
    found = verdict(settings, fedavg=args.fedavg, progress=progress)
    if args.json:
        print(json.dumps(found.to_dict(), indent=2, allow_nan=False, ensure_ascii=False))
        return
    print(f"{settings.dataset}, {settings.partition}, {settings.clients} clients")
    for fact in found.facts:
        print(f"  {fact.words}")
    print()
    for line in found.lines:
        print(f"· {line}")
