"""Our own measurement of every cell; `measured.csv` came with the package and is what pages show.

What a user measures goes into the cache; `make tables` renews the file that ships.
"""

import json
import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from spear_core.datasets import CATALOGUE, csv_rows, store
from spear_core.fields import changed
from spear_core.measures.spread import mean_and_spread, with_spread
from spear_core.measures.versions import versions
from spear_core.paper.cells import Cell, cells, curves
from spear_core.paper.values import values_of
from spear_core.settings import PAPER_SEEDS, Settings

FILE = Path(__file__).with_name("measured.csv")  # shipped: read, never written by a user
SEEDS = {"paper": PAPER_SEEDS, "42": (42,)}
DIGITS = {
    "accuracy": 2,
    "seconds": 2,
    "speedup": 0,
    "bytes_up_prototypes": 1,
    "error_local_all": 3,
    "error_mean_all": 3,
    "error_spear_all": 3,
}
NOT_COMPARED = ("seconds", "speedup")  # depends on the machine
FAR_POINTS = 3.0  # of accuracy: a gap that is flagged whatever the error
AGREES, DIFFERS, FAR, OPEN, NEW = (
    "agrees",
    "differs",
    "over 3 points off",
    "not measured",
    "not compared",
)


@dataclass(frozen=True)
class Measured:
    """One row of the file: a cell, what was measured for it, and how."""

    table: str
    row: str
    column: str
    metric: str
    printed: float | None
    mean: float | None
    std: float | None  # population standard deviation over seeds and draws
    values: str  # every single value, with blanks between
    seeds: str
    draws: int
    settings: str  # what differs from the defaults, as JSON
    note: str
    date: str
    versions: str

    @property
    def mark(self) -> str:
        """How the measured mean lies to the printed one: within two standard errors, or not.

        The paper prints no spread, so the error is that of our mean alone.
        """
        if self.mean is None:
            return OPEN
        if self.printed is None or self.metric in NOT_COMPARED:
            return NEW
        if self.metric == "accuracy" and abs(self.mean - self.printed) > FAR_POINTS:
            return FAR
        # a printed figure stands for everything that rounds to it
        gap = abs(self.mean - self.printed) - 0.5 * 10**-self.digits
        return AGREES if gap <= 2 * self.error + 1e-9 else DIFFERS

    @property
    def error(self) -> float:
        """The standard error of our mean over seeds, draws averaged first; 0 with one seed."""
        seeds, values = len(self.seeds.split()), [float(v) for v in self.values.split()]
        if seeds < 2 or self.std is None:
            return 0.0
        if len(values) != seeds * self.draws:  # of stored rivals the spread alone is there
            return self.std / math.sqrt(seeds - 1)
        each = [values[i : i + self.draws] for i in range(0, len(values), self.draws)]
        return statistics.stdev(map(statistics.mean, each)) / math.sqrt(seeds)

    @property
    def words(self) -> str:
        """Mean ± standard deviation, as many decimals as the paper prints."""
        if self.mean is None or self.std is None:
            return "not measured"
        many = len(self.seeds.split()) * self.draws > 1
        alone = f"{self.mean:.{self.digits}f}"
        return with_spread(self.mean, self.std, self.digits) if many else alone

    @property
    def digits(self) -> int:
        """Decimals that the paper prints for such a figure."""
        return 0 if self.metric.startswith("graph") else DIGITS.get(self.metric, 4)

    @property
    def where(self) -> tuple[str, str, str]:
        return self.table, self.row, self.column


def measure_cell(cell: Cell) -> Measured:
    """Run a cell with all its seeds and draws; a dataset that is not here leaves it open."""
    seeds = SEEDS[cell.seeds]
    missing = _missing(cell.settings.dataset)
    values = [] if missing else values_of(cell, seeds)
    mean, std = mean_and_spread(values) if values else (None, None)
    return Measured(
        table=cell.table,
        row=cell.row,
        column=cell.column,
        metric=cell.metric,
        printed=cell.printed if isinstance(cell.printed, int | float) else None,
        mean=mean,
        std=std,
        values=" ".join(f"{value:.6g}" for value in values),
        seeds=" ".join(str(seed) for seed in seeds),
        draws=cell.draws,
        settings=json.dumps(_changed(cell.settings), ensure_ascii=False),
        note=missing or cell.note,
        date=datetime.now(UTC).date().isoformat(),
        versions=versions(),
    )


def measure_all(
    only: Iterable[str] = (), progress: Callable[[str, float], None] | None = None
) -> list[Measured]:
    """Measure every cell and curve, or those of some tables, dataset by dataset."""
    wanted = set(only)
    todo = [c for c in [*cells(), *curves()] if not wanted or c.table in wanted]
    order = sorted(range(len(todo)), key=lambda i: todo[i].settings.dataset)  # one load a dataset
    rows: dict[int, Measured] = {}
    for done, i in enumerate(order):
        if progress:
            words = f"{todo[i].table}: {todo[i].row}, {todo[i].column}"
            progress(words, done / len(order))
        rows[i] = measure_cell(todo[i])
    if progress:
        progress(f"{len(order)} cells measured", 1.0)
    return [rows[i] for i in range(len(todo))]


def own() -> Path:
    """The file of what is measured here."""
    return store.cache_folder() / "paper" / "measured.csv"


def write(rows: list[Measured], path: Path) -> None:
    """Store the rows; those of other tables that are already there stay."""
    fresh = {row.table for row in rows}
    kept = [row for row in read(path) if row.table not in fresh]
    tables = list(dict.fromkeys(c.table for c in [*cells(), *curves()]))
    every = sorted([*kept, *rows], key=lambda row: tables.index(row.table))
    csv_rows.write(path, Measured, every, number=lambda v: f"{v:.9g}")


def read(path: Path = FILE) -> list[Measured]:
    """The stored rows; none where there is no file."""
    return csv_rows.read_all(path, Measured)


def _missing(dataset: str) -> str:
    """Why a dataset cannot be measured here; empty if it can."""
    return "" if store.on_disk(CATALOGUE[dataset]) else f"{dataset} is not on this machine"


def _changed(settings: Settings) -> dict[str, object]:
    plain = settings.to_dict()
    return {name: plain[name] for name in changed(settings) if name != "seed"}
