"""What the page Beyond shows beside the table of runs: affinities, the central bound, liars.

`python -m spear_core.studies.beyond` writes a CSV with a line for every figure as it is known, and
goes on where it stopped. The central bound is the same regression with all rows in one place.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from spear_core.datasets import csv_rows, load, store
from spear_core.lance import lance, spear
from spear_core.lance.affinity import affinity
from spear_core.run import run
from spear_core.settings import PAPER_SEEDS, Settings
from spear_core.studies.lance_table import DATASETS

STORED = Path(__file__).with_name("beyond.csv")
KEYS = ("kind", "dataset", "beta", "seed", "variant")
COLUMNS = (*KEYS, "value")
LIED = ("Cora", "CiteSeer", "PubMed")
FLIPPERS = 3
Key = tuple[str, ...]


def plan() -> Iterator[tuple[Key, Settings]]:
    """Every figure of the file with the settings that give it."""
    for dataset in DATASETS:
        s = Settings(dataset=dataset)
        yield ("affinity", dataset, "", "", ""), s
        central = replace(lance(s), clients=1, sketch=float("inf"), sketch_cap=False)
        for seed in PAPER_SEEDS:
            yield ("central", dataset, "", str(seed), "ridge"), replace(central, seed=seed)
    for dataset in LIED:
        for beta in (0.05, 1.0):
            for seed in PAPER_SEEDS:
                s = Settings(dataset=dataset, beta=beta, seed=seed, attacker_count=FLIPPERS)
                gated = replace(s, smoothing="gated")
                named = {"SPEAR": spear(s), "gated cosine": gated, "LANCE": lance(s)}
                for name, one in named.items():
                    yield ("liars", dataset, str(beta), str(seed), name), one


def value(key: Key, settings: Settings) -> float:
    """An affinity, or an accuracy in percent."""
    if key[0] == "affinity":
        return float(affinity(load(settings)).value)
    reached = run(settings).metrics.accuracy
    assert reached is not None
    return 100 * reached


def rows(path: Path = STORED) -> dict[Key, float]:
    """What was measured so far."""
    return dict(csv_rows.read(path, COLUMNS, _row))


def _row(cells: csv_rows.Cells) -> tuple[Key, float]:
    return tuple(cells[name] for name in KEYS), float(cells["value"])


def measure(path: Path) -> None:
    """Run what is missing, one line a figure."""
    done = rows(path)
    for key, settings in plan():
        if key not in done:
            line = (*key, f"{value(key, settings):.6f}")
            csv_rows.append(path, dict(zip(COLUMNS, line, strict=True)), COLUMNS)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what the page Beyond shows.")
    parser.add_argument("--out", type=Path, default=store.cache_folder() / STORED.name)
    given = parser.parse_args()
    measure(given.out)
    print(given.out)


if __name__ == "__main__":
    main()
