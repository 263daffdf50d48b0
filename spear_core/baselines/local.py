"""What a client holds, ready for training: its features, its operator, its training nodes.

A training step reads only the training nodes, their neighbours and the neighbours of those, and of
their features those that any of them has; `reach` holds exactly these, so a step does not depend on
the size of the client. The numbers are those of the whole subgraph.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.propagate import subgraph
from spear_core.wanted import still_wanted

DENSE_ABOVE = 0.1  # denser features are multiplied faster as a dense matrix


def _multiply(m: Tensor, x: Tensor) -> Tensor:
    """CSR times dense; on a CPU the kernel for sums was measured twice as fast."""
    return torch.sparse.mm(m, x, "sum") if x.device.type == "cpu" else m @ x


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, m: Tensor, m_t: Tensor, x: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.m_t = m_t
        return _multiply(m, x)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[None, None, Tensor]:  # type: ignore[no-untyped-def]
        return None, None, _multiply(ctx.m_t, grad.contiguous())


@dataclass(frozen=True, eq=False)
class Sparse:
    """A constant CSR matrix to multiply from the left; its transpose is kept for the gradient."""

    m: Tensor
    m_t: Tensor

    def __matmul__(self, x: Tensor) -> Tensor:
        return _Product.apply(self.m, self.m_t, x.contiguous())


@dataclass(frozen=True, eq=False)
class Narrow:
    """A matrix whose other columns are 0, with those that are not.

    It is multiplied with all rows of a weight, or with the rows of its own columns alone.
    """

    x: "Tensor | Sparse"  # (n, a)
    active: Tensor  # (a): its columns among all

    def __matmul__(self, weight: Tensor) -> Tensor:
        return self.x @ (weight if len(weight) == len(self.active) else weight[self.active])


Matrix = Tensor | Sparse | Narrow


@dataclass(frozen=True, eq=False)
class Block:
    """What a forward pass reads: features, and the operator's rows for each of the two layers."""

    x: Matrix  # (n, F)
    near: Matrix  # (m, n): the first layer gives m hidden rows
    far: Matrix  # (o, m): the second layer gives o rows of logits


@dataclass(frozen=True, eq=False)
class Local:
    """One client."""

    whole: Block  # every node
    reach: Block  # what the training nodes read; its logits are theirs, in order
    rows: Tensor  # (n_k): where the training nodes are among the hidden rows of `reach`
    train: Tensor  # (n_k): the training nodes
    label: Tensor  # (n_k): their classes
    links: sp.csr_matrix  # (N_k, N_k): A, row = target
    features: sp.csr_matrix  # (N_k, F)

    @property
    def nodes(self) -> int:
        return self.links.shape[0]

    @property
    def training_rows(self) -> Tensor:
        """The features of the training nodes, dense (n_k, F)."""
        rows = self.features[self.train.cpu().numpy()].toarray()
        return torch.as_tensor(rows, dtype=torch.float32, device=self.label.device)

    def narrow(self, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """Parameters with those rows of the first layer alone that `reach` reads."""
        x = self.reach.x
        return {
            name: p[x.active] if isinstance(x, Narrow) and _by_feature(name, p) else p
            for name, p in state.items()
        }

    def widened(self, state: dict[str, Tensor], whole: dict[str, Tensor]) -> dict[str, Tensor]:
        """Narrow parameters put back into a copy of all."""
        x = self.reach.x
        out = {}
        for name, p in state.items():
            if isinstance(x, Narrow) and _by_feature(name, p):
                out[name] = whole[name].clone()
                out[name][x.active] = p
            else:
                out[name] = p
        return out

    @property
    def trains(self) -> bool:
        """Whether there is anything to learn from."""
        return len(self.train) > 0


def _by_feature(name: str, parameter: Tensor) -> bool:
    """Whether a parameter has one row a feature."""
    return name.startswith("first.") and parameter.dim() == 2


def clients_of(partition: Partition) -> list[Local]:
    """Every client of a partition with its own subgraph."""
    graph = partition.graph
    features, edges = scipy_features(graph), graph.edge_index[:, ~partition.cut]
    home = partition.owner[edges[0]]
    out = []
    for k in range(partition.clients):
        still_wanted()
        nodes = partition.nodes_of(k)
        inside = subgraph(edges[:, home == k], nodes, graph.num_nodes).cpu().numpy()
        train = np.flatnonzero(graph.train[nodes].cpu().numpy())
        label = graph.y[nodes].cpu().numpy()[train]
        out.append(_local(features[nodes.cpu().numpy()], inside, train, label, graph.device))
    return out


def whole_graph(graph: Graph) -> Block:
    """The full graph with all its edges, for the evaluation."""
    operator = _operator(graph.edge_index.cpu().numpy(), graph.num_nodes)
    a = matrix(operator, graph.device)
    return Block(matrix(scipy_features(graph), graph.device), a, a)


def _local(
    features: sp.csr_matrix,
    edges: np.ndarray,
    train: np.ndarray,
    label: np.ndarray,
    device: torch.device,
) -> Local:
    n = features.shape[0]
    operator = _operator(edges, n)
    hidden = np.union1d(train, operator[train].indices)  # whose hidden rows the logits read
    inputs = np.union1d(hidden, operator[hidden].indices)
    read = features[inputs]
    active = np.unique(read.indices[read.data != 0])
    reach = Block(
        Narrow(matrix(read[:, active], device), torch.as_tensor(active, device=device)),
        matrix(operator[hidden][:, inputs], device),
        matrix(operator[train][:, hidden], device),
    )
    a = matrix(operator, device)
    return Local(
        whole=Block(matrix(features, device), a, a),
        reach=reach,
        rows=torch.as_tensor(np.searchsorted(hidden, train), device=device),
        train=torch.as_tensor(train, device=device),
        label=torch.as_tensor(label, device=device),
        links=sp.csr_matrix((np.ones(edges.shape[1]), (edges[1], edges[0])), shape=(n, n)),
        features=features,
    )


def _operator(edges: np.ndarray, n: int) -> sp.csr_matrix:
    """D̃^-½ (A + I) D̃^-½ as PyG's gcn_norm has it: row i gathers from j where an edge (j, i) is.

    Every node has one loop, whether the edges have it or not.
    """
    if n == 0:
        return sp.csr_matrix((0, 0), dtype=np.float32)
    loops = np.arange(n)
    source, target = np.hstack([edges[:, edges[0] != edges[1]], [loops, loops]])
    scale = torch.as_tensor(np.bincount(target), dtype=torch.float32).pow(-0.5).numpy()
    return sp.csr_matrix((scale[source] * scale[target], (target, source)), shape=(n, n))


def scipy_features(graph: Graph) -> sp.csr_matrix:
    """X̃ (N, F), every row of unit length: the same input that SPEAR smooths."""
    x = graph.features.cpu()
    if x.layout != torch.sparse_csr:
        return sp.csr_matrix(x.numpy())
    parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
    return sp.csr_matrix(parts, shape=tuple(x.shape))


def matrix(m: sp.csr_matrix, device: torch.device) -> Tensor | Sparse:
    """A scipy matrix as CSR with its transpose, or dense where that is faster."""
    if m.nnz > DENSE_ABOVE * np.prod(m.shape) or 0 in m.shape:
        return torch.as_tensor(m.toarray(), dtype=torch.float32, device=device)
    return Sparse(_csr(m, device), _csr(m.T.tocsr(), device))


def _csr(m: sp.csr_matrix, device: torch.device) -> Tensor:
    m.sort_indices()
    return torch.sparse_csr_tensor(
        torch.as_tensor(m.indptr.astype(np.int32), device=device),
        torch.as_tensor(m.indices.astype(np.int32), device=device),
        torch.as_tensor(m.data.astype(np.float32), device=device),
        m.shape,
        device=device,
    )
