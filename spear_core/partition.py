"""Dividing the nodes among clients: label skew, at random, or by communities.

A partition is one vector: `owner[i]` is the client that holds node i. Dropping the edges whose ends
have different owners leaves K separate graphs.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from spear_core.communities import louvain
from spear_core.errors import SettingError
from spear_core.fields import stage_of
from spear_core.graph import Graph
from spear_core.memory.budget import remembered
from spear_core.memory.kept import Kept, made_from
from spear_core.propagate import client_operator_t, transition
from spear_core.randomness import generator
from spear_core.settings import Settings
from spear_core.wanted import still_wanted

MIN_NODES = 10  # a draw that leaves a client with fewer is thrown away ...
MAX_DRAWS = 100  # ... this many times, then the last one is kept
MAX_CLASS_REDRAWS = 1000


@dataclass(frozen=True, eq=False)
class Partition:
    """Which client holds which node of a graph, and what that costs."""

    graph: Graph
    owner: Tensor  # (N)
    clients: int  # K
    redraws: int = 0
    under_minimum: bool = False  # the last draw was kept though a client has under 10 nodes
    owners: tuple[str, ...] = ()  # what the clients are called, where the graph says who owns
    kept: Kept = field(
        default_factory=Kept, init=False, repr=False
    )  # what is derived from the others

    @made_from("y", "classes", "owner")
    def counts(self) -> Tensor:
        """Nodes of every client and class, (K, C)."""
        return cell_counts(self.owner, self.graph.y, self.clients, self.graph.classes)

    @made_from("y", "train", "classes", "owner")
    def train_counts(self) -> Tensor:
        """Training nodes of every client and class, (K, C): the n of the paper."""
        nodes = self.graph.train_nodes
        owner, label = self.owner[nodes], self.graph.y[nodes]
        return cell_counts(owner, label, self.clients, self.graph.classes)

    @made_from("y", "train", "classes", "owner")
    def pairs(self) -> tuple[Tensor, Tensor]:
        """Client and class of every pair with a training node, by client and class, (P) each."""
        client, label = self.train_counts.nonzero(as_tuple=True)
        return client, label

    @made_from("owner")
    def sizes(self) -> Tensor:
        """Nodes of every client, (K)."""
        return torch.bincount(self.owner, minlength=self.clients)

    @made_from("edge_index", "owner")
    def cut(self) -> Tensor:
        """True for every edge whose ends belong to different clients, (E)."""
        source, target = self.graph.edge_index
        return self.owner.index_select(0, source) != self.owner.index_select(0, target)

    def nodes_of(self, client: int) -> Tensor:
        """The nodes that one client holds, ascending."""
        return (self.owner == client).nonzero().squeeze(1)

    @property
    def cut_edges(self) -> int:
        return int(self.cut.sum())

    @property
    def empty(self) -> list[int]:
        """Clients without a node."""
        return (self.sizes == 0).nonzero().squeeze(1).tolist()

    @property
    def untrained(self) -> list[int]:
        """Clients with nodes but without a training node: they have nothing to send."""
        none = (self.train_counts.sum(1) == 0) & (self.sizes > 0)
        return none.nonzero().squeeze(1).tolist()

    @made_from("edge_index", "owner")
    def operator_t(self) -> Tensor:
        """The transposed smoothing operator of all clients at once, (N, N)."""
        return client_operator_t(self.graph.adjacency, self.graph.reverse, self.owner)

    @made_from("edge_index", "owner")
    def operator(self) -> Tensor:
        """The smoothing operator of all clients at once, (N, N)."""
        return transition(self.graph.adjacency.within(self.owner))

    @made_from("edge_index", "owner")
    def degree(self) -> Tensor:
        """Mean number of neighbours inside each client, (K); 0 for an empty one."""
        source, target = self.graph.edge_index
        owner = self.owner.index_select(0, source)[~self.cut & (source != target)]
        inside = torch.bincount(owner, minlength=self.clients)
        return inside / self.sizes.clamp_min(1)

    def replace(self, **changes: Any) -> "Partition":
        """A copy with some fields changed that shares everything derived which still holds."""
        new = dataclasses.replace(self, **changes)
        changed = {"owner"} if {"owner", "clients"} & changes.keys() else set()
        new.kept.share(self.kept, self.graph.differs(new.graph) | changed)
        return new

    @property
    def notes(self) -> tuple[str, ...]:
        """What is out of the ordinary, one sentence each."""
        said = []
        if self.under_minimum:
            said.append(
                f"No draw of {MAX_DRAWS} gave every client {MIN_NODES} nodes; the last was kept."
            )
        if self.empty:
            said.append(f"{_clients(self.empty)} without any node.")
        if self.owners:
            names = [f"{k} {name}" for k, name in enumerate(self.owners[:12])]
            more = f", and {len(self.owners) - 12} more" if len(self.owners) > 12 else ""
            said.append(f"The clients are the owners of the nodes: {', '.join(names)}{more}.")
        if self.untrained:
            said.append(f"{_clients(self.untrained)} without a training node: nothing is sent.")
        return tuple(said)


def split(graph: Graph, settings: Settings) -> Partition:
    """The partition that the settings ask for; kept, so that equal requests share one object."""
    return _split(graph, stage_of(settings, "split"))


@remembered(most=8)
def _split(graph: Graph, key: tuple[tuple[str, Any], ...]) -> Partition:
    given = dict(key)
    kind, clients, seed, n = given["partition"], given["clients"], given["seed"], graph.num_nodes
    if clients > n:
        raise SettingError(
            f"clients must be at most the number of nodes, got {clients} for {n} nodes."
        )
    redraws, under = 0, False
    if kind == "owner":
        return _owned(graph, clients)
    if kind == "dirichlet":
        owner, redraws, under = _skewed(graph, clients, given["beta"], seed)
    elif kind == "iid":
        order = generator(seed, "partition").permutation(n)
        owner = np.empty(n, dtype=np.int64)
        owner[order] = np.arange(n) % clients
    else:
        owner = louvain(graph.edge_index.cpu().numpy(), n, clients, seed)
    placed = torch.as_tensor(owner, device=graph.device)
    return Partition(graph, placed, clients, redraws, under)


def _owned(graph: Graph, clients: int) -> Partition:
    """Every node at whom the graph says owns it."""
    extra = graph.extra
    if extra.owner is None:
        raise SettingError(
            f"{graph.name} does not say who owns a node; use the partition dirichlet, or add the "
            "graph again with a column of owners."
        )
    if clients != len(extra.owners):
        raise SettingError(
            f"clients must be {len(extra.owners)} where partition is owner, since so many own "
            f"nodes of {graph.name}; got {clients}."
        )
    return Partition(graph, extra.owner, clients, owners=extra.owners)


def _skewed(graph: Graph, clients: int, beta: float, seed: int) -> tuple[np.ndarray, int, bool]:
    """The draw by label skew; nodes without a label go to anybody."""
    y = graph.y.cpu().numpy()
    if not graph.extra.unlabelled:
        return dirichlet(y, clients, beta, seed)
    known = graph.known.cpu().numpy()
    owner = generator(seed, "unlabelled").integers(0, clients, len(y))
    owner[known], redraws, under = dirichlet(y[known], clients, beta, seed)
    return owner, redraws, under


def dirichlet(y: np.ndarray, clients: int, beta: float, seed: int) -> tuple[np.ndarray, int, bool]:
    """Label skew: each class is cut into shares q ~ Dir(β), full clients excluded.

    Returns the owner of each node, the number of redraws, and whether the last draw was kept
    although a client has fewer than 10 nodes. Uses NumPy's legacy generator, shuffle then
    dirichlet for each class, so that published partitions are reproduced exactly.
    """
    rng = np.random.RandomState(seed)
    members = [np.flatnonzero(y == c) for c in range(int(y.max()) + 1)]
    members = [m for m in members if len(m)]
    for redraws in range(MAX_DRAWS):
        still_wanted()
        sizes = np.zeros(clients, dtype=np.int64)
        pieces = [_draw_class(rng, m, sizes, len(y) / clients, beta) for m in members]
        if sizes.min() >= MIN_NODES:
            break
    owner = np.empty(len(y), dtype=np.int64)
    for ids, parts in pieces:
        owner[ids] = np.repeat(np.arange(clients), parts)
    return owner, redraws, bool(sizes.min() < MIN_NODES)


def _draw_class(
    rng: np.random.RandomState, members: np.ndarray, sizes: np.ndarray, cap: float, beta: float
) -> tuple[np.ndarray, np.ndarray]:
    """One class shuffled and cut: its ids in order and how many go to each client."""
    for _ in range(MAX_CLASS_REDRAWS):
        ids = members.copy()
        rng.shuffle(ids)
        q = rng.dirichlet(np.full(len(sizes), beta))
        q = q * (sizes < cap)
        total = q.sum()
        if total > 0 and np.isfinite(total):
            ends = (np.cumsum(q / total) * len(ids)).astype(np.int64)
            ends[-1] = len(ids)
            parts = np.diff(ends, prepend=0)
            sizes += parts
            return ids, parts
    raise SettingError(
        f"beta = {beta:g} is too small to draw a partition for {len(sizes)} clients; "
        "use a larger beta, 0.01 or more."
    )


def cell_counts(owner: Tensor, label: Tensor, clients: int, classes: int) -> Tensor:
    """How many nodes fall into each (client, class) cell, (K, C)."""
    cells = torch.bincount(owner * classes + label, minlength=clients * classes)
    return cells.view(clients, classes)


def _clients(which: list[int]) -> str:
    shown = ", ".join(str(k) for k in which[:8]) + (", …" if len(which) > 8 else "")
    return f"Client {shown} is" if len(which) == 1 else f"{len(which)} clients ({shown}) are"
