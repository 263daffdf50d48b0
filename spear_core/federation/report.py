"""The report of a federated run: who answered, who was dropped and why, bytes and seconds."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from spear_core.datasets.arrays import read_whole
from spear_core.datasets.store import save_whole
from spear_core.errors import DataDamaged, DataMissing, one_line
from spear_core.measures.spread import percent

REPORT, PROTOTYPES = "report.json", "prototypes.npz"
NEAR = 1e-6  # of prototypes and scores that travelled as float32


@dataclass
class Report:
    """What happened in one run; written also when the run fails."""

    settings: dict[str, Any]
    asked: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    dropped: list[dict[str, str]] = field(default_factory=list)  # node, reason
    notes: list[str] = field(default_factory=list)  # what else was not as asked, one sentence each
    failure: str = ""
    rows: int = 0  # prototypes the estimate was made from
    sketch_rows: int = 0  # of residuals, where the head is ridge
    classes: int = 0
    features: int = 0
    counted_bytes: int = 0  # all that was sent, without any container
    record_bytes: int = 0  # the same as Flower's records
    wire_up: int | None = None  # from the nodes to the SuperLink, as the SuperLink counts
    wire_down: int | None = None  # from the SuperLink to the nodes
    right: int | None = None
    wrong: int | None = None
    near_ties: int | None = None  # test nodes of the whole graph, where the explorer's run is here
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def accuracy(self) -> float | None:
        """Share of the clients' test nodes that are right, each inside its own graph."""
        if self.right is None or self.wrong is None or not self.right + self.wrong:
            return None
        return self.right / (self.right + self.wrong)

    @property
    def ties(self) -> str:
        """Where a run of the explorer may name another class; "" where it was not compared."""
        if self.near_ties is None:
            return ""
        return (
            f"at {self.near_ties} test nodes of the whole graph the two best scores are within "
            f"{NEAR:g}, and either class may win"
        )

    @property
    def parts(self) -> str:
        """What the nodes sent, in words."""
        if self.settings.get("head") == "ridge":
            return "prototypes, counts, labels, energies and sketches"
        return "prototypes, counts and labels"

    def lines(self) -> list[str]:
        """What happened, as people read it."""
        sketched = f"and {self.sketch_rows} rows of sketches " if self.sketch_rows else ""
        said = [
            f"{len(self.answered)} of {len(self.asked)} nodes answered, "
            f"{self.rows} prototypes {sketched}in the estimate"
        ]
        said += [f"dropped node {one['node']}: {one['reason']}" for one in self.dropped]
        said.append(
            f"{self.counted_bytes} bytes of {self.parts}, {self.record_bytes} as Flower's records"
        )
        if self.wire_up is not None:
            said.append(f"on the wire {self.wire_up} bytes up and {self.wire_down} down")
        if self.accuracy is not None:
            said.append(f"{percent(self.accuracy)} of the clients' test nodes right at home")
        said += [self.ties] if self.ties else []
        said += self.notes
        said += [f"failed: {self.failure}"] if self.failure else []
        return [one_line(line) for line in said]


def clear(folder: Path) -> None:
    """Take away what an earlier run left, so that nobody takes it for this run's."""
    for name in (REPORT, PROTOTYPES):
        (folder / name).unlink(missing_ok=True)


def write_report(folder: Path, report: Report, arrays: dict[str, np.ndarray] | None = None) -> None:
    """Keep the report and, where there is one, the estimate: prototypes, for ridge also W, m, π."""
    folder.mkdir(parents=True, exist_ok=True)
    clear(folder)
    _write(folder, report)
    if arrays is not None:
        save_whole(folder / PROTOTYPES, arrays)


def write_traffic(folder: Path, traffic: Mapping[str, int]) -> None:
    """Add to a report what the SuperLink counted."""
    add_to(folder, wire_up=traffic["inbound-bytes"], wire_down=traffic["outbound-bytes"])


def add_to(folder: Path, **found: Any) -> None:
    """Add to a report what was found afterwards, where it lies on this machine."""
    if (folder / REPORT).is_file():
        _write(folder, replace(read_report((folder / REPORT).read_text("utf-8")), **found))


def read_report(text: str) -> Report:
    """A report from its text, or one sentence."""
    try:
        report = Report(**json.loads(text))
        _check(report)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DataDamaged("This is not the report of a federated run.") from error
    return report


def read_folder(folder: Path) -> tuple[Report, dict[str, np.ndarray] | None]:
    """The report of a folder and the arrays of its estimate, the global prototypes among them."""
    if not (folder / REPORT).is_file():
        raise DataMissing(f"There is no {REPORT} in {folder}; run the federation first.")
    report = read_report((folder / REPORT).read_text("utf-8"))
    if not (folder / PROTOTYPES).is_file():
        return report, None
    try:
        return report, read_whole(folder / PROTOTYPES)
    except (OSError, ValueError, BadZipFile) as error:
        raise DataDamaged(f"{folder / PROTOTYPES} is damaged; run the federation again.") from error


def _check(report: Report) -> None:
    """Raise what is wrong with the types of a report somebody hands in."""
    lists = (report.asked, report.answered, report.notes, report.dropped)
    if not all(isinstance(one, list) for one in lists):
        raise ValueError("a list of the report is none")
    texts = [report.failure, *report.asked, *report.answered, *report.notes, *report.settings]
    texts += [one[key] for one in report.dropped for key in ("node", "reason")]
    counts: list[float] = [report.rows, report.sketch_rows, report.classes, report.features]
    counts += [report.counted_bytes, report.record_bytes, *report.seconds.values()]
    maybe = (report.wire_up, report.wire_down, report.right, report.wrong, report.near_ties)
    counts += [n for n in maybe if n is not None]
    if not all(isinstance(value, str | int | float) for value in report.settings.values()):
        raise ValueError("a setting of the report is none")
    if not all(isinstance(text, str) for text in texts) or not all(0 <= n < 2**63 for n in counts):
        raise ValueError("a text or a number of the report is none")


def _write(folder: Path, report: Report) -> None:
    text = json.dumps(asdict(report), indent=2, ensure_ascii=False)
    # half a pair of surrogates, as a stranger's text may have, is no UTF-8
    (folder / REPORT).write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
