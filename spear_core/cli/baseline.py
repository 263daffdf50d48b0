"""`python -m spear_core baseline …`: train a method, or all of them, and store every run.

A run that is stored already is printed, not trained again; one that was stopped or killed goes on
where it was. Rows go to the cache, or to the file named by --store.
"""

import argparse
import math
import resource
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from spear_core.baselines import results
from spear_core.baselines.loop import Point, train
from spear_core.baselines.methods import METHODS, kinds_of_knobs
from spear_core.baselines.plan import DATASETS, is_enough
from spear_core.baselines.results import Row
from spear_core.baselines.runner import attached
from spear_core.baselines.training import SHARED, Training, defaults
from spear_core.cli.options import add_allow_large, add_option, add_seeds
from spear_core.errors import DataMissing, SpearError
from spear_core.measures.spread import mean_and_spread, percent, with_spread
from spear_core.settings import Settings
from spear_core.settings import defaults as start_of

DATA_OPTIONS = (*results.DATA_FIELDS, "device")
MIB = 2**20


def add(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser("baseline", help="train FedAvg and others to compare SPEAR with")
    parser.set_defaults(command=main)
    parser.add_argument("method", choices=[*METHODS, "all"], help="a method, or all of them")
    for f in fields(Settings):
        if f.name in DATA_OPTIONS:
            add_option(parser, f)
    for f in SHARED[1:]:
        add_option(parser, f)
    for kind in kinds_of_knobs():
        if fields(kind):
            title = next(m.title for m in METHODS.values() if m.kind.knobs is kind)
            group = parser.add_argument_group(f"{title} alone")
            for f in fields(kind):
                add_option(group, f)
    add_seeds(parser)
    add_allow_large(parser)
    parser.add_argument("--store", type=Path, metavar="FILE", help="the CSV that rows are added to")
    parser.add_argument(
        "--limit",
        type=float,
        default=math.inf,
        metavar="SECONDS",
        help="a run is stored as it is after so long",
    )
    parser.add_argument("--attached", type=int, metavar="PID", help=argparse.SUPPRESS)


def main(args: argparse.Namespace) -> None:
    """Train, store and print what was asked for."""
    given = {name: getattr(args, name) for name in DATA_OPTIONS if hasattr(args, name)}
    knobs = (f for kind in kinds_of_knobs() for f in fields(kind))
    how = {f.name: getattr(args, f.name) for f in (*SHARED[1:], *knobs) if hasattr(args, f.name)}
    if args.seeds and "seed" in given:
        raise SpearError("Give either --seed or --seeds, not both.")
    everything = args.method == "all"
    methods = list(METHODS) if everything else [args.method]
    names = given.pop("dataset", None)
    datasets = names.split(",") if names else (DATASETS if everything else (Settings().dataset,))
    trainings = [defaults(method, **_fitting(method, how, everything)) for method in methods]
    points = [replace(start_of(name), **given) for name in datasets]
    for name, start in zip(datasets, points, strict=True):
        try:
            for training in trainings:
                seeds = args.seeds or [start.seed]
                alone = len(trainings) * len(seeds) * len(datasets) == 1
                with attached(args.attached):
                    made = [
                        one(replace(start, seed=s), training, args.store, args.limit, alone)
                        for s in seeds
                    ]
                _print(made)
        except DataMissing as error:
            if not everything or names:
                raise
            print(f"{name} is left out. {error}", file=sys.stderr)


def _fitting(method: str, how: dict[str, Any], everything: bool) -> dict[str, Any]:
    """What was asked for; a one-shot method among all of them keeps its one round and its steps."""
    if not (everything and METHODS[method].one_shot):
        return how
    return {name: value for name, value in how.items() if name not in ("rounds", "epochs")}


def one(
    settings: Settings,
    training: Training,
    path: Path | None = None,
    limit: float = math.inf,
    alone: bool = False,
) -> Row:
    """The stored row of a run, after training it if there is none.

    After `limit` seconds it is stored as far as it is. The memory of a run `alone` in its process
    is written down too.
    """
    wanted = results.key_of(settings, training)
    for row in reversed(results.stored(path)):
        if row.key == wanted and is_enough(row, limit):
            return row
    title, began = f"{training.title} on {settings.dataset}, seed {settings.seed}", time.monotonic()

    def progress(point: Point) -> bool:
        if sys.stderr.isatty():
            so_far = "" if point.accuracy is None else f", {percent(point.accuracy)}"
            end = "\n" if point.round == point.rounds else ""
            line = f"\r{title}: {point.stage} {point.round} of {point.rounds}{so_far}\033[K"
            print(line, end=end, file=sys.stderr, flush=True)
        return time.monotonic() - began < limit

    row = results.row_of(train(settings, training, progress), _peak_mib() if alone else None)
    results.append(row, path or results.own())
    return row


def _peak_mib() -> float:
    """The memory that this process had at most."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (MIB if sys.platform == "darwin" else 1024)


def _print(rows: list[Row]) -> None:
    """One line for a method over its seeds."""
    first = rows[0]
    s, t = first.settings, first.training
    known = [100 * row.accuracy for row in rows if row.accuracy is not None]
    mean, spread = mean_and_spread(known) if known else (float("nan"), 0.0)
    sent = sum(row.bytes_up + row.bytes_down for row in rows) / len(rows) / MIB
    client = mean_and_spread(row.seconds_client for row in rows)[0]
    server = mean_and_spread(row.seconds_server for row in rows)[0]
    always = [row.constant for row in rows if row.constant]
    note = f"  always {', '.join(always)}" if always else ""
    print(
        f"{t.title:9} {s.dataset:12} K={s.clients} β={s.beta:g} {first.rounds_done} rounds  "
        f"{with_spread(mean, spread)} % ({len(rows)} seeds)  {sent:.1f} MiB  "
        f"clients {client:.1f} s, server {server:.1f} s{note}",
        flush=True,
    )
