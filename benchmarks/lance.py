"""LANCE's time beside SPEAR's, in one run: `python -m benchmarks.lance`.

Warm: what depends on the dataset and the partition alone (operators, affinities) is there; sums,
prototypes and sketches are made anew at every call. The two alternate, so that both see the same
machine; asked is at most four times SPEAR.
"""

import statistics
import sys
import time

import torch

from benchmarks.speed import settings_for
from spear_core import Partition, Settings, load, run_on, split
from spear_core.client.sums import INDICATOR
from spear_core.lance import lance

NAMES = ("Cora", "CiteSeer", "PubMed", "Computers", "ogbn-arxiv")
MOST = 4.0
TIMES = 9
MADE = ("mass", "prototypes", "residuals")  # what a call makes anew


def main(names: tuple[str, ...] = NAMES) -> None:
    torch.set_grad_enabled(False)
    print(f"{'size':24} {'SPEAR ms':>9} {'LANCE ms':>9} {'ratio':>6}  (at most {MOST:g})")
    for name in names:
        s, label = settings_for(name)
        partition = split(load(s), s)
        both: tuple[list[float], list[float]] = ([], [])
        for _ in range(TIMES + 1):
            for taken, one in zip(both, (s, lance(s)), strict=True):
                taken.append(once(partition, one))
        spear, ours = (1e3 * statistics.median(taken[1:]) for taken in both)
        print(f"{label:24} {spear:9.2f} {ours:9.2f} {ours / spear:6.1f}")


def once(partition: Partition, settings: Settings) -> float:
    """Seconds of one run on a partition whose sums and sketches are forgotten."""
    for kind in MADE:
        partition.kept.drop(kind, INDICATOR | ({"x"} if kind != "mass" else frozenset()))
    start = time.perf_counter()
    run_on(partition, settings)
    return time.perf_counter() - start


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or NAMES)
