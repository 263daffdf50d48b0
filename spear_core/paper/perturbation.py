"""Which reading of the paper's perturbation table fits: every rule that was tried, with its figure.

The paper says "mixed edge addition/deletion" at ρ = 0.5 and "random zero-masking" at η = 0.5 and no
more. `python -m spear_core.paper.perturbation` runs every rule with the paper's five seeds and
several draws of noise each, and writes `perturbation.csv`, from which the Noise page is drawn.
"""

import csv
import json
import statistics
import sys
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

from spear_core.datasets import load
from spear_core.paper.masks import TRIALS
from spear_core.paper.printed import reported
from spear_core.partition import split
from spear_core.randomness import generator
from spear_core.run import run_on
from spear_core.settings import PAPER_SEEDS, Settings, defaults
from spear_core.versions import versions

FILE = Path(__file__).with_name("perturbation.csv")
DATASETS = ("Cora", "CiteSeer", "PubMed")
DRAWS = 8  # of noise with each seed
EDGE, FEATURE = "edge", "feature"
SAME = 0.1  # points by which two rules must differ to be told apart
BEFORE: dict[str, object] = {"noise_when": "before", "noise_test": True}
RULES: dict[str, dict[str, dict[str, object]]] = {  # what Settings can say
    EDGE: {
        "ρE/2 deleted and ρE/2 added inside each client": {"edge_noise": 0.5},
        "ρE deleted and ρE added inside each client": {"edge_noise": 1.0},
        "ρE/2 of each before the split": {"edge_noise": 0.5, "noise_when": "before"},
        "ρE of each before the split": {"edge_noise": 1.0, "noise_when": "before"},
        "ρE/2 of each inside each client, test graph too": {"edge_noise": 0.5, "noise_test": True},
        "ρE of each inside each client, test graph too": {"edge_noise": 1.0, "noise_test": True},
        "ρE/2 of each before the split, test graph too": BEFORE | {"edge_noise": 0.5},
        "ρE of each before the split, test graph too": BEFORE | {"edge_noise": 1.0},
    },
    FEATURE: {
        "each entry": {"feature_noise": 0.5},
        "each entry, test graph too": {"feature_noise": 0.5, "noise_test": True},
        "each entry with η/2": {"feature_noise": 0.25},
        "each entry with η/2, test graph too": {"feature_noise": 0.25, "noise_test": True},
        "each entry, ηF columns drawn with repeats (39 %)": {"feature_noise": 0.3935},
        "each entry of half of the nodes": {"feature_noise": 0.5, "feature_rule": "half"},
        "each entry of half of the nodes, test graph too": {
            "feature_noise": 0.5,
            "feature_rule": "half",
            "noise_test": True,
        },
        "whole nodes": {"feature_noise": 0.5, "feature_rule": "nodes"},
        "whole columns": {"feature_noise": 0.5, "feature_rule": "columns"},
        "whole columns, test graph too": {
            "feature_noise": 0.5,
            "feature_rule": "columns",
            "noise_test": True,
        },
    },
}


@dataclass(frozen=True)
class Row:
    """One rule on one dataset: accuracy in percent over all seeds and draws."""

    kind: str  # edge or feature
    rule: str
    settings: str  # JSON of what differs from the defaults; empty for a rule made here alone
    dataset: str
    seeds: str
    draws: int  # with each seed
    mean: float
    standard_error: float  # of the mean over all runs, as if they were independent
    seed_error: float  # the same over seeds, draws averaged first: runs of a seed share its split
    std: float  # of a single run
    printed: float
    values: str  # every run, seed by seed, with blanks between
    date: str
    versions: str

    @property
    def gap(self) -> float:
        """Measured minus printed, in points."""
        return self.mean - self.printed

    @property
    def fits(self) -> bool:
        """Whether the print is within two standard errors, rounding of the print included."""
        return abs(self.gap) <= 2 * self.standard_error + 0.005

    @property
    def fits_seeds(self) -> bool:
        """Whether the print lies within two standard errors over seeds."""
        return abs(self.gap) <= 2 * self.seed_error + 0.005


def measure(draws: int = DRAWS) -> list[Row]:
    """Every rule on every dataset; the datasets must be here."""
    rows = []
    for dataset in DATASETS:
        for kind, rule in every_rule():
            row = _measured(dataset, kind, rule, draws)
            rows.append(row)
            said = f"{row.mean:.2f} ± {row.standard_error:.2f}, printed {row.printed}"
            print(f"{dataset}, {kind}: {rule}: {said}", file=sys.stderr)
    return rows


def _measured(dataset: str, kind: str, rule: str, draws: int) -> Row:
    found = [
        [_accuracy(dataset, kind, rule, seed, draw) for draw in range(draws)]
        for seed in PAPER_SEEDS
    ]
    every = [value for some in found for value in some]
    std = statistics.stdev(every)
    between = statistics.stdev(statistics.mean(some) for some in found)
    changes = RULES[kind].get(rule)
    return Row(
        kind=kind,
        rule=rule,
        settings=json.dumps(changes) if changes else "",
        dataset=dataset,
        seeds=" ".join(map(str, PAPER_SEEDS)),
        draws=draws,
        mean=statistics.mean(every),
        standard_error=std / len(every) ** 0.5,
        seed_error=between / len(found) ** 0.5,
        std=std,
        printed=printed(kind, dataset),
        values=" ".join(f"{value:.5g}" for value in every),
        date=datetime.now(UTC).date().isoformat(),
        versions=versions(),
    )


def every_rule() -> list[tuple[str, str]]:
    """All (kind, rule) pairs, in the order of the file."""
    said = [(kind, rule) for kind, rules in RULES.items() for rule in rules]
    return [*said, *((FEATURE, rule) for rule in TRIALS)]


def printed(kind: str, dataset: str) -> float:
    """The paper's figure for SPEAR."""
    table = reported()["perturbation"]
    return table["rows"]["SPEAR"][table["columns"].index(f"{dataset} {kind}")]


def _accuracy(dataset: str, kind: str, rule: str, seed: int, draw: int) -> float:
    settings = replace(defaults(dataset), seed=seed, draw=draw)
    partition = split(load(settings), settings)
    if rule in TRIALS:
        rng = generator(seed, f"feature noise {draw}")
        return 100 * TRIALS[rule](partition, settings, rng)
    noisy = Settings(**{**settings.to_dict(), **RULES[kind][rule]})
    found = run_on(partition, noisy).metrics.accuracy
    return 100 * (found or 0.0)


def write(rows: list[Row], path: Path = FILE) -> None:
    """Store the rows."""
    with path.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        names = [f.name for f in fields(Row)]
        writer.writerow(names)
        for row in rows:
            values = (getattr(row, name) for name in names)
            writer.writerow(f"{v:.4f}" if isinstance(v, float) else v for v in values)


def read(path: Path = FILE) -> list[Row]:
    """The stored rows."""
    with path.open(newline="") as lines:
        return [_row(line) for line in csv.DictReader(lines)]


def _row(line: dict[str, str]) -> Row:
    kinds: dict[str, type] = {"draws": int}
    kinds |= dict.fromkeys(("mean", "standard_error", "seed_error", "std", "printed"), float)
    return Row(**{name: kinds.get(name, str)(value) for name, value in line.items()})


def by_fit(rows: list[Row], kind: str) -> list[tuple[str, float, int]]:
    """The rules of a kind, best first: root mean square gap in points, datasets that fit."""
    rules = dict.fromkeys(row.rule for row in rows if row.kind == kind)
    found = []
    for rule in rules:
        mine = [row for row in rows if (row.kind, row.rule) == (kind, rule)]
        off = statistics.mean(row.gap**2 for row in mine) ** 0.5
        found.append((rule, off, sum(row.fits for row in mine)))
    return sorted(found, key=lambda one: one[1])


def words(rows: list[Row], kind: str) -> str:
    """Which rule fits best and how well, in a few sentences."""
    order = by_fit(rows, kind)
    rule, off, fitting = order[0]
    mine = [row for row in rows if (row.kind, row.rule) == (kind, rule)]
    figures = ", ".join(
        f"{row.dataset} {row.mean:.2f} ± {row.standard_error:.2f} (printed {row.printed:.2f})"
        for row in mine
    )
    near = sum(other - off < SAME for _, other, _ in order[1:])
    return (
        f"Of {len(order)} rules tried, “{rule}” comes nearest: {figures}. It is {off:.2f} points "
        f"off (root mean square); {near or 'none'} of the others "
        f"{'is' if near <= 1 else 'are'} within {SAME:g} points of that. {fitting} of {len(mine)} "
        f"prints lie within two standard errors over all runs, "
        f"{sum(row.fits_seeds for row in mine)} within two over the five seeds."
    )


if __name__ == "__main__":
    write(measure(int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS))
    for each in RULES:
        print(words(read(), each))
