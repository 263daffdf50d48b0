"""What several commands share: our name, an option for every setting, lists of seeds, progress."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any

from spear_core.fields import name_of
from spear_core.measures.spread import percent
from spear_core.settings import PAPER_SEEDS, Settings, defaults


def program() -> str:
    """How we were called: `spear`, or `python -m spear_core`."""
    return "spear" if Path(sys.argv[0]).stem == "spear" else "python -m spear_core"


def add_settings(parser: argparse.ArgumentParser) -> None:
    for f in fields(Settings):
        add_option(parser, f)
    add_allow_large(parser)


def add_allow_large(parser: argparse.ArgumentParser) -> None:
    """`--allow-large`, for whoever knows better than the estimate of memory."""
    parser.add_argument(
        "--allow-large",
        action="store_true",
        help="make a synthetic graph even if it takes more than half of the memory that is free",
    )


def settings_of(args: argparse.Namespace) -> Settings:
    """The settings that were given, the rest as usual for the dataset."""
    given = {f.name: getattr(args, f.name) for f in fields(Settings) if hasattr(args, f.name)}
    start = defaults(given.pop("dataset", Settings().dataset))
    return replace(start, **given)


def add_option(parser: argparse._ActionsContainer, f: "Field[Any]") -> None:
    """An option for a field of Settings; only options that were given reach the namespace."""
    text = help_of(f)
    flag = "--" + f.name.replace("_", "-")
    if isinstance(f.default, bool):
        parser.add_argument(
            flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text
        )
        return
    parser.add_argument(flag, default=argparse.SUPPRESS, help=text, metavar=f.name.upper())


def help_of(f: "Field[Any]") -> str:
    """What an option is, from its field: name, help, the names of a table and the default."""
    words = ": ".join(part for part in (name_of(f), f.metadata["help"]) if part)
    choices = f.metadata.get("choices")
    names = f": {', '.join(choices)}" if isinstance(choices, Mapping) else ""
    return f"{words}{names} (default {f.default})".replace("%", "%%")


def add_seeds(parser: argparse.ArgumentParser) -> None:
    """`--seeds A,B,…`, or `--seeds paper`."""
    parser.add_argument(
        "--seeds",
        type=seed_list,
        metavar="A,B,…",
        help="several seeds, for a mean and its spread; paper means "
        + ",".join(str(s) for s in PAPER_SEEDS),
    )


def seed_list(text: str) -> list[int]:
    if text == "paper":
        return list(PAPER_SEEDS)
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"needs whole numbers with commas between, got {text!r}"
        ) from None


def progress(sentence: str, fraction: float) -> None:
    if sys.stderr.isatty():
        end = "\n" if fraction >= 1 else ""
        print(f"\r{sentence} ({percent(fraction, 0)})\033[K", end=end, file=sys.stderr, flush=True)
