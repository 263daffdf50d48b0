"""What LANCE reaches: the eight datasets, every rank, three skews, Louvain and random partitions.

`python -m spear_core.studies.lance_table` writes a CSV with a line for every run as it ends, and
goes on where it stopped. Ten published splits where there are ten, else the paper's five seeds.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spear_core.datasets import csv_rows, store
from spear_core.run import run
from spear_core.settings import PAPER_SEEDS, Settings

STORED = Path(__file__).with_name("lance_table.csv")
DATASETS = (
    *("Cora", "CiteSeer", "PubMed", "Computers", "Coauthor-CS", "Actor", "Chameleon", "Texas"),
)
TEN = ("Actor", "Chameleon", "Texas")  # of ten published splits
VARIANTS: dict[str, dict[str, Any]] = {
    "SPEAR": {},
    "gated cosine": {"smoothing": "gated"},
    "rank 0": {"smoothing": "gated", "head": "ridge"},
    "rank 8": {"smoothing": "gated", "head": "ridge", "sketch": 8, "sketch_cap": False},
    "rank 8 capped": {"smoothing": "gated", "head": "ridge", "sketch": 8},
    "rank 32": {"smoothing": "gated", "head": "ridge", "sketch": 32, "sketch_cap": False},
    "rank 32 capped": {"smoothing": "gated", "head": "ridge", "sketch": 32},
}
PARTS: tuple[dict[str, Any], ...] = (
    *({"partition": "dirichlet", "beta": beta} for beta in (0.05, 1.0, 10.0)),
    {"partition": "louvain", "beta": 0.05},
    {"partition": "iid", "beta": 0.05},
)
KEYS = ("dataset", "partition", "beta", "seed", "split", "variant")
COLUMNS = (*KEYS, "accuracy", "bytes_up_per_client")


def plan(datasets: tuple[str, ...]) -> Iterator[tuple[Settings, str]]:
    """Every run of the table: five seeds on the first split, then the other nine splits."""
    for nine in (False, True):
        for part in PARTS:
            for dataset in datasets:
                others = range(1, 10) if dataset in TEN else ()
                cells = [(42, i) for i in others] if nine else [(seed, 0) for seed in PAPER_SEEDS]
                for seed, split in cells:
                    s = Settings(dataset=dataset, seed=seed, split=split, **part)
                    yield from ((replace(s, **change), name) for name, change in VARIANTS.items())


def key(settings: Settings, variant: str) -> tuple[str, ...]:
    """What a line of the table is known by."""
    return *(str(getattr(settings, name)) for name in KEYS[:-1]), variant


def rows(path: Path) -> list[dict[str, str]]:
    """What was measured so far."""
    return csv_rows.read(path, COLUMNS, _row)


def _row(cells: csv_rows.Cells) -> dict[str, str]:
    for name in COLUMNS[len(KEYS) :]:
        float(cells[name])  # a torn line has no number there
    return dict(cells)


def measure(path: Path, datasets: tuple[str, ...] = DATASETS) -> None:
    """Run what is missing, one line a run."""
    done = {tuple(row[name] for name in KEYS) for row in rows(path)}
    for settings, variant in plan(datasets):
        if key(settings, variant) not in done:
            found = run(settings).metrics
            assert found.accuracy is not None
            line = f"{found.accuracy:.6f}", f"{found.bytes_up_per_client:.1f}"
            cells = zip(COLUMNS, (*key(settings, variant), *line), strict=True)
            csv_rows.append(path, dict(cells), COLUMNS)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure LANCE beside SPEAR on eight datasets.")
    parser.add_argument("--out", type=Path, default=store.cache_folder() / STORED.name)
    parser.add_argument("--only", default=",".join(DATASETS), help="datasets, with commas")
    given = parser.parse_args()
    measure(given.out, tuple(given.only.split(",")))
    print(given.out)


if __name__ == "__main__":
    main()
