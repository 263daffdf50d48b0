"""What is free in memory, and one sentence instead of a graph that would take most of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from spear_core.errors import SettingError

CONTAINER = Path("/sys/fs/cgroup")
SHARE = 0.5  # of what is free that one graph, or the noise on one run, may take
LIFTED = "SPEAR_ALLOW_LARGE"  # set, any size is tried; workers of a sweep inherit it
LESS = "use fewer nodes, neighbours, classes or features"


def check(needed: float, what: str = "This graph", less: str = LESS) -> None:
    """Nothing, or a sentence with the size and what is free where that is too little."""
    left = free_bytes()
    if needed > SHARE * left and not os.environ.get(LIFTED):
        raise SettingError(
            f"{what} would take about {gigabytes(needed)} of memory, more than half of the "
            f"{gigabytes(left)} that are free; {less}, or say --allow-large on the command line."
        )


def free_bytes() -> int:
    """Bytes that can still be had: of the machine, and of its container where it has a limit."""
    limit, used = _number(CONTAINER / "memory.max"), _number(CONTAINER / "memory.current")
    here = [limit - used] if limit is not None and used is not None else []
    return max(0, min([_available(), *here]))


@cache
def machine_bytes() -> int:
    """The memory of this machine, or of the container it is."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(whole, _number(CONTAINER / "memory.max") or whole)


@contextmanager
def lifted(yes: bool) -> Iterator[None]:
    """Try any size within, if so asked; workers that start meanwhile do too."""
    before = os.environ.get(LIFTED)
    if yes:
        os.environ[LIFTED] = "1"
    try:
        yield
    finally:
        if yes and before is None:
            del os.environ[LIFTED]


def gigabytes(size: float) -> str:
    """A size for people.

    >>> gigabytes(39.2e9), gigabytes(3e8)
    ('39 GB', '0.3 GB')
    """
    return f"{size / 1e9:.0f} GB" if size >= 1e10 else f"{size / 1e9:.1f} GB"


def _available() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):  # no Linux: all there is
        return machine_bytes()


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # no container, or no limit: "max"
        return None
