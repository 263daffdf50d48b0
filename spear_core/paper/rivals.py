"""What the paper prints of its thirteen rivals and of SPEAR, to stand beside what is measured."""

from collections.abc import Collection
from typing import Any

from spear_core.baselines.methods import METHODS
from spear_core.paper.printed import reported


def unmeasured(had: Collection[str]) -> list[str]:
    """The printed rivals that are not among these methods, in the order of `METHODS`.

    >>> unmeasured(["dense", "fedcvae", "fedsd2c", "ghost", "oasis", "fedavg", "fedprox"])
    ['FedOPT', 'MOON', 'FedProto', 'FedPub', 'FedGTA', 'FedTAD']
    """
    rows = reported()["main_accuracy"]["rows"]
    return [m.title for m in METHODS.values() if m.name not in had and m.title in rows]


def accuracies(dataset: str, clients: int, beta: float) -> dict[str, float]:
    """Printed accuracies in percent by method: ten clients, or others where the paper has them.

    >>> accuracies("Cora", 10, 0.05)["FedAvg"], accuracies("Cora", 50, 0.05)["FedAvg"]
    (34.74, 32.31)
    """
    tables = reported()
    if beta != 0.05:
        return {}
    if clients == 10:
        return _column(tables["main_accuracy"], dataset)
    return _column(tables["scalability"].get(dataset, _NONE), clients)


def seconds(dataset: str) -> dict[str, float]:
    """Printed seconds by method, at ten clients and β = 0.05."""
    return _column(reported()["efficiency_seconds"], dataset)


def traffic(dataset: str) -> dict[str, float]:
    """Printed megabytes by method; SPEAR's are kilobytes, and of one client."""
    return {
        name.split()[0]: value
        for name, value in _column(reported()["efficiency_communication"], dataset).items()
    }


def silhouettes(dataset: str) -> dict[str, float]:
    """Printed silhouettes by representation: raw features, SPEAR and three trained methods."""
    return _column(reported()["silhouette"], dataset)


_NONE: dict[str, Any] = {"columns": [], "rows": {}}


def _column(table: dict[str, Any], name: object) -> dict[str, float]:
    """The numbers of one column; a cell without a number (out of memory) is left out."""
    if name not in table["columns"]:
        return {}
    i = table["columns"].index(name)
    return {
        row: float(values[i])
        for row, values in table["rows"].items()
        if isinstance(values[i], int | float)
    }
