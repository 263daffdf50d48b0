"""Our own measurement of every cell; `measured.csv` came with the package and is what pages show.

What a user measures goes into the cache; `make tables` renews the file that ships.
"""

import csv
import json
import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from spear_core.datasets import CATALOGUE, store
from spear_core.measures.versions import versions
from spear_core.paper.cells import Cell, cells, curves
from spear_core.run import Result, run
from spear_core.settings import PAPER_SEEDS, Settings

FILE = Path(__file__).with_name("measured.csv")  # shipped: read, never written by a user
SEEDS = {"paper": PAPER_SEEDS, "42": (42,)}
DIGITS = {
    "accuracy": 2,
    "seconds": 2,
    "bytes_up_prototypes": 1,
    "error_local_all": 3,
    "error_mean_all": 3,
    "error_spear_all": 3,
}
NOT_COMPARED = ("seconds",)  # depends on the machine
WITHIN, NEAR, DIFFERS, OPEN, NEW = (
    "within the spread",
    "within two spreads",
    "differs",
    "not measured",
    "not printed",
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
        """How the measured mean lies to the printed one."""
        if self.mean is None or self.std is None:
            return OPEN
        if self.printed is None or self.metric in NOT_COMPARED:
            return NEW
        # a printed figure stands for everything that rounds to it
        gap = abs(self.mean - self.printed) - 0.5 * 10**-self.digits
        if gap <= self.std + 1e-12:
            return WITHIN
        return NEAR if gap <= 2 * self.std + 1e-12 else DIFFERS

    @property
    def digits(self) -> int:
        """Decimals that the paper prints for such a figure."""
        return DIGITS.get(self.metric, 4)

    @property
    def where(self) -> tuple[str, str, str]:
        return self.table, self.row, self.column


def measure_cell(cell: Cell) -> Measured:
    """Run a cell with all its seeds and draws; a dataset that is not here leaves it open."""
    seeds = SEEDS[cell.seeds]
    missing = _missing(cell.settings.dataset)
    values = [] if missing else _values(cell, seeds)
    return Measured(
        table=cell.table,
        row=cell.row,
        column=cell.column,
        metric=cell.metric,
        printed=cell.printed if isinstance(cell.printed, int | float) else None,
        mean=statistics.mean(values) if values else None,
        std=statistics.pstdev(values) if values else None,
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
    kept = [row for row in read(path) if row.table not in fresh] if path.exists() else []
    tables = list(dict.fromkeys(c.table for c in [*cells(), *curves()]))
    every = sorted([*kept, *rows], key=lambda row: tables.index(row.table))
    part = path.with_suffix(".part")
    with part.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        names = [f.name for f in fields(Measured)]
        writer.writerow(names)
        writer.writerows([_text(getattr(row, name)) for name in names] for row in every)
    part.replace(path)


def read(path: Path = FILE) -> list[Measured]:
    """The stored rows."""
    with path.open(newline="") as lines:
        return [_row(line) for line in csv.DictReader(lines)]


def _values(cell: Cell, seeds: tuple[int, ...]) -> list[float]:
    points = [
        replace(cell.settings, seed=seed, draw=draw) for seed in seeds for draw in range(cell.draws)
    ]
    found = [_value(_run(point), cell.metric) for point in points]
    return [cell.scale * value for value in found if value is not None]


def _value(result: Result, metric: str) -> float | None:
    return result.method_seconds if metric == "seconds" else getattr(result.metrics, metric)


@lru_cache(maxsize=40)
def _run(settings: Settings) -> Result:
    return run(settings)


def _missing(dataset: str) -> str:
    """Why a dataset cannot be measured here; empty if it can."""
    entry = CATALOGUE[dataset]
    return "" if entry.builtin or store.found(entry) else f"{dataset} is not on this machine"


def _changed(settings: Settings) -> dict[str, object]:
    usual = Settings().to_dict()
    return {k: v for k, v in settings.to_dict().items() if v != usual[k] and k != "seed"}


def _row(line: dict[str, str]) -> Measured:
    def number(name: str) -> float | None:
        return float(line[name]) if line[name] else None

    parts: dict[str, object] = dict(line)
    parts |= {name: number(name) for name in ("printed", "mean", "std")}
    return Measured(**{**parts, "draws": int(line["draws"])})  # type: ignore[arg-type]


def _text(value: object) -> object:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return "" if value is None else value
