"""GraphML through networkx, as the two tables it stands for; nothing is declared or fetched."""

from typing import Any
from xml.parsers import expat

import pyarrow as pa

from spear_core.errors import DataDamaged
from spear_core.own.columns import Table
from spear_core.own.given import Given, check_size, short

TIMES = 8  # what a graph takes in networkx, in bytes of its file


class _Began(Exception):
    """The root element is there: what may declare entities is over."""


def read_graphml(one: Given) -> tuple[Table, Table]:
    """Its nodes with their data (ids first), and its edges."""
    import networkx as nx

    check_size(one.name, TIMES * one.size, "would take")
    with one.open() as file:
        data = file.read()
    _without_entities(one, data)
    try:
        with one.open() as file:
            graph = nx.read_graphml(file)
    except Exception as error:  # networkx raises nearly anything
        raise DataDamaged(
            f"{one.name} is no GraphML that networkx reads ({short(error, 80)}); write it again."
        ) from None
    if graph.number_of_nodes() == 0:
        raise DataDamaged(f"{one.name} has no node; give a graph.")
    names = dict.fromkeys(key for _, data in graph.nodes(data=True) for key in data)
    columns: dict[str, Any] = {"id": pa.array([str(n) for n in graph.nodes], pa.string())}
    for name in names:
        if str(name).lower() != "id":
            columns[short(name, 60)] = _column([d.get(name) for _, d in graph.nodes(data=True)])
    pairs = [(str(a), str(b)) for a, b in graph.edges()]
    ends = {
        "source": pa.array([a for a, _ in pairs], pa.string()),
        "target": pa.array([b for _, b in pairs], pa.string()),
    }
    return Table(one.name, pa.table(columns), 1), Table(one.name, pa.table(ends), 1)


def _column(values: list[Any]) -> pa.Array:
    """Numbers where all are, else text."""
    if all(v is None or (isinstance(v, int | float) and not isinstance(v, bool)) for v in values):
        return pa.array([None if v is None else float(v) for v in values], pa.float32())
    return pa.array([None if v is None else str(v) for v in values], pa.string())


def _without_entities(one: Given, data: bytes) -> None:
    """A sentence where a document type is declared: with entities it could grow without end."""

    def declared(*_: Any) -> None:
        raise DataDamaged(
            f"{one.name} declares a document type (DOCTYPE), which is not read; leave that out."
        )

    def began(*_: Any) -> None:
        raise _Began

    reader = expat.ParserCreate()
    reader.StartDoctypeDeclHandler = declared
    reader.EntityDeclHandler = declared
    reader.StartElementHandler = began
    try:
        reader.Parse(data, True)
    except _Began:
        return
    except expat.ExpatError as error:
        raise DataDamaged(
            f"{one.name}, row {error.lineno}, is no XML ({expat.errors.messages[error.code]}); "
            "write it again."
        ) from None
