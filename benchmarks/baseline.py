"""`python -m benchmarks.baseline`: SPEAR against 100 rounds of FedAvg on Cora, in one run.

Both start from the same graph and partition in memory. SPEAR is its median time, taken before and
after; FedAvg is the time of clients and server, evaluation left out, once with this project's loop
and once as one would write it with PyG: dense features, `GCNConv` on each client's edges, every
node in every step. Last, why the network has a layer of its own: what PyG's `GCNConv` takes in its
place, on the very same rows, normalised once. `--rounds 10` times fewer and scales.
"""

import argparse
import statistics
import time
from dataclasses import replace

import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.nn import Module
from torch.nn.functional import cross_entropy, dropout
from torch_geometric.nn import GCNConv
from torch_geometric.utils import subgraph

from spear_core import Partition, Settings, load, run_on, split
from spear_core.baselines.fit import fit
from spear_core.baselines.local import Block, Matrix, Narrow, Sparse, clients_of, matrix
from spear_core.baselines.loop import train_on
from spear_core.baselines.model import GCN, start
from spear_core.baselines.training import Training, defaults
from spear_core.explicit import dense_features
from spear_core.randomness import generator

ROUNDS = 100
ASKED = 3000  # times
REPEATS = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="Cora")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="really run; scaled to 100")
    args = parser.parse_args()
    settings = Settings(dataset=args.dataset)
    training = defaults("fedavg", rounds=args.rounds)
    partition = split(load(settings).warm(), settings)
    train_on(partition, settings, defaults("fedavg", rounds=1), keep=False)  # first use of torch
    scale = ROUNDS / args.rounds

    before = spear_seconds(partition, settings)
    trained = train_on(partition, settings, training, keep=False)
    ours = scale * (trained.seconds["client"] + trained.seconds["server"])
    plain = scale * plain_seconds(partition, training)
    spear = statistics.median(before + spear_seconds(partition, settings))

    print(f"{args.dataset}, K = 10, β = 0.05, {torch.get_num_threads()} threads, one run")
    print(f"SPEAR                       {1000 * spear:10.2f} ms")
    print(f"FedAvg, this project's loop {ours:10.2f} s   {ours / spear:8,.0f} times")
    print(f"FedAvg, plain PyG           {plain:10.2f} s   {plain / spear:8,.0f} times")
    if plain / spear < ASKED:
        print(f"NOT reached: {ASKED:,} times")
    layer, theirs = (scale * seconds for seconds in layer_seconds(partition, training))
    print(f"local steps, our layer      {layer:10.2f} s")
    print(f"local steps, GCNConv        {theirs:10.2f} s   {theirs / layer:8.1f} times ours")


def spear_seconds(partition: Partition, settings: Settings) -> list[float]:
    """Each from a partition that keeps nothing of the run before, the clients' operators apart."""
    times = []
    for _ in range(REPEATS + 1):
        fresh = Partition(partition.graph, partition.owner, partition.clients)
        fresh.operator_t  # noqa: B018  FedAvg's clients have theirs too before the clock starts
        times.append(run_on(fresh, settings).method_seconds)
    return times[1:]


def plain_seconds(partition: Partition, training: Training) -> float:
    """FedAvg as PyG's examples are written; seconds of training and averaging."""
    graph = partition.graph
    x = dense_features(graph, torch.float32)
    first = GCNConv(graph.num_features, training.hidden)
    second = GCNConv(training.hidden, graph.classes)
    parameters = [*first.parameters(), *second.parameters()]
    clients = []
    for k in range(partition.clients):
        nodes = (partition.owner == k).nonzero().squeeze(1)
        edges, _ = subgraph(nodes, graph.edge_index, relabel_nodes=True, num_nodes=len(x))
        clients.append((x[nodes], edges, graph.y[nodes], graph.train[nodes]))
    model = [p.detach().clone() for p in parameters]
    began = time.perf_counter()
    for _ in range(training.rounds):
        sums, total = [torch.zeros_like(p) for p in model], 0
        for part in clients:
            count = int(part[3].sum())
            if count:
                steps(part, first, second, parameters, model, training)
                for s, p in zip(sums, parameters, strict=True):
                    s.add_(p.detach(), alpha=count)
                total += count
        model = [s / total for s in sums]
    return time.perf_counter() - began


def steps(
    part: tuple[Tensor, Tensor, Tensor, Tensor],
    first: GCNConv,
    second: GCNConv,
    parameters: list[torch.nn.Parameter],
    model: list[Tensor],
    training: Training,
) -> None:
    x, edges, y, train = part
    for p, value in zip(parameters, model, strict=True):
        p.data.copy_(value)
    adam = torch.optim.Adam(
        parameters, lr=training.learning_rate, weight_decay=training.weight_decay
    )
    for _ in range(training.epochs):
        h = dropout(first(x, edges).relu(), training.dropout)
        adam.zero_grad()
        cross_entropy(second(h, edges)[train], y[train]).backward()
        adam.step()


class LibraryGCN(GCN):
    """The network made of PyG's own layers."""

    def __init__(self, features: int, hidden: int, classes: int, dropout: float) -> None:
        Module.__init__(self)
        self.first = GCNConv(features, hidden, normalize=False)
        self.second = GCNConv(hidden, classes, normalize=False)
        self.dropout = dropout


def layer_seconds(partition: Partition, training: Training) -> tuple[float, float]:
    """Seconds of every client's steps, with our layer and with PyG's, turn by turn."""
    graph = partition.graph
    clients = [client for client in clients_of(partition) if client.trains]
    clients = [replace(c, reach=_wide(c.reach, graph.num_features)) for c in clients]
    theirs = [replace(c, reach=_as_pyg(c.reach)) for c in clients]
    sizes = (graph.num_features, training.hidden, graph.classes, training.dropout)
    ours, library = GCN(*sizes), LibraryGCN(*sizes)
    first = start(ours, 0, graph.device), library.state()
    took = [0.0, 0.0]
    for number in range(training.rounds + 1):  # the first is not counted
        for i, (net, some) in enumerate(((ours, clients), (library, theirs))):
            rng, began = generator(number, "benchmark"), time.perf_counter()
            for client in some:
                fit(net, client, first[i], training, rng, narrow=False)
            took[i] += (time.perf_counter() - began) * (number > 0)
    return took[0], took[1]


def _wide(block: Block, features: int) -> Block:
    """Features with all their columns, as PyG's layer reads them."""
    assert isinstance(block.x, Narrow)
    some = block.x.x.m.to_dense() if isinstance(block.x.x, Sparse) else block.x.x
    whole = torch.zeros(len(some), features)
    whole[:, block.x.active] = some
    return replace(block, x=matrix(csr_matrix(whole.numpy()), some.device))


def _as_pyg(block: Block) -> Block:
    """Plain tensors: features as they are, operators as CSR."""

    def csr(m: Matrix) -> Tensor:
        assert not isinstance(m, Narrow)
        return m.m if isinstance(m, Sparse) else m.to_sparse_csr()

    x = block.x.m if isinstance(block.x, Sparse) else block.x
    assert isinstance(x, Tensor)
    return Block(x, csr(block.near), csr(block.far))


if __name__ == "__main__":
    main()
