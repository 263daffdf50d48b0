"""The stored runs of LANCE read as tables: means and spreads by dataset, partition and variant."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from spear_core.measures.spread import mean_and_spread
from spear_core.settings import PAPER_SEEDS
from spear_core.studies import beyond
from spear_core.studies.lance_table import DATASETS, STORED, TEN, rows

PARTS = {  # how nodes went to clients -> partition and β in the file
    "Dirichlet, β = 0.05": ("dirichlet", "0.05"),
    "Dirichlet, β = 1": ("dirichlet", "1.0"),
    "Dirichlet, β = 10": ("dirichlet", "10.0"),
    "Louvain": ("louvain", "0.05"),
    "IID": ("iid", "0.05"),
}
FIRST = str(PAPER_SEEDS[0])
USUAL = "Dirichlet, β = 0.05"
LANCE = "rank 8 capped"  # what LANCE is by default


@dataclass(frozen=True)
class Cell:
    """One variant on one dataset and partition over seeds and splits, in percent."""

    mean: float
    std: float
    kib: float  # a client
    each: tuple[float, ...]  # in the order of the file


@cache
def cells() -> dict[tuple[str, str, str], Cell]:
    """By dataset, partition as named above, and variant."""
    named = {pair: name for name, pair in PARTS.items()}
    found: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in rows(STORED):
        part = named[row["partition"], row["beta"]]
        if row["dataset"] in TEN and row["seed"] != FIRST:
            continue  # ten splits weigh alike: of the first there are more seeds
        values = 100 * float(row["accuracy"]), float(row["bytes_up_per_client"]) / 1024
        found[row["dataset"], part, row["variant"]].append(values)
    return {key: _cell(values) for key, values in found.items()}


def _cell(values: list[tuple[float, float]]) -> Cell:
    each = tuple(a for a, _ in values)
    return Cell(*mean_and_spread(each), sum(b for _, b in values) / len(values), each)


def gains(part: str, variant: str = LANCE) -> dict[str, tuple[float, float]]:
    """LANCE less SPEAR on the same seed and split, by dataset: mean and spread in points."""
    found = cells()
    pairs = {
        name: zip(found[name, part, variant].each, found[name, part, "SPEAR"].each, strict=True)
        for name in DATASETS
    }
    return {name: mean_and_spread([a - b for a, b in both]) for name, both in pairs.items()}


@cache
def affinities() -> dict[str, float]:
    """By dataset."""
    return {key[1]: v for key, v in beyond.rows().items() if key[0] == "affinity"}


@cache
def central() -> dict[str, tuple[float, float]]:
    """The regression with all training rows in one place, by dataset."""
    found: dict[str, list[float]] = defaultdict(list)
    for key, v in beyond.rows().items():
        if key[0] == "central":
            found[key[1]].append(v)
    return {name: mean_and_spread(values) for name, values in found.items()}


@cache
def under_liars(kind: str = "liars") -> dict[tuple[str, str, str], tuple[float, float]]:
    """Accuracy with three flippers of ten, by dataset, β and variant; or where nobody lies."""
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for (of, dataset, beta, _, variant), v in beyond.rows().items():
        if of == kind:
            found[dataset, beta, variant].append(v)
    return {key: mean_and_spread(values) for key, values in found.items()}
