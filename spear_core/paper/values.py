"""What is measured for a cell: a run's measure, a count of its graph, or a ratio of times."""

import statistics
import time
from dataclasses import replace

import torch

from spear_core.baselines import stored
from spear_core.baselines.views import summaries
from spear_core.graph import Graph
from spear_core.memory.budget import remembered
from spear_core.paper.cells import Cell
from spear_core.run import Result, run, run_on
from spear_core.settings import Settings

TIMES = 21  # runs whose median time is SPEAR's


def values_of(cell: Cell, seeds: tuple[int, ...]) -> list[float]:
    """The values of all seeds and draws, seed by seed, in the printed unit."""
    points = [
        replace(cell.settings, seed=seed, draw=draw) for seed in seeds for draw in range(cell.draws)
    ]
    found = [_value(_run(point), cell.metric) for point in points]
    return [cell.scale * value for value in found if value is not None]


def _value(result: Result, metric: str) -> float | None:
    if metric == "speedup":
        return _speedup(result)
    if metric.startswith("graph "):
        return _count(result.graph, metric.removeprefix("graph "))
    return result.method_seconds if metric == "seconds" else getattr(result.metrics, metric)


def _speedup(result: Result) -> float | None:
    """Processor time of the stored runs of FedAvg over that of SPEAR here; waiting is not in."""
    partition, s = result.partition, result.settings
    asked = ("fedavg", "default", s.dataset, s.clients, s.beta)
    fedavg = [
        one.seconds
        for one in summaries(stored())
        if (one.method, one.recipe, one.dataset, one.clients, one.beta) == asked
    ]
    ours = []
    for _ in range(TIMES):
        began = time.process_time()
        run_on(partition, s)
        ours.append(time.process_time() - began)
    return fedavg[0] / statistics.median(ours) if fedavg else None


def _count(graph: Graph, what: str) -> float:
    """A statistic of the graph; edges are pairs of different nodes, in either direction or both."""
    if what == "edges":
        low, high = graph.edge_index.sort(0).values
        return float(torch.unique((low * graph.num_nodes + high)[low != high]).numel())
    if what in ("nodes", "features", "classes"):
        return float(
            {"nodes": graph.num_nodes, "features": graph.num_features}.get(what, graph.classes)
        )
    part, _, unit = what.partition(" ")
    nodes = float({"train": graph.train, "val": graph.val, "test": graph.test}[part].sum())
    return nodes / {"": 1, "a class": graph.classes, "%": graph.num_nodes / 100}[unit]


@remembered(most=40)
def _run(settings: Settings) -> Result:
    return run(settings)
