"""The paper's tables in their own form: every printed row, our measurement beside it."""

from dataclasses import dataclass
from typing import Any

from spear_core.baselines import METHODS, stored
from spear_core.baselines.views import summaries
from spear_core.paper.cells import Cell, cells
from spear_core.paper.measured import OPEN, Measured
from spear_core.paper.printed import reported

PRINTED = {  # our name of a table -> its name among the printed figures, and what it shows
    "main": ("main_accuracy", "Accuracy in %, ten clients, β = 0.05"),
    "ablation": ("ablation", "Accuracy in % with parts of SPEAR taken out"),
    "perturbation": ("perturbation", "Accuracy in % with half of the edges or features noisy"),
    "byzantine": ("byzantine_3_of_10", "Accuracy in % when 3 of 10 clients flip their labels"),
    "heterophily": ("heterophily", "Accuracy in % on graphs whose neighbours mostly differ"),
    "scalability": ("scalability", "Accuracy in % with 5 to 100 clients"),
    "heuristics": ("heuristics", "Accuracy in % with other peers or another trust"),
    "silhouette": ("silhouette", "Silhouette of the test nodes, by cosine"),
    "prototype error": ("prototype_error", "Cosine distance of prototypes to the true centroids"),
    "communication": ("efficiency_communication", "What is sent: MB in all, KB a client for SPEAR"),
    "seconds": ("efficiency_seconds", "Seconds, on the paper's machine and on this one"),
    "claims": ("claims", "Figures the paper quotes in its text"),
    "speed": ("efficiency_speedup", "How many times faster than 100 rounds of FedAvg"),
    "datasets": ("datasets", "The datasets: nodes, edges and splits"),
}


@dataclass(frozen=True)
class Entry:
    """One cell: what is printed, what was measured, and with which settings it is opened."""

    printed: float | str | None
    measured: Measured | None = None
    cell: Cell | None = None

    @property
    def mark(self) -> str:
        return self.measured.mark if self.measured else OPEN


@dataclass(frozen=True)
class Table:
    """Rows and columns as printed."""

    name: str
    about: str
    columns: list[str]
    rows: dict[str, list[Entry]]


def rivals() -> list[Measured]:
    """The stored runs of trained methods that the main table prints, as rows like ours."""
    printed = reported()["main_accuracy"]
    out = []
    for s in summaries(stored()):
        title = METHODS[s.method].title
        usual = (s.recipe, s.clients, s.beta) == ("default", 10, 0.05)
        if not usual or s.dataset not in printed["columns"] or title not in printed["rows"]:
            continue
        value = printed["rows"][title][printed["columns"].index(s.dataset)]
        seeds, note = " ".join(map(str, s.seeds)), f"{s.rounds} rounds, no weight decay"
        mean, std = 100 * s.accuracy, 100 * s.spread
        where = ("main", title, s.dataset, "accuracy")
        out.append(Measured(*where, value, mean, std, "", seeds, 1, "", note, "", ""))
    return out


def table(name: str, measured: list[Measured]) -> Table:
    """A table of the paper with our figures beside the printed ones."""
    columns, rows = _printed(name)
    ours = {cell.where: cell for cell in cells() if cell.table == name}
    found = {row.where: row for row in measured}
    for _, row, column in ours:  # rows that are ours alone come last
        rows.setdefault(row, [None] * len(columns))
        if column not in columns:
            raise ValueError(f"{name} has no column {column!r}.")
    entries = {
        row: [
            _entry(value, found.get((name, row, column)), ours.get((name, row, column)))
            for column, value in zip(columns, values, strict=True)
        ]
        for row, values in sorted(rows.items(), key=lambda item: _rank(item[0], list(rows)))
    }
    return Table(name, PRINTED[name][1], columns, entries)


def _rank(row: str, rows: list[str]) -> tuple[int, bool]:
    """Where a row stands: as printed, but SPEAR first, or first of the dataset that rows name."""
    dataset, _, method = row.rpartition(": ")
    alike = [i for i, other in enumerate(rows) if other.rpartition(": ")[0] == dataset]
    return alike[0], method not in ("SPEAR", "full")


def _entry(printed: Any, measured: Measured | None, cell: Cell | None) -> Entry:
    return Entry(cell.printed if cell and printed is None else printed, measured, cell)


def _printed(name: str) -> tuple[list[str], dict[str, list[Any]]]:
    raw = reported()[PRINTED[name][0]]
    if name == "scalability":
        columns = [f"K = {k}" for k in raw["Cora"]["columns"]]
        rows = {
            f"{dataset}: {method}": values
            for dataset, part in raw.items()
            for method, values in part["rows"].items()
        }
        return columns, rows
    if name == "claims":
        return ["accuracy"], {}
    columns = [name for name in raw["columns"] if name != "category"]  # last, and no number
    return columns, {row: values[: len(columns)] for row, values in raw["rows"].items()}
