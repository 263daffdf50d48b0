"""What sketches give away on eight datasets, by rank, capped or not.

`python -m spear_core.studies.sketch_exposure` writes a CSV with a line for every run as it ends,
and goes on where it stopped. LANCE at K = 10 and β = 0.05, the paper's five seeds; the two largest
graphs, where a sketch of any rank takes minutes, have the first of them alone.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, partial
from math import inf
from pathlib import Path

from spear_core.datasets import csv_rows, store
from spear_core.lance import lance
from spear_core.measures.spread import mean_and_spread
from spear_core.run import run
from spear_core.settings import PAPER_SEEDS, Settings
from spear_core.studies.lance_table import DATASETS
from spear_core.studies.sketch_attack import Revealed, revealed

STORED = Path(__file__).with_name("sketch_exposure.csv")
LARGE = ("Computers", "Coauthor-CS")
VARIANTS = ((0.0, True), *((rank, cap) for rank in (8.0, 32.0, inf) for cap in (True, False)))


@dataclass(frozen=True)
class Row(Revealed):
    """One run of the table."""

    dataset: str
    seed: int
    rank: float
    cap: str  # yes or no

    @property
    def key(self) -> tuple[str, int, float, str]:
        return self.dataset, self.seed, self.rank, self.cap

    @property
    def variant(self) -> str:
        return variant(self.rank, self.cap == "yes")


COLUMNS = ("dataset", "seed", "rank", "cap", *csv_rows.columns(Revealed))


def variant(rank: float, cap: bool) -> str:
    """What a rank is called: means alone, rank 8 capped, all rows."""
    if rank == 0:
        return "means alone"
    return (f"rank {rank:g}" if rank < inf else "every row") + (" capped" if cap else "")


NAMES = tuple(variant(*one) for one in VARIANTS)


def plan() -> Iterator[tuple[str, int, float, str]]:
    """What every line of the table is known by."""
    for dataset in DATASETS:
        for seed in PAPER_SEEDS[:1] if dataset in LARGE else PAPER_SEEDS:
            yield from ((dataset, seed, rank, "yes" if cap else "no") for rank, cap in VARIANTS)


def measured(dataset: str, seed: int, rank: float, cap: str) -> Row:
    """One line, by the code of today."""
    lanced = lance(Settings(dataset=dataset, seed=seed))
    found = revealed(run(replace(lanced, sketch=rank, sketch_cap=cap == "yes")))
    return Row(**asdict(found), dataset=dataset, seed=seed, rank=rank, cap=cap)


def rows(path: Path = STORED) -> list[Row]:
    """What was measured so far."""
    made = partial(csv_rows.values, fields(Row))
    return csv_rows.read(path, COLUMNS, lambda cells: Row(**made(cells)))


def measure(path: Path, only: tuple[str, ...] = DATASETS) -> None:
    """Run what is missing, one line a run."""
    done = {row.key for row in rows(path)}
    for key in plan():
        if key[0] in only and key not in done:
            cells = csv_rows.texts(measured(*key), COLUMNS, lambda value: f"{value:.6g}")
            csv_rows.append(path, cells, COLUMNS)


@cache
def table() -> dict[tuple[str, str], list[Row]]:
    """The stored runs of every dataset and variant, by its name."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows():
        found[row.dataset, row.variant].append(row)
    return dict(found)


def shares(what: Callable[[Row], float]) -> dict[str, dict[str, tuple[float, float]]]:
    """Mean and spread of something over seeds, by variant and dataset."""
    found = table()
    return {
        name: {d: mean_and_spread([what(row) for row in found[d, name]]) for d in DATASETS}
        for name in NAMES
    }


def summary() -> dict[str, dict[str, tuple[float, float]]]:
    """Rows named, in percent of all training rows, with their spread, by variant and dataset."""
    return shares(lambda row: 100 * row.found / row.rows)


def words() -> str:
    """What LANCE's capped rank 8 gives away beside the means alone, in a sentence or two."""
    named, area = summary(), shares(lambda row: row.both)
    usual, means = variant(8, True), variant(0, True)
    most = max(DATASETS, key=lambda d: area[usual][d][0] - area[means][d][0])
    least = min(DATASETS, key=lambda d: area[usual][d][0] - area[means][d][0])
    return (
        f"A server that knows all features names **{named[usual][most][0]:.0f} %** of {most}'s "
        f"training nodes from capped sketches of rank 8, from means alone "
        f"{named[means][most][0]:.0f} %; the AUC of membership goes from "
        f"{area[means][most][0]:.2f} to **{area[usual][most][0]:.2f}**. "
        f"Least on {least}: {named[usual][least][0]:.0f} % "
        f"instead of {named[means][least][0]:.0f} %, AUC {area[usual][least][0]:.2f} instead of "
        f"{area[means][least][0]:.2f}. The cap keeps residuals from being whole, not from telling."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what sketches give away.")
    parser.add_argument("--out", type=Path, default=store.cache_folder() / STORED.name)
    parser.add_argument("--only", default=",".join(DATASETS), help="datasets, with commas")
    given = parser.parse_args()
    measure(given.out, tuple(given.only.split(",")))
    print(given.out)


if __name__ == "__main__":
    main()
