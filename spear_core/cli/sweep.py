"""`python -m spear_core sweep`: many runs from the command line, as a table and a figure."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import fields, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spear_core.cli.options import add_allow_large, help_of
from spear_core.errors import SpearError
from spear_core.measures import JSON_METRICS
from spear_core.settings import PAPER_SEEDS, Settings, defaults
from spear_core.sweeps import sweep
from spear_core.sweeps.block import QUICK

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

TABLES = (".csv", ".parquet")
FIGURES = (".html", ".svg", ".png", ".pdf")
MOST_JOBS = 256
SELDOM = 5.0  # seconds between two lines of progress where there is no terminal


def add(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser(
        "sweep",
        help="run every combination of some values, into a table and a figure",
        description="Every setting takes several values with commas between them. What was run "
        "once is kept: the same command again costs nothing, after a stop it goes on.",
    )
    parser.set_defaults(command=main)
    for f in fields(Settings):
        flag = "--" + f.name.replace("_", "-")
        parser.add_argument(flag, default=argparse.SUPPRESS, metavar="A,B,…", help=help_of(f))
    parser.add_argument("--seeds", metavar="A,B,…", help="the same as --seed; paper means five")
    parser.add_argument(
        "--measures",
        metavar="A,B,…",
        help=f"what to measure: all, or some of {', '.join(JSON_METRICS)}; those outside "
        f"{', '.join(QUICK)} need a full run at every point",
    )
    parser.add_argument("--out", type=Path, help="the table, .csv or .parquet (default: print CSV)")
    parser.add_argument("--figure", type=Path, help="a curve or heat map, .html, .svg, .png, .pdf")
    parser.add_argument("--jobs", type=int, default=1, help="processes to use (default 1)")
    add_allow_large(parser)


def main(args: argparse.Namespace) -> None:
    """Sweep, write the table and draw the figure."""
    lists = _lists(args)
    measures = JSON_METRICS if args.measures == "all" else _parts(args.measures) or QUICK
    start = defaults(lists["dataset"][0]) if "dataset" in lists else Settings()
    _can_write(args.out, TABLES)
    _can_write(args.figure, FIGURES)
    if args.figure:
        _knobs(lists)
    progress = _Progress()
    try:
        with _workers(args.jobs) as executor, _noted(executor is not None) as pressed:
            given: dict[str, Any] = {**lists, "executor": executor, "progress": progress}
            table = sweep(start, measures=measures, stop=lambda: bool(pressed), **given)
            if pressed:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        so_far = progress.sentence.split(", about")[0]
        raise KeyboardInterrupt(
            f"Stopped at {so_far}. They are kept: the same command goes on from there."
        ) from None
    problems = table.loc[table["problem"] != "", "problem"]
    if len(problems):
        print(f"{len(problems)} runs could not be made: {problems.iloc[0]}", file=sys.stderr)
    _write_table(table, args.out)
    if args.figure:
        _write_figure(_figure(table, lists, start), args.figure)


def _lists(args: argparse.Namespace) -> dict[str, list[Any]]:
    """The values given for each setting; `chosen` is a list of clients itself, so it is one."""
    lists: dict[str, list[Any]] = {}
    for f in fields(Settings):
        text = getattr(args, f.name, None)
        if text is not None:
            lists[f.name] = [text] if f.name == "chosen" else _parts(text)
        if text is not None and isinstance(f.default, bool):
            lists[f.name] = [_switch(f.name, part) for part in lists[f.name]]
    if args.seeds:
        if "seed" in lists:
            raise SpearError("Give either --seed or --seeds, not both.")
        lists["seed"] = list(PAPER_SEEDS) if args.seeds == "paper" else _parts(args.seeds)
    return lists


def _parts(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _switch(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise SpearError(f"{name} must be true or false, got {text}.")
    return text == "true"


def _knobs(lists: dict[str, list[Any]]) -> list[str]:
    """The settings to draw: those with several values, seeds aside, datasets last."""
    several = [name for name, values in lists.items() if len(values) > 1 and name != "seed"]
    several.sort(key=lambda name: name == "dataset")
    if not 1 <= len(several) <= 2:
        raise SpearError(
            "A figure shows one or two settings with several values, got "
            f"{', '.join(several) or 'none'}; change that or leave --figure out."
        )
    return several


def _figure(table: "pd.DataFrame", lists: dict[str, list[Any]], start: Settings) -> "go.Figure":
    from spear_core.figures import sweep as figures

    knobs = _knobs(lists)
    here = replace(start, **{k: v[0] for k, v in lists.items() if k not in knobs})
    if len(knobs) == 1 or knobs[1] == "dataset":
        return figures.curve(table, knobs[0], here=here)
    return figures.heat(table, knobs[0], knobs[1], here=here)


def _can_write(path: Path | None, endings: tuple[str, ...]) -> None:
    """Refuse before the work what could not be written after it."""
    if path is None:
        return
    if path.suffix not in endings:
        raise SpearError(f"{path} must end in {' or '.join(endings)}.")
    if not path.absolute().parent.is_dir():
        raise SpearError(f"There is no folder {path.parent}; make it first.")
    if path.suffix in FIGURES[1:]:
        try:
            import kaleido  # noqa: F401
        except ImportError:
            raise SpearError(
                f"A figure as {path.suffix} needs the package kaleido; install it or use .html."
            ) from None


def _write_table(table: "pd.DataFrame", path: Path | None) -> None:
    if path is None:
        table.to_csv(sys.stdout, index=False)
        return
    part = path.with_name(f".{path.name}.part")  # the table is there whole or not at all
    if path.suffix == ".csv":
        table.to_csv(part, index=False)
    else:
        table.to_parquet(part, index=False)
    os.replace(part, path)


def _write_figure(figure: "go.Figure", path: Path) -> None:
    if path.suffix == ".html":
        figure.write_html(path, include_plotlyjs=True)
        return
    figure.update_layout(paper_bgcolor="white", plot_bgcolor="white")
    try:
        figure.write_image(path, width=900, height=560)
    except (RuntimeError, ValueError, OSError) as error:
        raise SpearError(
            f"A figure as {path.suffix} needs Chrome or Chromium; use .html ({error})."
        ) from error


@contextmanager
def _workers(jobs: int) -> Iterator[Executor | None]:
    """So many processes of one share of the cores each; none for one job."""
    if not 1 <= jobs <= MOST_JOBS:
        limit = "at least 1" if jobs < 1 else f"at most {MOST_JOBS}"
        raise SpearError(f"jobs must be {limit}, got {str(jobs)[:20]}.")
    if jobs == 1:
        yield None
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    spawn = get_context("spawn")  # a fork would copy torch's threads in whatever state they are
    with ProcessPoolExecutor(jobs, spawn, initializer=_begin, initargs=(threads,)) as pool:
        yield pool


@contextmanager
def _noted(wanted: bool) -> Iterator[list[int]]:
    """Note the first Ctrl-C: raised amid the locks of a pool, it could leave one held for ever."""
    pressed: list[int] = []
    if not wanted:
        yield pressed
        return

    def note(number: int, _: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)  # a second one counts at once

    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(threads: int) -> None:
    """In a worker: leave Ctrl-C to the command itself, and the other cores to the others."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(threads)


class _Progress:
    """Prints how far a sweep is: in place on a terminal, elsewhere now and then a line."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.sentence, self.clock, self.last = "no run", clock, clock()

    def __call__(self, sentence: str, fraction: float) -> None:
        self.sentence = sentence
        if sys.stderr.isatty():
            end = "\n" if fraction >= 1 else ""
            print(f"\r{sentence}\033[K", end=end, file=sys.stderr, flush=True)
        elif fraction >= 1 or self.clock() - self.last >= SELDOM:
            self.last = self.clock()
            print(sentence, file=sys.stderr, flush=True)
