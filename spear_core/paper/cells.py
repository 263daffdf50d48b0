"""Every printed figure of SPEAR with the settings that should give it.

`cells()` reads the printed tables; `curves()` lists the points of the paper's curves, whose values
are drawn there but not printed. Both are plain lists of `Cell`, measured in `measured.py`.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from spear_core.paper.printed import reported
from spear_core.settings import Settings, defaults, equation

ALPHAS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
GAMMAS = (0.0, 0.01, 0.03, 0.1, 0.3, 0.5, 0.8, 1.0, 2.0, 5.0, math.inf)
STEPS = (0, 1, 2, 3, 4, 5, 10)
BETAS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 1.0)
NO_PPR: dict[str, Any] = {"alpha": 0.0}
PLAIN_MEAN: dict[str, Any] = {"shrinkage": False, "count_weights": False}
NO_SHRINKAGE: dict[str, Any] = {"shrinkage": False}
LIARS: dict[str, Any] = {"attacker_count": 3, "flip": "next"}


@dataclass(frozen=True)
class Cell:
    """One figure: where it stands, what it measures, and with which settings."""

    table: str
    row: str
    column: str
    settings: Settings
    metric: str = "accuracy"  # a name of Metrics, seconds, speedup or a count of the graph
    printed: float | None = None  # accuracy in percent, KiB, seconds or as printed
    seeds: str = "paper"  # the paper's five, or 42 where it prints a single run
    draws: int = 1  # noise is drawn this often for each seed
    note: str = ""

    @property
    def where(self) -> tuple[str, str, str]:
        return self.table, self.row, self.column

    @property
    def scale(self) -> float:
        """What the measured value is multiplied with to have the printed unit."""
        return {"accuracy": 100.0, "bytes_up_prototypes": 1 / 1024}.get(self.metric, 1.0)


def cells() -> list[Cell]:
    """Every printed figure of SPEAR, table by table."""
    out: list[Cell] = []
    accuracy = _Adder(out)
    main, ablation = reported()["main_accuracy"], reported()["ablation"]
    accuracy("main", "SPEAR", main, main["rows"]["SPEAR"])
    for row, changes, note in (
        ("full", {}, ""),
        ("without PPR", NO_PPR, ""),
        ("without shrinkage", PLAIN_MEAN, "the plain mean of clients: count weights left out too"),
        ("without both", NO_PPR | NO_SHRINKAGE, ""),
    ):
        accuracy("ablation", row, ablation, ablation["rows"][row], changes, note=note)
    accuracy(
        "ablation",
        "λ = 0, count weights kept",
        ablation,
        [None] * len(ablation["columns"]),
        NO_SHRINKAGE,
        note="not in the paper: shrinkage alone taken out",
    )
    for dataset, table in reported()["scalability"].items():
        for k, value in zip(table["columns"], table["rows"]["SPEAR"], strict=True):
            settings = _settings(dataset, clients=k)
            row = f"{dataset}: SPEAR"
            out.append(Cell("scalability", row, f"K = {k}", settings, printed=value))
    heterophily = reported()["heterophily"]
    accuracy("heterophily", "SPEAR", heterophily, heterophily["rows"]["SPEAR"])
    without = heterophily["rows"]["SPEAR without PPR"]
    accuracy("heterophily", "SPEAR without PPR", heterophily, without, NO_PPR)
    heuristics = reported()["heuristics"]
    for row, changes in (
        ("SPEAR", {}),
        ("semantic selection", {"peers": "semantic"}),
        ("degree reliability", {"reliability": "degree"}),
        ("without both", NO_PPR | NO_SHRINKAGE),
    ):
        note = "our formula; the paper gives none" if row.split()[0] in "semantic degree" else ""
        accuracy("heuristics", row, heuristics, heuristics["rows"][row], changes, note=note)
    out += [*_perturbation(), *_byzantine(), *_silhouettes(), *_errors(), *_costs(), *_claims()]
    return [*out, *_speed(), *_datasets()]


def curves() -> list[Cell]:
    """The points of the paper's curves; their values are not printed."""
    at_hand = ("Cora", "CiteSeer", "PubMed", "Computers", "Coauthor-CS", "Texas", "Actor")
    out = [_point("β curve", "Cora", beta=b) for b in BETAS if b <= 0.25]
    out += [_point("γ curve", name, gamma=g) for name in at_hand for g in GAMMAS]
    out += [_point("T curve", name, steps=t) for name in at_hand for t in STEPS]
    panels = ("Cora", "CiteSeer", "Coauthor-CS", "Texas", "Actor")
    out += [_point("α curve", name, alpha=a) for name in panels for a in ALPHAS]
    for name in ("Cora", "Coauthor-CS"):
        out += [
            _point("boundary", f"{name}, α = {a:g}", name, beta=b, alpha=a)
            for a in (0.15, 0.8)
            for b in BETAS
        ]
    return out


def _point(table: str, row: str, dataset: str | None = None, **knob: float) -> Cell:
    name, value = next(iter(knob.items()))
    return Cell(table, row, equation(name, value), _settings(dataset or row, **knob))


class _Adder:
    """Adds a row of accuracies, one cell a dataset."""

    def __init__(self, out: list[Cell]) -> None:
        self.out = out

    def __call__(
        self,
        table: str,
        row: str,
        printed: dict[str, Any],
        values: list[Any],
        changes: dict[str, Any] | None = None,
        note: str = "",
    ) -> None:
        for dataset, value in zip(printed["columns"], values, strict=True):
            settings = _settings(dataset, **(changes or {}))
            self.out.append(Cell(table, row, dataset, settings, printed=value, note=note))


def _perturbation() -> list[Cell]:
    table, out = reported()["perturbation"], []
    for column, value in zip(table["columns"], table["rows"]["SPEAR"], strict=True):
        dataset, kind = column.split()
        settings = _settings(dataset, **{f"{kind}_noise": 0.5})
        note = "noise in the clients' graphs, clean test graph"
        cell = Cell("perturbation", "SPEAR", column, settings, printed=value, draws=4, note=note)
        out.append(cell)
    return out


def _byzantine() -> list[Cell]:
    table, out = reported()["byzantine_3_of_10"], []
    for row, values in table["rows"].items():
        peers = "semantic" if row == "with semantic selection" else "mean"
        for column, value in zip(table["columns"], values, strict=True):
            dataset, beta = column.split(" beta=")
            settings = _settings(dataset, beta=float(beta), peers=peers, **LIARS)
            note = "three random clients call every class the next one"
            cell = Cell("byzantine", row, column, settings, printed=value, draws=4, note=note)
            out.append(cell)
    return out


def _silhouettes() -> list[Cell]:
    table, out = reported()["silhouette"], []
    for row, metric in (("raw features", "silhouette_raw"), ("SPEAR", "silhouette_smoothed")):
        for dataset, value in zip(table["columns"], table["rows"][row], strict=True):
            cell = Cell("silhouette", row, dataset, _settings(dataset), metric, value)
            out.append(cell)
    return out


def _errors() -> list[Cell]:
    table, out = reported()["prototype_error"], []
    names = ("error_local_all", "error_mean_all", "error_spear_all")
    for dataset, values in table["rows"].items():
        for column, metric, value in zip(table["columns"], names, values, strict=True):
            note = "centroids over all nodes"
            settings = _settings(dataset)
            out.append(Cell("prototype error", dataset, column, settings, metric, value, note=note))
    text = reported()["prototype_error_main_text_cora"]
    for column, metric in (("local", "error_local"), ("SPEAR", "error_spear")):
        note = "centroids over the test nodes, seed 42"
        row, settings = "Cora, main text", _settings("Cora")
        value = text["global" if column == "SPEAR" else column]
        out.append(Cell("prototype error", row, column, settings, metric, value, "42", note=note))
    return out


def _costs() -> list[Cell]:
    out = []
    table = reported()["efficiency_communication"]
    for dataset, value in zip(table["columns"], table["rows"]["SPEAR KB"], strict=True):
        note = "KiB of prototypes, the mean over clients, seed 42"
        settings, metric = _settings(dataset), "bytes_up_prototypes"
        cell = Cell("communication", "SPEAR KB", dataset, settings, metric, value, "42", note=note)
        out.append(cell)
    table = reported()["efficiency_seconds"]
    for dataset, value in zip(table["columns"], table["rows"]["SPEAR"], strict=True):
        note = "another machine: not comparable, shown for its size"
        settings = _settings(dataset)
        out.append(Cell("seconds", "SPEAR", dataset, settings, "seconds", value, note=note))
    return out


def _speed() -> list[Cell]:
    """The printed multipliers, which are FedAvg's printed seconds over SPEAR's."""
    table, row = reported()["efficiency_speedup"], "SPEAR against FedAvg"
    note = "processor time: stored runs of our FedAvg, 100 rounds; another machine than the paper's"
    return [
        Cell("speed", row, name, _settings(name), "speedup", value, "42", note=note)
        for name, value in zip(table["columns"], table["rows"][row], strict=True)
    ]


def _datasets() -> list[Cell]:
    """The dataset statistics that are numbers; `20/class` and `54%` are compared in their unit."""
    table, out = reported()["datasets"], []
    for name, values in table["rows"].items():
        for column, value in zip(table["columns"], values, strict=True):
            if column == "category":
                continue
            text = str(value)
            unit = " a class" if "/class" in text else " %" if "%" in text else ""
            number = float(text.removesuffix("/class").removesuffix("%"))
            note = "pairs of different nodes" if column == "edges" else ""
            metric = f"graph {column}{unit}"
            out.append(
                Cell("datasets", name, column, _settings(name), metric, number, "42", note=note)
            )
    return out


def _claims() -> list[Cell]:
    said = reported()["claims"]
    steep, texas = said["Cora alpha=0.80"], said["Texas alpha>=0.30"]
    alike = said["Coauthor-CS beta=1.0 SPEAR"]
    one = "one step fits the print, the stated two do not"
    rows: tuple[tuple[str, Settings, float, str], ...] = (
        ("Cora, α = 0.8, T = 2", _settings("Cora", alpha=0.8), steep, ""),
        ("Cora, α = 0.8, T = 1", _settings("Cora", alpha=0.8, steps=1), steep, one),
        ("Texas, α = 0.3", _settings("Texas", alpha=0.3), texas, "the text says from 0.3 on"),
        ("Texas, α = 0.8", _settings("Texas", alpha=0.8), texas, "the text says from 0.3 on"),
        ("Coauthor-CS, β = 1.0", _settings("Coauthor-CS", beta=1.0), alike, ""),
    )
    return [
        Cell("claims", row, "accuracy", settings, printed=value, note=note)
        for row, settings, value, note in rows
    ]


def _settings(dataset: str, **changes: Any) -> Settings:
    return replace(defaults(dataset), **changes)
