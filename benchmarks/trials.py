"""Every trial of docs/reliability.md, run anew: `make trials`, or `python -m benchmarks.trials`.

Each gives how many things were tried and what came of it, and writes its row of the table.
`--only links` runs one of them; `--count 200` makes it shorter and writes nothing.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests import fuzz, fuzz_lines
from tests.browser import ROOT, running_server

PAGE = ROOT / "docs" / "reliability.md"
START, END = "<!-- trials -->", "<!-- end of trials -->"  # around the table
SEED = 2026
VISITS = 40  # that come and go before descriptors are counted
KEPT = 120  # seconds for which Streamlit keeps a visit that may come back

Outcome = tuple[int, str]  # how many were tried, what came of it


@dataclass(frozen=True)
class Trial:
    """One row of the table."""

    name: str
    about: str
    command: str  # that repeats it
    run: Callable[[int], Outcome]
    count: int = 0


def links(count: int) -> Outcome:
    """Links to all pages of a live server."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        with running_server(log=log) as (address, pid):
            visits = fuzz.visited(address, pid, fuzz.drawn(count, SEED))
        raised = fuzz.faults(log)
    bad = [visit for visit in visits if visit.wrong]
    for visit in bad:
        print(f"{visit.wrong}: {visit.path[:500]}", flush=True)
    times = sorted(visit.seconds for visit in visits)
    worked = [visit.work for visit in visits if visit.seconds > fuzz.LONGEST]
    busy = f" ({max(worked):.1f} s of work on a shared machine)" if worked else ""
    return len(visits), (
        f"{len(bad)} pages wrong, {len(raised)} tracebacks in the log; half of the pages within "
        f"{times[len(times) // 2]:.1f} s, the slowest {times[-1]:.1f} s{busy}"
    )


def lines(count: int) -> Outcome:
    """Command lines in this process."""
    with tempfile.TemporaryDirectory() as folder:
        found = [fuzz_lines.wrong(line) for line in fuzz_lines.drawn(count, SEED, Path(folder))]
    for words in filter(None, found):
        print(words, flush=True)
    return count, f"{sum(map(bool, found))} tracebacks"


def descriptors(count: int) -> Outcome:
    """Open files of a live server after visits that came and went."""
    with running_server() as (address, pid):
        folder, path = Path(f"/proc/{pid}/fd"), ["?dataset=karate&clients=3"]
        asyncio.run(fuzz.opened(address, path * 2, 1))
        before = len(os.listdir(folder))
        asyncio.run(fuzz.opened(address, path * count, 1))
        most = len(os.listdir(folder))
        time.sleep(KEPT + 5)
        asyncio.run(fuzz.opened(address, path, 1))  # Streamlit looks through its visits then
        time.sleep(2)
        left = len(os.listdir(folder))
    return count, f"{before} before, {most} after, {left} once Streamlit has let the visits go"


def tested(*what: str) -> Callable[[int], Outcome]:
    """A trial that is a test: how many there are, and how many fail."""

    def run(_: int) -> Outcome:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *what]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 5:
            return 0, "there is no such test"
        counts = {k: int(n) for n, k in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}
        bad = sum(counts.values()) - counts.get("passed", 0)
        if bad:
            print(done.stdout[-3000:], flush=True)
        return sum(counts.values()), f"{bad} fail"

    return run


def audit(_: int) -> Outcome:
    """Lower bounds on ε of sound and broken mechanisms."""
    command = [sys.executable, "-m", "spear_core.studies.audit"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    rows = [line for line in done.stdout.splitlines() if line.endswith(("kept", "broken"))]
    print(done.stdout or done.stderr[-300:], flush=True)
    kept = sum(line.endswith("kept") for line in rows)
    return len(rows), f"{kept} keep their promise, {len(rows) - kept} are caught breaking it"


def _pytest(what: str) -> str:
    return f"python -m pytest {what}"


def _row(name: str, about: str, what: str) -> Trial:
    words = [part.strip("'") for part in re.findall(r"'[^']*'|\S+", what)]
    return Trial(name, about, _pytest(what), tested(*words))


def _own(name: str, about: str, run: Callable[[int], Outcome], count: int) -> Trial:
    return Trial(name, about, f"python -m benchmarks.trials --only {name}", run, count)


TRIALS = (
    _own("links", "links over all pages, on a live server", links, 2000),
    _own("lines", "command lines with values of every kind", lines, 468),
    _own("descriptors", "visits that come and go, and open files", descriptors, VISITS),
    _row("text", "text of links, files and reports", "tests/pages/test_plain.py"),
    _row("memory", "graphs too large for the memory", "tests/memory/test_free.py"),
    _row("files", "damaged and hostile files and caches",
         "tests/datasets/test_damage.py tests/datasets/test_store.py"),
    _row("uploads", "hostile uploads, nodes and reports",
         "tests/federation tests/defences/test_check.py"),
    _row("kill", "a server ended by kill -9", "tests/embed tests/pages/test_leaving.py -k kill"),
    _row("leaving", "work that nobody waits for",
         "tests/test_wanted.py tests/pages/test_leaving.py tests/pages/test_leaving_work.py"),
    _row("bounds", "what settings of a link come to together",
         "tests/pages/test_affordable.py -k what_"),
    _row("fault", "a fault of ours, and its id in the log", "tests/pages/test_plain.py -k fault"),
    _row("start", "versions that warn at a start", "tests/pages/test_live_links.py -k pair"),
    _row("tables", "a client's plain tables, and its report",
         "tests/federation/test_tables.py tests/federation/test_report.py"),
    _row("limits", "what a node allows, and exact counts", "tests/federation/test_limits.py"),
    _row("calibration", "privacy: calibration at its extremes",
         "tests/transforms/test_calibration.py"),
    _row("energy", "privacy: the energy's noise against brute force",
         "tests/transforms/test_energy.py"),
    _row("noise", "privacy: independent noise, relabelling, a client's own operator",
         "tests/transforms/test_privacy.py"),
    _row("consensus", "what consensus costs where nobody lies",
         "tests/defences/test_consensus_costs.py"),
    _row("marks", "the Paper page: its marks and flags",
         "tests/paper/test_measured.py -k 'mark or gap'"),
    Trial("audit", "privacy: what an onlooker can tell apart",
          "python -m spear_core.studies.audit", audit),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[trial.name for trial in TRIALS])
    parser.add_argument("--count", type=int, help="how many, where that can be chosen")
    args = parser.parse_args()
    for trial in TRIALS:
        if args.only in (None, trial.name):
            start = time.monotonic()
            count, result = trial.run(args.count or trial.count)
            took = f"{(time.monotonic() - start) / 60:.1f} min"
            print(f"{trial.name:12} {count:6,}  {result}  ({took})", flush=True)
            if not args.count:
                write(trial, f"{count:,} | {result}")


def write(trial: Trial, outcome: str) -> None:
    """Put the row of a trial into the table of the page; the others stay."""
    text = PAGE.read_text("utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    rows = {row.split(" | ")[0]: row for row in text.split(START)[1].split(END)[0].splitlines()}
    rows[f"| {trial.about}"] = f"| {trial.about} | {outcome} | `{trial.command}` |"
    there = [rows[f"| {one.about}"] for one in TRIALS if f"| {one.about}" in rows]
    head = ["| trial | count | result | repeat it |", "|---|---|---|---|"]
    PAGE.write_text("\n".join([f"{before}{START}", *head, *there, f"{END}{after}"]), "utf-8")


if __name__ == "__main__":
    main()
