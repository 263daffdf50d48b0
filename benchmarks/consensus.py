"""What the consensus defence costs where nobody lies, and what it wins back where some do.

`python -m benchmarks.consensus` prints the tables of docs/robustness.md; `--only fresh` one of
them. "Before" is the same vote before it could abstain. A graph that is not on disk is left out.
"""

import argparse
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from itertools import product
from typing import Any

import numpy as np
import torch

from spear_core import Graph, Settings, Uploads, load, run_on, split
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.datasets.store import on_disk
from spear_core.defences import DEFENCES, Defence, consensus
from spear_core.defences.caps import median_cap
from spear_core.defences.consensus import DOUBT, looks, votes
from spear_core.settings import PAPER_SEEDS
from spear_core.studies.defence_table import SEEDS, TINY_GAP

BETAS = (0.05, 0.1, 0.5, 1.0, 10.0)
OFF = {"VOTERS": 0, "HOLDERS": 0.0, "OUTSTANDING": 0.0, "CLEAR": -np.inf, "WEAK": -np.inf}
SERVERS = ("none", "before", "consensus", "oracle")
LIMIT = 2.0  # points: a clean run that loses more is named
COARSE = {  # the shapes of the held-out synthetic graphs; the order decides what is drawn
    "homophily": (0.2, 0.3, 0.5, 0.7, 0.9),
    "strength": (0.2, 0.4, 0.7, 1.0, 1.5),
    "classes": (2, 3, 5, 8, 12),
    "degree": (3, 6, 15),
    "nodes": (200, 600, 2000),
    "features": (16, 64, 256),
}


def over(dataset: str, **axes: Iterable[Any]) -> list[Settings]:
    """Every combination of the values, K = 10 unless it is among them, every β of `BETAS`."""
    axes = {"split": (0,), "clients": (10,), "beta": BETAS, **axes}
    return [
        Settings(dataset=dataset, **dict(zip(axes, values, strict=True)))
        for values in product(*axes.values())
    ]


def coarse() -> Iterator[Settings]:
    """60 synthetic graphs whose shapes are drawn from a few values each."""
    rng = random.Random(7)
    for _ in range(60):
        shape = {name: (rng.choice(values),) for name, values in COARSE.items()}
        yield from over("synthetic", clients=(5, 10, 20), seed=(42, 0), **shape)


def fine() -> Iterator[Settings]:
    """50 synthetic graphs whose shapes are drawn from ranges, one seed a run."""
    rng = random.Random(2024)
    for _ in range(50):
        shape = {
            "homophily": (round(rng.uniform(0.2, 0.9), 2),),
            "strength": (round(rng.uniform(0.2, 1.5), 2),),
            "classes": (rng.randint(2, 14),),
            "degree": (rng.randint(2, 20),),
            "nodes": (rng.choice((150, 300, 800, 3000)),),
            "features": (rng.choice((16, 32, 128, 512)),),
        }
        for one in over("synthetic", clients=(8, 10, 20), **shape):
            yield replace(one, seed=rng.choice(PAPER_SEEDS))


SMALL = ("Cora", "CiteSeer", "PubMed", "Actor", "Chameleon", "Texas", "digits")
MANY = (*SEEDS, *range(100, 105))
NEW = range(200, 216)
BLOCKS: dict[str, dict[str, list[Settings]]] = {
    "chosen": {
        **{d: over(d, clients=(5, 10, 20), seed=MANY) for d in SMALL},
        "Computers": over("Computers", clients=(10, 20), seed=PAPER_SEEDS),
        "Coauthor-CS": over("Coauthor-CS", seed=PAPER_SEEDS),
    },
    "held-out": {
        "Texas, splits 1 to 9": over(
            "Texas", split=range(1, 10), clients=(5, 10, 20), seed=PAPER_SEEDS
        ),
        "Chameleon, splits 1, 4, 7": over(
            "Chameleon", split=(1, 4, 7), clients=(5, 10, 20), seed=(42, 0, 1)
        ),
        "Actor, splits 1 and 5": over("Actor", split=(1, 5), clients=(5, 10), seed=(42, 0, 1)),
        **{f"{d}, seeds 200 to 215": over(d, seed=NEW) for d in ("Texas", *SMALL[:2], "digits")},
        "karate": over("karate", clients=(3, 5, 10), seed=range(10)),
        "60 synthetic graphs": list(coarse()),
    },
    "fresh": {
        "50 other synthetic graphs": list(fine()),
        "Texas, ten splits, seeds 300 to 303": over(
            "Texas", split=range(10), seed=range(300, 304)
        ),
        "Chameleon, splits 2, 6, 9": over("Chameleon", split=(2, 6, 9), seed=PAPER_SEEDS),
        "Actor, splits 2, 6, 9": over("Actor", split=(2, 6, 9), seed=PAPER_SEEDS),
        # 50 of these, K = 10 and seeds 0 to 9, are held-out runs once more
        "karate, K = 8 and 10": over("karate", clients=(8, 10), seed=range(20)),
    },
    "later": {
        name: over(name, clients=(8, 10, 15), beta=(0.05, 0.3, 1.0), seed=range(500, 500 + seeds))
        for name, seeds in (
            *(("Texas", 16), ("Cora", 8), ("CiteSeer", 8), ("digits", 8), ("Chameleon", 6)),
            *(("Actor", 6), ("PubMed", 4), ("karate", 8), ("Computers", 2), ("Coauthor-CS", 2)),
        )
    },
}  # fmt: skip

FOUR, LARGE = ("Cora", "CiteSeer", "PubMed", "digits"), ("Computers", "Coauthor-CS")
HONEST_LABELS = {"flip": "none"}
LIES: dict[str, dict[str, Any]] = {  # three random liars at β = 1 call every node by the next class
    "next class": {},
    "next class, smallest": {"attackers": "smallest"},
    "next class, largest": {"attackers": "largest"},
    "next class, counts × 100": {"inflate": 100.0},
    "next class, four liars": {"attacker_count": 4},
    "next class, β = 0.05": {"beta": 0.05},
    "next class, smallest, β = 0.05": {"attackers": "smallest", "beta": 0.05},
    "next class, largest, β = 0.05": {"attackers": "largest", "beta": 0.05},
    "reversed labels": {"flip": "reverse"},
    "random labels": {"flip": "random"},
    "random labels, agreed": {"flip": "random", "collude": True},
    "one class only": {"flip": "pair"},
    "negated prototypes": {"forge": "negated", **HONEST_LABELS},
    "random directions": {"forge": "random", **HONEST_LABELS},
    "copy of another class": {"forge": "copy", **HONEST_LABELS},
}


def before(uploads: Uploads, graph: Graph) -> Uploads:
    """The vote without its margins: below half of the median client one is left out."""
    weight = median_cap(uploads)
    held = (uploads.table(torch.ones_like(weight)) > 0).double()  # (K, C)
    there = held.sum(1) > 0
    shares = (held @ held.t() > 0).sum(1) - there.long()  # others that one shares a class with
    part = torch.linalg.eigh(votes(uploads, weight, looks(uploads, graph))).eigenvectors[:, -1]
    ordered = part[there].sort().values
    low, high = (float(ordered[at]) for at in ((len(ordered) - 1) // 2, len(ordered) // 2))
    middle = min(low, high, key=abs)
    if low * high <= 0 or abs(middle) < 1e-6:
        return uploads
    doubted = (part / middle < DOUBT) & (2 * shares >= there.sum() - 1)
    kept = ~doubted[uploads.client]
    stays = torch.isin(uploads.label, uploads.label[kept])  # a class keeps its last holders
    return uploads.keep(kept | ~stays)


def outcome(settings: Settings, servers: Iterable[str]) -> tuple[list[float], bool]:
    """The accuracy with every server, in percent, and whether consensus left nobody out."""
    partition = split(load(settings), settings)
    results = {name: run_on(partition, replace(settings, defence=name)) for name in servers}
    kept = {name: len(one.uploads.client) for name, one in results.items()}
    reached = [100 * (one.metrics.accuracy or 0.0) for one in results.values()]
    return reached, kept["consensus"] == kept["none"]


def clean_line(name: str, runs: list[Settings]) -> tuple[str, list[str]]:
    """A row of a table of clean costs, and the runs that lose more than `LIMIT`, by name."""
    each = [outcome(one, SERVERS[:3]) for one in runs]
    reached = np.array([found for found, _ in each])
    cost = reached[:, :1] - reached[:, 1:]  # before, now
    quiet = sum(quiet for _, quiet in each)
    lost = [f"{cost[i, 1]:.1f} points: {said(runs[i])}" for i in np.nonzero(_over(cost[:, 1]))[0]]
    return (
        f"| {name} | {len(runs):,} | {_costs(cost[:, 0])} | {_costs(cost[:, 1])} | {quiet:,} |",
        lost,
    )


def _over(cost: np.ndarray) -> np.ndarray:
    return cost > LIMIT + 1e-9


def _costs(cost: np.ndarray) -> str:
    mean = f"{cost.mean():.2f}".replace("-0.00", "0.00").replace("-", "−")
    return f"{mean}, {cost.max():.1f}, {_over(cost).sum()}"


def said(settings: Settings) -> str:
    """A run by name: K, β, the seed and what else differs from the usual settings."""
    usual, shown = Settings(), ("dataset", "clients", "beta", "seed")
    values = {name: getattr(settings, name) for name in shown} | {
        name: value for name, value in asdict(settings).items() if value != getattr(usual, name)
    }
    return ", ".join(f"{name} {value}" for name, value in values.items())


def clean(block: str) -> None:
    print(f"\n{block}: mean cost in points, worst run, runs over {LIMIT:g} points\n")
    print("| clean runs | runs | before | now | left nobody out |\n|---|---|---|---|---|")
    worst, total = list[str](), 0
    for name, runs in BLOCKS[block].items():
        if here(runs[0].dataset):
            line, lost = clean_line(name, runs)
            print(line, flush=True)
            worst, total = worst + lost, total + len(runs)
    print(f"\n{total:,} runs; {len(worst)} lose more than {LIMIT:g} points", *worst, sep="\n- ")


def lies() -> None:
    print(
        "\nshare of the gap to the oracle, before → now; most points lost to no defence by a seed;"
    )
    print("seeds in which nobody was left out\n")
    for name, changes in LIES.items():
        cells = []
        for dataset in (*FOUR, *(LARGE if name == "next class" else ())):
            if here(dataset):
                seeds = PAPER_SEEDS if dataset in LARGE else SEEDS
                cells.append(f"{dataset} {lie_cell(dataset, changes, seeds)}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def lie_cell(dataset: str, changes: dict[str, Any], seeds: Iterable[int]) -> str:
    """One lie on one graph."""
    base = Settings(**{"dataset": dataset, "beta": 1.0, "attacker_count": 3, **changes})
    each = [outcome(replace(base, seed=seed), SERVERS) for seed in seeds]
    reached = np.array([found for found, _ in each])
    none, old, now, oracle = reached.mean(0)
    gap = oracle - none
    shares = [f"{100 * (one - none) / gap:.0f}" if gap else "" for one in (old, now)]
    won = f"{' → '.join(shares)} %" if gap > 100 * TINY_GAP else f"gap {gap:.1f} points"
    worst = max(0.0, float((reached[:, 0] - reached[:, 2]).max()))
    return f"{won}; {worst:.1f}; {sum(quiet for _, quiet in each)} of {len(each)}"


def here(dataset: str) -> bool:
    """Whether it is on disk; said if not."""
    found = on_disk(CATALOGUE[dataset])
    if not found:
        print(f"(left out: {dataset} is not on disk)")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[*BLOCKS, "lies"])
    parser.add_argument("--without", choices=OFF, help="one of the margins, to see what it is for")
    args = parser.parse_args()
    only = args.only
    if args.without:
        setattr(consensus, args.without, OFF[args.without])
        print(f"without {args.without}")
    torch.set_grad_enabled(False)
    DEFENCES["before"] = Defence("before", "before it could abstain", before, needs_graph=True)
    start = time.monotonic()
    for block in BLOCKS:
        if only in (None, block):
            clean(block)
    if only in (None, "lies"):
        lies()
    print(f"\n{(time.monotonic() - start) / 60:.1f} min")


if __name__ == "__main__":
    main()
