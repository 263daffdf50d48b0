"""`python -m spear_core.verdict.table`: how good the recommended settings are where it is known.

For every dataset at hand, what the verdict recommends without a test label is run with its test
labels, beside every point of the grid. `docs/verdict.md` holds what it prints.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from spear_core.datasets import CATALOGUE, store
from spear_core.measures.spread import mean_and_spread
from spear_core.run import accuracy_of
from spear_core.settings import defaults
from spear_core.verdict import GRID, setting_of, verdict

SEEDS = (42, 0, 1)
NEAR = 2.0  # points


@dataclass(frozen=True)
class Line:
    """One dataset and one seed; accuracies in percent."""

    dataset: str
    seed: int
    recommended: str
    expected: float
    error: float  # one standard error of what was expected
    reached: float
    best: float  # of the grid, by test labels
    best_point: str
    spear: float  # the paper's settings

    @property
    def near(self) -> bool:
        return self.best - self.reached <= NEAR


def line_of(dataset: str, seed: int) -> Line:
    """What is recommended, and what each point of the grid reaches on the test nodes."""
    settings = replace(defaults(dataset), seed=seed)
    found = verdict(settings)
    tested = {key: 100 * (accuracy_of(setting_of(key, settings)) or 0.0) for key in GRID}
    best = max(GRID, key=lambda key: tested[key])
    return Line(
        dataset,
        seed,
        " ".join(found.best),
        100 * found.expected.value,
        100 * found.expected.error,
        tested[found.best],
        tested[best],
        " ".join(best),
        tested["SPEAR", "paper"],
    )


def markdown(lines: Iterable[Line]) -> str:
    """A row a dataset, means over its seeds, and how often the recommendation is near the best."""
    lines = list(lines)
    out = [
        "| dataset | recommended | expected | reached | best of the grid | SPEAR as in the paper "
        "| within 2 points |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(line.dataset for line in lines):
        mine = [line for line in lines if line.dataset == name]
        means = [
            mean_and_spread([getattr(line, what) for line in mine])[0]
            for what in ("expected", "error", "reached", "best", "spear")
        ]
        expected, error, reached, best, spear = means
        chosen = ", ".join(dict.fromkeys(line.recommended for line in mine))
        top = ", ".join(dict.fromkeys(line.best_point for line in mine))
        near = sum(line.near for line in mine)
        out.append(
            f"| {name} | {chosen} | {expected:.1f} ± {2 * error:.1f} | {reached:.1f} | "
            f"{best:.1f} ({top}) | {spear:.1f} | {near} of {len(mine)} |"
        )
    near = sum(line.near for line in lines)
    out.append(f"\nWithin {NEAR:g} points of the best of the grid: {near} of {len(lines)}.")
    return "\n".join(out)


def at_hand() -> list[str]:
    """The datasets that need no download, one's own left out."""
    return [e.name for e in CATALOGUE.public.values() if store.on_disk(e)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("datasets", nargs="*", help="these alone (default: all at hand)")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)), help="with commas between")
    args = parser.parse_args(arguments)
    seeds = [int(seed) for seed in args.seeds.split(",")]
    lines = []
    for name in args.datasets or at_hand():
        for seed in seeds:
            lines.append(line_of(name, seed))
            print(lines[-1], flush=True)
    print(markdown(lines))


if __name__ == "__main__":
    main()
