"""What lying clients cost and what every defence wins back, as one stored table.

Three of ten clients call every node by the next class; in the last block they also claim a hundred
times their counts. Beside every defence stand three yardsticks from the same seeds: nobody lies,
nobody defends, and an oracle that knows the liars and leaves them out.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from spear_core.datasets import csv_rows, load
from spear_core.datasets.store import cache_folder, ready
from spear_core.defences import DEFENCES
from spear_core.measures.versions import versions
from spear_core.partition import Partition, split
from spear_core.run import run_on
from spear_core.settings import PAPER_SEEDS, Settings, defaults

STORED = Path(__file__).parent / "attacks.csv"  # shipped: read, never written by a user
SEEDS = (*PAPER_SEEDS, 7, 8, 9)
DATASETS = ("Cora", "CiteSeer", "PubMed", "digits")
BETAS = (0.05, 1.0)
NOBODY: dict[str, Any] = {"attacker_count": 0}
ATTACKS: tuple[dict[str, Any], ...] = (
    *({"attackers": who, "attacker_count": 3} for who in ("random", "smallest", "largest")),
    {"attackers": "random", "attacker_count": 3, "inflate": 100.0},
)
TINY_GAP = 0.01  # between undefended and oracle: a share of less says nothing


@dataclass(frozen=True)
class Row:
    """One defence against one attack; accuracies are fractions, means over the seeds."""

    dataset: str
    beta: float
    attackers: str
    attacker_count: int
    flip: str
    inflate: float
    forge: str
    defence: str
    seeds: str  # separated by spaces
    clean: float  # nobody lies, nobody defends
    undefended: float
    oracle: float
    accuracy: float
    std: float  # of the accuracy, over the seeds
    recovered: float | None  # share of the gap between undefended and oracle; None if it is tiny
    clean_cost: float  # what the defence costs when nobody lies
    date: str
    versions: str


def servers() -> dict[str, dict[str, Any]]:
    """What a server is set to, by its name in the table: every defence, the oracle last."""
    defences = {name: {"defence": name} for name in DEFENCES}
    oracle = defences.pop("oracle")
    filtered = {"peers": "semantic"}  # the paper's own idea of a filter
    return {**defences, "semantic": filtered, "oracle": oracle}


def table(
    datasets: Iterable[str] = DATASETS,
    betas: Iterable[float] = BETAS,
    seeds: Iterable[int] = SEEDS,
    say: Callable[[str], None] = lambda line: None,
) -> Iterator[Row]:
    """The rows, block by block as they are computed."""
    betas, seeds = tuple(betas), tuple(seeds)
    for dataset in datasets:
        for beta in betas:
            settings = replace(defaults(dataset), beta=beta)
            clean = accuracies(settings, NOBODY, seeds)
            for attack in ATTACKS:
                found = _rows(settings, attack, seeds, clean)
                say(f"{dataset}, β = {beta:g}: {_line(found)}")
                yield from found


def accuracies(
    settings: Settings, attack: dict[str, Any], seeds: Iterable[int]
) -> dict[str, np.ndarray]:
    """The accuracy of every server with every seed, (S)."""
    found: dict[str, list[float]] = {name: [] for name in servers()}
    for seed in seeds:
        one = replace(settings, seed=seed, **attack)
        partition = split(load(one), one)
        for name, server in servers().items():
            found[name].append(_accuracy(partition, replace(one, **server)))
    return {name: np.array(each) for name, each in found.items()}


def _accuracy(partition: Partition, settings: Settings) -> float:
    accuracy = run_on(partition, settings).metrics.accuracy
    return np.nan if accuracy is None else accuracy


def _rows(
    settings: Settings, attack: dict[str, Any], seeds: tuple[int, ...], clean: dict[str, np.ndarray]
) -> list[Row]:
    attacked = accuracies(settings, attack, seeds)
    undefended, oracle = float(attacked["none"].mean()), float(attacked["oracle"].mean())
    gap = oracle - undefended
    one = replace(settings, **attack)
    return [
        Row(
            dataset=one.dataset,
            beta=one.beta,
            attackers=one.attackers,
            attacker_count=one.attacker_count,
            flip=one.flip,
            inflate=one.inflate,
            forge=one.forge,
            defence=name,
            seeds=" ".join(str(seed) for seed in seeds),
            clean=float(clean["none"].mean()),
            undefended=undefended,
            oracle=oracle,
            accuracy=float(each.mean()),
            std=float(each.std()),
            recovered=(float(each.mean()) - undefended) / gap if gap > TINY_GAP else None,
            clean_cost=float((clean["none"] - clean[name]).mean()),
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            versions=versions(),
        )
        for name, each in attacked.items()
    ]


def own() -> Path:
    """The file of the table that is made here."""
    return cache_folder() / "studies" / "attacks.csv"


def store(rows: Iterable[Row], path: Path) -> None:
    """Write the rows as CSV; accuracies with five digits, so that equal runs give equal files."""
    csv_rows.write(path, Row, rows, number=lambda v: f"{round(v, 5):g}")


def stored(path: Path = STORED) -> list[Row]:
    """The rows of the table as it was last made; none if it is not there."""
    return csv_rows.read_all(path, Row)


def _line(rows: list[Row]) -> str:
    """One attack in one line."""
    row = rows[0]
    inflated = f", counts × {row.inflate:g}" if row.inflate != 1 else ""
    who = f"{row.attacker_count} {row.attackers} flip{inflated}"
    return f"{who}: " + ", ".join(f"{r.defence} {100 * r.accuracy:.1f}" for r in rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Compute the whole table and store it; progress on stderr. Takes some minutes."""
    parser = argparse.ArgumentParser(description="What every defence wins back, as a table.")
    parser.add_argument("--out", metavar="FILE", help="a CSV file to store into, not the cache")
    args = parser.parse_args(argv)
    path = Path(args.out) if args.out else own()
    ready(path.parent)
    rows = list(table(say=lambda line: print(line, file=sys.stderr, flush=True)))
    store(rows, path)
    print(f"{len(rows)} rows in {path}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
