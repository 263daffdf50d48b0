"""The report of a federated run: who answered, who was dropped and why, bytes and seconds."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spear_core.datasets.store import save_whole
from spear_core.errors import DataDamaged, DataMissing

REPORT, PROTOTYPES = "report.json", "prototypes.npz"


@dataclass
class Report:
    """What happened in one run; written also when the run fails."""

    settings: dict[str, Any]
    asked: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    dropped: list[dict[str, str]] = field(default_factory=list)  # node, reason
    failure: str = ""
    rows: int = 0  # prototypes the estimate was made from
    classes: int = 0
    features: int = 0
    counted_bytes: int = 0  # prototypes, counts and labels, without any container
    record_bytes: int = 0  # the same as Flower's records
    right: int | None = None
    wrong: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def accuracy(self) -> float | None:
        """Share of the clients' test nodes that are right, each inside its own graph."""
        if self.right is None or self.wrong is None or not self.right + self.wrong:
            return None
        return self.right / (self.right + self.wrong)


def write_report(folder: Path, report: Report, prototypes: np.ndarray | None = None) -> None:
    """Keep the report and, where there are any, the global prototypes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / REPORT).write_text(json.dumps(asdict(report), indent=2, ensure_ascii=False) + "\n")
    if prototypes is not None:
        save_whole(folder / PROTOTYPES, {"prototypes": prototypes})


def read_report(text: str) -> Report:
    """A report from its text, or one sentence."""
    try:
        return Report(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise DataDamaged("This is not the report of a federated run.") from error


def read_folder(folder: Path) -> tuple[Report, np.ndarray | None]:
    """The report of a folder and its global prototypes."""
    if not (folder / REPORT).is_file():
        raise DataMissing(f"There is no {REPORT} in {folder}; run the federation first.")
    report = read_report((folder / REPORT).read_text())
    if not (folder / PROTOTYPES).is_file():
        return report, None
    with np.load(folder / PROTOTYPES, allow_pickle=False) as kept:
        return report, kept["prototypes"]
