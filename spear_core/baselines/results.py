"""Stored runs: a CSV that comes with the package, and one in the cache for runs made here.

A row says everything about one run: its settings, how it trained, what it gave, on which versions
and when. It is one line, with the method's knobs as JSON in one column. Files only grow: older
lines have one column a knob and none for the shape of the synthetic graph, which then was the usual
one, for noise, of which there was none, nor for what was not written down yet: the date, the
memory, how busy the machine was.
"""

import json
import os
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

import torch

from spear_core.baselines.loop import Trained
from spear_core.baselines.methods import METHODS
from spear_core.baselines.training import SHARED, Training
from spear_core.datasets import csv_rows, store
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.fields import stage_names
from spear_core.measures.versions import versions
from spear_core.settings import Settings

SHIPPED = Path(__file__).with_name("results.csv")
SHAPE = CATALOGUE["synthetic"].knobs
CLEAN = stage_names(Settings, "load", "split")
NOISE = tuple(n for n in stage_names(Settings, "spoil", "mislabel", "test") if n not in CLEAN)
DATA_FIELDS = (*(n for n in CLEAN if n not in SHAPE), *SHAPE, *NOISE)


@dataclass(frozen=True)
class Row:
    """One stored run. Fractions, bytes and seconds; sums over all clients and rounds."""

    settings: Settings
    training: Training
    rounds_done: int
    accuracy: float | None  # after the last round, on the test nodes
    best_round: int  # of the best validation accuracy ...
    best_accuracy: float | None  # ... and the test accuracy there
    constant: str  # the class, if one alone is predicted; else empty
    histogram: tuple[int, ...]  # predicted classes of the test nodes
    bytes_up: int
    bytes_down: int
    bytes_evaluation: int  # sent once after the last round, only to be evaluated
    seconds_client: float
    seconds_server: float
    cpu_seconds_client: float
    cpu_seconds_server: float
    threads: int
    versions: str
    curve: tuple[float, ...]  # test accuracy after every round
    steps: tuple[float, ...] = ()  # ... and after some steps of a one-shot method's server
    made: str = ""  # the day
    load: float | None = None  # processes that wanted a core, a core, at the end: above 1 is busy
    peak_mib: float | None = None  # memory at most, where the run had a process of its own
    unknown: str = ""  # knobs of a newer version, as JSON: the run is none that can be made here

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two runs the same run."""
        return key_of(self.settings, self.training) + ((self.unknown,) if self.unknown else ())


def key_of(settings: Settings, training: Training) -> tuple[Any, ...]:
    """The settings that a stored run depends on, and what its method reads of the training."""
    return (*data_of(settings).values(), *training.used().items())


def data_of(settings: Settings) -> dict[str, Any]:
    """The settings that make the data of a run: the shape where the graph is made from one."""
    other = set(SHAPE) - set(CATALOGUE[settings.dataset].knobs)
    return {name: getattr(settings, name) for name in DATA_FIELDS if name not in other}


OUTCOMES = fields(Row)[2:-1]
COLUMNS = [*(*DATA_FIELDS, *(f.name for f in SHARED), "knobs"), *(f.name for f in OUTCOMES)]


def row_of(trained: Trained, peak_mib: float | None = None) -> Row:
    """A run as it is stored."""
    constant = trained.constant
    return Row(
        settings=trained.settings,
        training=trained.training,
        rounds_done=len(trained.curve),
        accuracy=trained.accuracy if trained.curve else None,
        best_round=trained.best.round if trained.curve else 0,
        best_accuracy=trained.best.accuracy if trained.curve else None,
        constant="" if constant is None else trained.graph.names[constant],
        histogram=tuple(trained.histogram),
        bytes_up=sum(trained.traffic.up),
        bytes_down=sum(trained.traffic.down),
        bytes_evaluation=sum(trained.traffic.evaluation),
        seconds_client=trained.seconds["client"],
        seconds_server=trained.seconds["server"],
        cpu_seconds_client=trained.cpu_seconds["client"],
        cpu_seconds_server=trained.cpu_seconds["server"],
        threads=torch.get_num_threads(),
        versions=versions(),
        curve=tuple(p.accuracy for p in trained.curve if p.accuracy is not None),
        steps=tuple(p.accuracy for p in trained.steps if p.accuracy is not None),
        made=date.today().isoformat(),
        load=os.getloadavg()[0] / (os.cpu_count() or 1),
        peak_mib=peak_mib,
    )


SWITCHES = {"True": True, "False": False}


def own() -> Path:
    """The file of the runs made here."""
    return store.cache_folder() / "baselines" / "results.csv"


def stored(path: Path | None = None) -> list[Row]:
    """The rows of a file; without one, those that came with the package and those made here."""
    if path is not None:
        return _read(path)
    rows = {row.key: row for row in (*_read(SHIPPED), *_read(own()))}
    return list(rows.values())


def append(row: Row, path: Path) -> None:
    """Add one row to a file."""
    shared = {f.name: getattr(row.training, f.name) for f in SHARED}
    knobs = asdict(row.training.knobs) | json.loads(row.unknown or "{}")
    outcome = csv_rows.texts(row, (f.name for f in OUTCOMES), number=lambda v: round(v, 6))
    cells = data_of(row.settings) | shared | {"knobs": json.dumps(knobs)} | outcome
    csv_rows.append(path, cells, COLUMNS)


def _read(path: Path) -> list[Row]:
    return csv_rows.read(path, COLUMNS, _row)


def _row(line: csv_rows.Cells) -> Row:
    method = METHODS[line["method"]]
    shared = {f.name: line[f.name] for f in SHARED if line.get(f.name)}
    knobs = _knobs(line)
    known = {f.name: knobs.pop(f.name) for f in method.knobs if f.name in knobs}
    data: dict[str, Any] = {
        name: SWITCHES.get(line[name], line[name])
        for name in DATA_FIELDS
        if name not in (*SHAPE, *NOISE) or line.get(name)
    }
    unknown = json.dumps(knobs, sort_keys=True) if knobs else ""
    outcome = csv_rows.values(OUTCOMES, line)
    row = Row(Settings(**data), Training(**shared, **known), **outcome, unknown=unknown)
    if row.accuracy is not None:
        whole = len(row.curve) == row.rounds_done > 0
        if not whole or abs(row.curve[-1] - row.accuracy) > 1e-4 or not row.histogram:
            raise ValueError("The curve was cut off, or the histogram is missing.")
    return row


def _knobs(line: csv_rows.Cells) -> dict[str, Any]:
    """The knobs of a row by name: from their column, or from one column each in an older file."""
    if "knobs" in line:
        found: dict[str, Any] = json.loads(line["knobs"] or "{}")
        return found
    given = {name: text for name, text in line.items() if text and name not in COLUMNS}
    return {name: SWITCHES.get(text, text) for name, text in given.items()}
