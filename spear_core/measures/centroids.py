"""True class means of the smoothed features, without the smoothed features themselves."""

import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.powers import MOST_KEPT, TESTED, Powers
from spear_core.propagate import enough_steps, one_hot, propagate, propagate_blocks
from spear_core.settings import Settings


def class_means(graph: Graph, over: str, settings: Settings) -> Tensor:
    """Class means of the smoothed features over the test or all nodes, (C, F); 0 if empty.

    Those of the first powers of Â are kept with the graph.
    """
    every = torch.arange(graph.num_nodes, device=graph.device)
    nodes = graph.test_nodes if over == "test" else every

    def make(_: int, mass: Tensor | None) -> tuple[Tensor, Tensor]:
        if mass is None:
            label = graph.y[nodes]
            size = torch.bincount(label, minlength=graph.classes).clamp_min(1)
            columns = slice(0, graph.classes)
            mass = one_hot(nodes, label, 1 / size[label], graph.num_nodes, columns)
        else:
            mass = propagate(graph.operator_t, mass, 1.0, 1)
        return mass, graph.collect(mass)

    alpha, steps = settings.alpha, settings.steps
    if enough_steps(alpha, steps) > MOST_KEPT:
        label = graph.y[nodes]
        size = torch.bincount(label, minlength=graph.classes).clamp_min(1)
        return class_sums(graph, nodes, 1 / size[label], alpha, steps)
    needs = TESTED | {"y", "classes"} if over == "test" else (TESTED - {"test"}) | {"y", "classes"}
    powers = graph.kept.get(("class_means", over), needs, Powers)
    return powers.grow(enough_steps(alpha, steps), make).mixed(alpha, steps).float()


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
