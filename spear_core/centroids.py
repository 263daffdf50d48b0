"""True class means of the smoothed features, without the smoothed features themselves."""

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.propagate import one_hot, propagate_blocks
from spear_core.settings import Settings

KEPT = 8  # class means kept with a graph


def class_means(graph: Graph, over: str, settings: Settings) -> Tensor:
    """Class means of the smoothed features over the test or all nodes, (C, F); 0 if empty.

    They depend on the graph, α and T alone, so the last few are kept with the graph.
    """
    key = (over, settings.alpha, settings.steps)
    kept: dict[tuple[str, float, int], Tensor] = graph.__dict__.get("_class_means", {})
    if key not in kept:
        every = torch.arange(graph.num_nodes, device=graph.device)
        nodes = graph.test_nodes if over == "test" else every
        size = torch.bincount(graph.y[nodes], minlength=graph.classes).clamp_min(1)
        made = class_sums(graph, nodes, 1 / size[graph.y[nodes]], settings.alpha, settings.steps)
        kept = dict([*kept.items()][1 - KEPT :]) | {key: made}
        graph.__dict__["_class_means"] = kept
    return kept[key]


def class_sums(graph: Graph, nodes: Tensor, weight: Tensor, alpha: float, steps: int) -> Tensor:
    """Σ weight_i z_i over some nodes of every class, (C, F): the indicator travels, not Z."""
    label, n = graph.y[nodes], graph.num_nodes
    if alpha == 0 or steps == 0:
        return graph.collect(one_hot(nodes, label, weight, n, slice(0, graph.classes)))
    mass = propagate_blocks(
        graph.operator_t,
        lambda block: one_hot(nodes, label, weight, n, block),
        graph.classes,
        alpha,
        steps,
    )
    return graph.collect(mass)
