"""`python -m benchmarks.memory`: resident memory of the app after hundreds of settings.

A real server is asked for the Explore page with 300 settings on Cora, 60 on Coauthor-CS and 40 on
a synthetic graph of the size of ogbn-arxiv, each by a visitor of its own, with a budget of 600 MB
for what stays in memory. Settings are drawn by a fixed seed over β, K, α, T, γ, the seed and noise.
What is reported is the server's memory above that after the first screen, when it is at rest and at
the most; the process that fits the UMAP is another one.
"""

import asyncio
import os
import platform
import random
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from spear_core.datasets import CATALOGUE, store
from tests.browser import running_server
from tests.fuzz import opened

BUDGET_GB = 0.6
ASKED = 1.3  # times the budget
PATIENCE = 600.0  # seconds that a page may take: what is asked for is memory, not time
REST = 30.0  # seconds at the most in which work in the background may end
ARXIV = {"dataset": "synthetic", "nodes": 169_343, "degree": 13.8, "features": 128, "classes": 40}
CASES: dict[str, tuple[dict[str, Any], int]] = {
    "Cora": ({"dataset": "Cora"}, 300),
    "Coauthor-CS": ({"dataset": "Coauthor-CS"}, 60),
    "ogbn-arxiv size": (ARXIV, 40),
}


def main() -> None:
    os.environ["SPEAR_MEMORY_GB"] = str(BUDGET_GB)
    print(f"{platform.machine()}, budget {1000 * BUDGET_GB:.0f} MB")
    draw, worst = random.Random(0), 0.0
    with running_server() as (address, server):
        visit(address, {})
        start = resident(server)
        print(f"first screen: {start / 1e6:.0f} MB resident\n")
        print(f"{'graph':16} settings  minutes  above start  at the most")
        for name, (settings, count) in CASES.items():
            entry = CATALOGUE[settings["dataset"]]
            if not store.on_disk(entry):
                print(f"{name:16} not on disk, left out")
                continue
            began, most = time.monotonic(), 0.0
            for _ in range(count):
                visit(address, settings | drawn(draw))
                most = max(most, resident(server) - start)
            minutes, above = (time.monotonic() - began) / 60, rested(server) - start
            worst = max(worst, above)
            line = f"{name:16} {count:8} {minutes:8.1f} {above / 1e6:9.0f} MB"
            print(f"{line} {most / 1e6:9.0f} MB", flush=True)
    print(f"\n{worst / (1e9 * BUDGET_GB):.2f} × the budget above the start, asked: at most {ASKED}")


def visit(address: str, settings: dict[str, Any]) -> None:
    """The page with these settings, drawn for somebody."""
    (seen,) = asyncio.run(opened(address, [f"?{urlencode(settings)}"], 1, PATIENCE))
    if seen.wrong:
        raise SystemExit(f"{seen.path}: {seen.wrong}")


def drawn(draw: random.Random) -> dict[str, Any]:
    """One setting as somebody might choose it on the page."""
    return {
        "beta": draw.choice([0.05, 0.1, 0.5, 1.0, 10.0]),
        "clients": draw.choice([5, 10, 20, 50]),
        "alpha": round(draw.uniform(0, 0.95), 2),
        "steps": draw.randint(0, 20),
        "gamma": draw.choice([0.0, 0.1, 0.5, 2.0]),
        "seed": draw.choice([42, 0, 1, 2026, 2077]),
        "edge_noise": draw.choice([0.0, 0.0, 0.0, 0.2]),
        "label_noise": draw.choice([0.0, 0.0, 0.0, 0.2]),
    }


def resident(process: int) -> float:
    """Bytes of a process in memory."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def rested(process: int) -> float:
    """Bytes of a process in memory when it has been at rest for a second."""
    end = time.monotonic() + REST
    spent = busy(process)
    while time.monotonic() < end:
        time.sleep(1)
        before, spent = spent, busy(process)
        if spent - before < 0.05:
            break
    return resident(process)


def busy(process: int) -> float:
    """Seconds of processor time that a process has taken."""
    words = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
