"""`sweep`: many runs as one tidy table, kept on disk, on this machine or on any executor.

Every α × γ × T grid is one block and made from one basis (grid.py), exact to the last prediction;
all other settings, seeds and datasets vary around it. What was measured once is read, not run.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from spear_core.datasets.store import Progress
from spear_core.errors import SettingError, SpearError
from spear_core.measures import JSON_METRICS
from spear_core.settings import Settings
from spear_core.sweeps import store
from spear_core.sweeps.block import AXES, QUICK, Block, Point
from spear_core.sweeps.store import Row
from spear_core.sweeps.workers import measured

if TYPE_CHECKING:
    import pandas as pd

COLUMN = {"homophily": "edge_homophily"}  # measures that bear the name of a setting


def sweep(
    settings: Settings,
    *,
    measures: Iterable[str] = QUICK,
    executor: Executor | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    **lists: Any,
) -> "pd.DataFrame":
    """One row for every combination of the lists: all settings, the measures, the seconds.

    Any setting can be given a list, `sweep(Settings(), alpha=[0, 0.5], seed=PAPER_SEEDS)`. Rows
    come in the order of the lists, α, γ and T innermost. Measures outside `QUICK` need a single
    run at every point. `seconds` is a block's time divided by its runs. A combination that cannot
    be run has no measures and its reason under `problem`.

    `progress(sentence, fraction)` is told of every block; once `stop()` is true, the rows there
    are so far come back. Either way, and after a kill, the same call goes on where it stopped.
    """
    plan = _plan(settings, measures, lists)
    missing = plan.missing()
    done, total = plan.total - sum(len(block.points) for block in missing), plan.total
    say, start, before = progress or (lambda sentence, fraction: None), time.monotonic(), done
    say(_sentence(done, total, 0.0), done / total)
    work = measured(missing, plan.measures, executor, stop or (lambda: False))
    with closing(work):  # whatever happens, what workers have not begun is called off at once
        for block, record in work:
            plan.take(block, record)
            done += len(block.points)
            spent = time.monotonic() - start
            say(_sentence(done, total, spent * (total - done) / (done - before)), done / total)
    return plan.table()


@dataclass(frozen=True)
class _Plan:
    """Which runs are asked for and which of them are there."""

    around: dict[str, Settings]  # by key: every setting but α, γ and T
    axes: tuple[tuple[Any, ...], ...]  # α, γ, T
    measures: tuple[str, ...]
    rows: dict[str, dict[tuple[float, ...], Row]]  # by key and point

    @property
    def total(self) -> int:
        return len(self.around) * len(self.points)

    @property
    def points(self) -> list[Point]:
        return list(product(*self.axes))

    def missing(self) -> list[Block]:
        """The blocks to measure: around each setting the smallest grid that covers what lacks."""
        blocks: list[Block] = []
        points, wanted = self.points, set(self.measures)
        for key, settings in self.around.items():
            there = self.rows[key]
            lacking = [p for p in points if p not in there or not wanted <= there[p].keys()]
            if lacking:
                axes = (tuple(dict.fromkeys(values)) for values in zip(*lacking, strict=True))
                blocks += Block(settings, *axes).parts()
        return blocks

    def take(self, block: Block, record: dict[str, Any]) -> None:
        """Keep a block's record on disk and here; a problem may pass, so it is not kept on disk."""
        key = store.key(block.settings)
        if "problem" not in record:
            store.append(block.settings.dataset, key, record)
        self.rows[key].update(store.rows(record))

    def table(self) -> "pd.DataFrame":
        """The rows there are; if none could be run, the reason as an error."""
        import pandas as pd  # here, so that a single run need not wait for it

        found, points = [], self.points
        for key, settings in self.around.items():
            plain, rows = asdict(settings) | {"problem": ""}, self.rows[key]
            for point in points:
                if point in rows:
                    given = {COLUMN.get(name, name): value for name, value in rows[point].items()}
                    found.append({**plain, **dict(zip(AXES, point, strict=True)), **given})
        if found and all(row["problem"] for row in found):
            raise SpearError(found[0]["problem"])
        measures = [COLUMN.get(name, name) for name in self.measures]
        names = [f.name for f in fields(Settings)]
        return pd.DataFrame(found, columns=[*names, *measures, "seconds", "problem"])


def _plan(settings: Settings, measures: Iterable[str], lists: dict[str, Any]) -> _Plan:
    chosen = tuple(dict.fromkeys(("accuracy", *measures)))
    unknown = [name for name in chosen if name not in JSON_METRICS]
    if unknown:
        raise SettingError(
            f"There is no measure {unknown[0]}; choose among {', '.join(JSON_METRICS)}."
        )
    values = {name: _values(settings, name, given) for name, given in lists.items()}
    axes = tuple(values.pop(name, (getattr(settings, name),)) for name in AXES)
    base = replace(settings, alpha=0.0, gamma=0.0, steps=0)
    all_around = (
        replace(base, **dict(zip(values, combination, strict=True)))
        for combination in product(*values.values())
    )
    around = {store.key(s): s for s in all_around}
    rows: dict[str, dict[tuple[float, ...], Row]] = {}
    for dataset in {s.dataset for s in around.values()}:
        rows |= store.read(dataset, (k for k, s in around.items() if s.dataset == dataset))
    return _Plan(around, axes, chosen, rows)


def _values(settings: Settings, name: str, given: Any) -> tuple[Any, ...]:
    """The values of one list as Settings takes them, each once; a single value is a list of one."""
    if name not in {f.name for f in fields(Settings)}:
        raise SettingError(f"There is no setting {name} to vary; see the fields of Settings.")
    values = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    checked = tuple(dict.fromkeys(getattr(replace(settings, **{name: v}), name) for v in values))
    if not checked:
        raise SettingError(f"A sweep needs at least one value of {name}.")
    return checked


def _sentence(done: int, total: int, left: float) -> str:
    """How far it is.

    >>> _sentence(4200, 10_000, 95.0)
    '4,200 of 10,000 runs, about 2 min left'
    """
    time_left = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min"
    return f"{done:,} of {total:,} runs" + (f", about {time_left} left" if left >= 1 else "")
