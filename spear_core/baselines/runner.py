"""Carry out a plan of runs, one process a core; killed at any time, it goes on where it was.

Every run is a process of its own on one thread: its seconds and its memory are its own, and what
one run does to the machine's memory ends with it. A process whose starter is gone ends too, and
what it had is in its checkpoint.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spear_core.baselines.plan import Wanted, missing
from spear_core.baselines.results import DATA_FIELDS, stored
from spear_core.baselines.training import defaults
from spear_core.fields import as_options
from spear_core.wanted import Cancelled, while_wanted

POLL = 0.2  # seconds between two looks at the processes
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def options(wanted: Wanted) -> list[str]:
    """A run as the command line of `baseline` has it."""
    s, t = wanted.settings, wanted.training
    usual = defaults(t.method).used()
    given: dict[str, Any] = {name: getattr(s, name) for name in DATA_FIELDS}
    given |= {name: value for name, value in t.used().items() if value != usual[name]}
    return [t.method, *as_options(given)]


def carry_out(
    wanted: list[Wanted],
    store: Path,
    processes: int,
    limit: float,
    say: Callable[[str], None],
) -> int:
    """Make the rows that are missing; how many runs failed."""
    queue = missing(wanted, stored(store), limit)
    say(f"{len(wanted) - len(queue)} of {len(wanted)} runs are stored, {len(queue)} are to do.")
    busy: list[tuple[Wanted, subprocess.Popen[str], float]] = []
    left, failed = list(queue), 0
    try:
        while left or busy:
            while left and len(busy) < processes:
                one = left.pop(0)
                busy.append((one, _started(one, store, limit), time.monotonic()))
            for entry in [e for e in busy if e[1].poll() is not None]:
                busy.remove(entry)
                one, process, began = entry
                done = len(queue) - len(left) - len(busy)
                said = (process.communicate()[0] or "").strip().split("\n")[-1]
                failed += process.returncode != 0
                took = f"{time.monotonic() - began:.0f} s"
                say(f"{done} of {len(queue)}, {took}: {said or one.title}")
            time.sleep(POLL)
    finally:
        for _, process, _ in busy:
            process.terminate()
    return failed


def _started(one: Wanted, store: Path, limit: float) -> "subprocess.Popen[str]":
    say = [sys.executable, "-m", "spear_core", "baseline", *options(one), "--store", str(store)]
    say += ["--limit", f"{limit:g}", "--attached", str(os.getpid())]
    return subprocess.Popen(
        say,
        env=os.environ | ONE_THREAD,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@contextmanager
def attached(starter: int | None) -> Iterator[None]:
    """The work in the block ends when the process that started this one is gone."""
    if starter is None:
        yield
        return

    def tell() -> None:
        if os.getppid() != starter:
            raise Cancelled

    try:
        with while_wanted(tell):
            yield
    except Cancelled:
        os._exit(3)  # nobody is there to read a word
