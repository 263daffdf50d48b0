"""A graph without its test labels: nothing that a verdict reads has seen one.

Every label outside the training nodes is replaced, before anything else, by what prototypes of all
training nodes say. A Dirichlet draw needs a class for every node; it is made of these.
"""

from dataclasses import replace

import torch

from spear_core.graph import Graph
from spear_core.lance import spear
from spear_core.partition import Partition, split
from spear_core.run import run_on
from spear_core.settings import Settings


def blinded(graph: Graph) -> Graph:
    """The graph with the labels of its training nodes, predicted ones elsewhere."""
    hidden = graph.y.clone()
    keep = graph.train | ~graph.known  # that a node has no label is known
    hidden[~keep] = 0
    bare = graph.replace(y=hidden, test=~keep)
    whole = Partition(bare, torch.zeros_like(hidden), 1)
    central = replace(spear(Settings()), clients=1, smoothing="gated", gamma=float("inf"))
    found = run_on(whole, central).prediction
    y = hidden.clone()
    y[found.nodes] = found.labels
    return graph.replace(y=y)


def dealt(graph: Graph, settings: Settings) -> Partition:
    """The clients of a blinded graph, by the settings."""
    return split(graph, settings)
