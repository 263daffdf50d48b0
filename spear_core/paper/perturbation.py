"""Which reading of the paper's perturbation table fits: every rule that was tried, with its figure.

The paper says "mixed edge addition/deletion" at ρ = 0.5 and "random zero-masking" at η = 0.5 and no
more. 34 rules were run once with the paper's five seeds and eight draws of noise each; their
figures are the stored table `perturbation.csv`, from which the Noise page is drawn. Where a row has
settings, `run` with these gives its figure again; the other rules are not on offer here.
"""

import statistics
from dataclasses import dataclass
from pathlib import Path

from spear_core.datasets import csv_rows
from spear_core.measures.spread import with_spread

FILE = Path(__file__).with_name("perturbation.csv")
DATASETS = ("Cora", "CiteSeer", "PubMed")
SAME = 0.1  # points by which two rules must differ to be told apart


@dataclass(frozen=True)
class Row:
    """One rule on one dataset: accuracy in percent over all seeds and draws."""

    kind: str  # edge or feature
    rule: str
    settings: str  # JSON of what differs from the defaults; empty where Settings lacks the rule
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


def read(path: Path = FILE) -> list[Row]:
    """The stored rows."""
    return csv_rows.read_all(path, Row)


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
        f"{row.dataset} {with_spread(row.mean, row.standard_error, 2)} (printed {row.printed:.2f})"
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
