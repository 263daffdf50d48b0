"""Stored runs: a CSV that comes with the package, and one in the cache for runs made here.

A row says everything about one run: its settings, how it trained, what it gave, on which versions.
It is one line, with the method's knobs as JSON in one column. Files only grow, and other versions
of this program may write to them too: names of columns may come again and hold from there on, older
ones have one column a knob and none for the shape of the synthetic graph, which then was the usual
one, and a line that cannot be read is passed over.
"""

import csv
import io
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch

from spear_core.baselines.loop import Trained
from spear_core.baselines.methods import METHODS
from spear_core.baselines.training import SHARED, Training
from spear_core.datasets import store
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.measures.versions import versions
from spear_core.settings import Settings

SHIPPED = Path(__file__).with_name("results.csv")
SHAPE = CATALOGUE["synthetic"].knobs
DATA_FIELDS = (
    *("dataset", "seed", "split", "labels_per_class", "partition", "clients", "beta"),
    *SHAPE,
)


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


OUTCOMES = [f.name for f in fields(Row)][2:-1]
COMMON = [*DATA_FIELDS, *(f.name for f in SHARED), *OUTCOMES]
COLUMNS = [*DATA_FIELDS, *(f.name for f in SHARED), "knobs", *OUTCOMES]


def row_of(trained: Trained) -> Row:
    """A run as it is stored."""
    graph, constant = trained.graph, trained.constant
    names = graph.class_names or tuple(str(c) for c in range(graph.classes))
    return Row(
        settings=trained.settings,
        training=trained.training,
        rounds_done=len(trained.curve),
        accuracy=trained.accuracy,
        best_round=trained.best.round,
        best_accuracy=trained.best.accuracy,
        constant="" if constant is None else names[constant],
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
    )


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
    """Add one row to a file, in one write, with the columns' names where the file has others."""
    with store.writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        before = _lines(path)
        text = io.StringIO()
        if before[-1]:  # a line that was cut off
            text.write("\n")
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        headers = [line for line in before if _is_header(line)]
        if not headers or _cells(headers[-1]) != COLUMNS:
            writer.writeheader()
        writer.writerow(_flat(row))
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        with os.fdopen(handle, "ab") as file:
            file.write(text.getvalue().encode())


def _flat(row: Row) -> dict[str, Any]:
    outcome = {name: getattr(row, name) for name in OUTCOMES}
    outcome["histogram"] = " ".join(str(n) for n in row.histogram)
    outcome["curve"] = " ".join(f"{a:.4f}" for a in row.curve)
    for name, value in outcome.items():
        if isinstance(value, float):
            outcome[name] = round(value, 6)
    shared = {f.name: getattr(row.training, f.name) for f in SHARED}
    knobs = asdict(row.training.knobs) | json.loads(row.unknown or "{}")
    return data_of(row.settings) | shared | {"knobs": json.dumps(knobs)} | outcome


def _lines(path: Path) -> list[str]:
    """The lines of a file; the last is empty unless it was cut off."""
    return path.read_text("utf-8", "replace").split("\n") if path.is_file() else [""]


def _is_header(line: str) -> bool:
    return line.startswith("dataset,")


def _cells(line: str) -> list[str]:
    return next(csv.reader([line]), [])


def _read(path: Path) -> list[Row]:
    rows, names = [], COLUMNS
    for line in _lines(path):
        if _is_header(line):
            names = _cells(line)
            continue
        try:
            rows.append(_row(dict(zip(names, _cells(line), strict=True))))
        except (KeyError, TypeError, ValueError, csv.Error):  # torn, or of a newer version
            continue
    return rows


def _row(line: dict[str, str]) -> Row:
    method = METHODS[line["method"]]
    shared = {f.name: line[f.name] for f in SHARED if line.get(f.name)}
    knobs = _knobs(line)
    known = {f.name: knobs.pop(f.name) for f in method.knobs if f.name in knobs}
    data: dict[str, Any] = {
        name: line[name] for name in DATA_FIELDS if name not in SHAPE or line.get(name)
    }
    rounds, accuracy = int(line["rounds_done"]), _maybe(line["accuracy"])
    curve = tuple(float(a) for a in line["curve"].split())
    histogram = tuple(int(n) for n in line["histogram"].split())
    if accuracy is not None:
        whole = len(curve) == rounds > 0 and abs(curve[-1] - accuracy) <= 1e-4
        if not whole or not histogram:
            raise ValueError("The curve was cut off, or the histogram is missing.")
    return Row(
        Settings(**data),
        Training(**shared, **known),
        rounds_done=rounds,
        accuracy=accuracy,
        best_round=int(line["best_round"]),
        best_accuracy=_maybe(line["best_accuracy"]),
        constant=line["constant"],
        histogram=histogram,
        bytes_up=int(line["bytes_up"]),
        bytes_down=int(line["bytes_down"]),
        bytes_evaluation=int(line["bytes_evaluation"]),
        seconds_client=float(line["seconds_client"]),
        seconds_server=float(line["seconds_server"]),
        cpu_seconds_client=float(line["cpu_seconds_client"]),
        cpu_seconds_server=float(line["cpu_seconds_server"]),
        threads=int(line["threads"]),
        versions=line["versions"],
        curve=curve,
        unknown=json.dumps(knobs, sort_keys=True) if knobs else "",
    )


def _knobs(line: dict[str, str]) -> dict[str, Any]:
    """The knobs of a row by name: from their column, or from one column each in an older file."""
    if "knobs" in line:
        found: dict[str, Any] = json.loads(line["knobs"] or "{}")
        return found
    switches = {"True": True, "False": False}
    given = {name: text for name, text in line.items() if text and name not in COMMON}
    return {name: switches.get(text, text) for name, text in given.items()}


def _maybe(text: str) -> float | None:
    return float(text) if text else None
