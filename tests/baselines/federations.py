"""Small federations and short runs for the tests of the trained methods."""

import torch

from spear_core import Partition, Settings
from spear_core.baselines.fedavg import Federation
from spear_core.baselines.local import clients_of
from spear_core.baselines.loop import train_on
from spear_core.baselines.methods import METHODS
from spear_core.baselines.training import Training, defaults
from tests.conftest import random_graph

P = {"Cora": 368_903, "CiteSeer": 949_766, "PubMed": 129_027}  # F·H + H + H·C + C at H = 256
MIB = {"Cora": 2814.5, "CiteSeer": 7246.1, "PubMed": 984.4}  # 100 rounds, ten clients, both ways
SHORT = {"rounds": 3, "epochs": 2, "hidden": 8}
FEW = {  # steps of every phase of the one-shot methods
    "rounds": 1, "dense_epochs": 3, "dense_steps": 2, "dense_nodes": 20, "cvae_steps": 4,
    "cvae_nodes": 20, "cvae_classifier": 4, "sd2c_moves": 3, "sd2c_steps": 4, "ghost_graphs": 2,
    "oasis_teacher": 2, "oasis_codes": 4, "oasis_epochs": 3,
}  # fmt: skip


def usual(method: str) -> dict:
    """What makes a method's run short; the only round of a one-shot method stays."""
    return SHORT | FEW if METHODS[method].one_shot else SHORT


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
        defaults(method, **(usual(method) | changes)),
        seed=42,
        device=torch.device("cpu"),
    )


def trained(partition: Partition, method: str, keep: bool = False, progress=None, **changes):
    return train_on(
        partition, Settings(), defaults(method, **(usual(method) | changes)), progress, keep
    )


def short(method: str, **changes) -> Training:
    return defaults(method, **(usual(method) | changes))


def same(one, other) -> bool:
    return all(torch.equal(one.model[name], other.model[name]) for name in one.model)


def same_run(one, other) -> bool:
    return (
        all(torch.equal(one.model[name], other.model[name]) for name in one.model)
        and torch.equal(one.scores, other.scores)
        and one.curve == other.curve
        and one.traffic == other.traffic
    )
