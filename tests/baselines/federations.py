"""Small federations and short runs for the tests of the trained methods."""

import torch

from spear_core import Partition, Settings
from spear_core.baselines.fedavg import Federation
from spear_core.baselines.local import clients_of
from spear_core.baselines.loop import train_on
from spear_core.baselines.training import Training, defaults
from tests.conftest import random_graph

P = {"Cora": 368_903, "CiteSeer": 949_766, "PubMed": 129_027}  # F·H + H + H·C + C at H = 256
MIB = {"Cora": 2814.5, "CiteSeer": 7246.1, "PubMed": 984.4}  # 100 rounds, ten clients, both ways
SHORT = {"rounds": 3, "epochs": 2, "hidden": 8}


def three(seed: int = 0, directed: bool = False) -> Partition:
    """A random graph of 40 nodes among three clients."""
    graph = random_graph(seed, directed)
    return Partition(graph, torch.arange(40) % 3, 3)


def alone(seed: int = 0) -> Partition:
    return Partition(random_graph(seed), torch.zeros(40, dtype=torch.int64), 1)


def federation(partition: Partition, method: str = "fedavg", **changes) -> Federation:
    graph = partition.graph
    return Federation(
        clients_of(partition),
        graph.num_features,
        graph.classes,
        defaults(method, **(SHORT | changes)),
        seed=42,
        device=torch.device("cpu"),
    )


def trained(partition: Partition, method: str, keep: bool = False, progress=None, **changes):
    return train_on(partition, Settings(), defaults(method, **(SHORT | changes)), progress, keep)


def short(method: str, **changes) -> Training:
    return defaults(method, **(SHORT | changes))


def same(one, other) -> bool:
    return all(torch.equal(one.model[name], other.model[name]) for name in one.model)


def same_run(one, other) -> bool:
    return (
        all(torch.equal(one.model[name], other.model[name]) for name in one.model)
        and torch.equal(one.scores, other.scores)
        and one.curve == other.curve
        and one.traffic == other.traffic
    )
