"""`Graph`: features, edges, labels and masks, with what is derived from them kept beside them.

Everything here is a tensor on one device. The derived operators are built on first use and carried
over when only labels or masks change, so that a second run on the same dataset builds nothing.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from spear_core.errors import DataDamaged
from spear_core.propagate import Adjacency, adjacency, as_double, select_rows, transition

TINY = 1e-38  # keeps a division by zero away
SUMMED = 4096  # nodes summed in float32 at a time; a long sum of small numbers loses digits

_MADE_FROM = {  # derived attribute -> the fields it is made from
    "features": {"x"},
    "features_t": {"x"},
    "exact_features_t": {"x"},
    "adjacency": {"edge_index", "x"},
    "reverse": {"edge_index", "x"},
    "operator": {"edge_index", "x"},
    "operator_t": {"edge_index", "x"},
    "test_nodes": {"test"},
    "test_operator": {"edge_index", "x", "test"},
    "train_nodes": {"train"},
}


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph with node features, labels and masks.

    Shapes: `x` (N, F) dense or CSR, `edge_index` (2, E), `y` (N), masks (N) boolean.
    Row i of the operator averages over i and the nodes j with an edge (i, j).
    """

    x: Tensor
    edge_index: Tensor
    y: Tensor
    train: Tensor
    val: Tensor
    test: Tensor
    name: str = "graph"
    class_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what was out of the ordinary and how it was handled
    classes: int = 0  # C; at least the largest label plus one and the number of class names

    def __post_init__(self) -> None:
        labels = int(self.y.max()) + 1 if len(self.y) else 0
        object.__setattr__(self, "classes", max(self.classes, labels, len(self.class_names)))

    @property
    def num_nodes(self) -> int:
        return self.x.shape[0]

    @property
    def num_features(self) -> int:
        return self.x.shape[1]

    @property
    def num_edges(self) -> int:
        return self.edge_index.shape[1]

    @property
    def device(self) -> torch.device:
        return self.y.device

    @cached_property
    def features(self) -> Tensor:
        """X̃ (N, F): every row of unit length, whatever its scale; a zero row stays zero."""
        if self.x.layout != torch.sparse_csr:
            scaled = self.x / self.x.abs().amax(dim=1, keepdim=True).clamp_min(TINY)
            return torch.nn.functional.normalize(scaled, dim=1, eps=TINY)
        crow, values = self.x.crow_indices(), self.x.values()
        row = torch.repeat_interleave(
            torch.arange(self.num_nodes, device=self.device), crow.diff().long()
        )
        zero = torch.zeros(self.num_nodes, dtype=values.dtype, device=self.device)
        largest = zero.scatter_reduce(0, row, values.abs(), "amax").clamp_min_(TINY)
        values = values / largest[row]
        length = zero.index_add_(0, row, values * values).sqrt().clamp_min_(TINY)
        return csr_tensor(crow, self.x.col_indices(), values / length[row], self.x.shape)

    @cached_property
    def features_t(self) -> Tensor:
        """X̃ᵀ (F, N): stored as CSR when sparse, since multiplying by a CSC tensor is slow."""
        if self.features.layout != torch.sparse_csr:
            return self.features.t()
        flipped = self.features.to_sparse_csc()
        return csr_tensor(
            flipped.ccol_indices(), flipped.row_indices(), flipped.values(), self.x.shape[::-1]
        )

    @cached_property
    def exact_features_t(self) -> Tensor:
        """X̃ᵀ in float64: what near ties and grids on sparse features are summed with."""
        return as_double(self.features_t)

    def project(self, rows: Tensor) -> Tensor:
        """X̃ rowsᵀ (N, C): every node's product with a few vectors of width F, (C, F)."""
        if self.features.layout == torch.sparse_csr:
            return self.features @ rows.t().contiguous()
        return self.features @ rows.t()

    def collect(self, mass: Tensor) -> Tensor:
        """massᵀ X̃ (C, F): features summed with one weight a node and column, (N, C)."""
        if self.features.layout == torch.sparse_csr:
            return (self.features_t @ mass).t()
        return summed(mass, self.features)

    @cached_property
    def adjacency(self) -> Adjacency:
        """A + I as CSR: what both operators are made from."""
        return adjacency(self.edge_index, self.num_nodes)

    @cached_property
    def reverse(self) -> Adjacency:
        """(A + I)ᵀ; the same object where the graph is symmetric."""
        return self.adjacency.reverse()

    @cached_property
    def operator(self) -> Tensor:
        """Â = D̃⁻¹(A + I), (N, N)."""
        return transition(self.adjacency)

    @cached_property
    def operator_t(self) -> Tensor:
        """Âᵀ, (N, N)."""
        return transition(self.reverse, of=self.adjacency)

    @cached_property
    def test_operator(self) -> Tensor:
        """The test rows of Â, (number of test nodes, N)."""
        return select_rows(self.operator, self.test_nodes)

    @cached_property
    def test_nodes(self) -> Tensor:
        return self.test.nonzero().squeeze(1)

    @cached_property
    def train_nodes(self) -> Tensor:
        return self.train.nonzero().squeeze(1)

    def replace(self, **changes: Any) -> "Graph":
        """A copy with some fields changed that keeps every derived tensor still true.

        Other labels never make the number of classes smaller.
        """
        new = dataclasses.replace(self, **changes)
        for name, needs in _MADE_FROM.items():
            if name in self.__dict__ and not needs & changes.keys():
                new.__dict__[name] = self.__dict__[name]
        return new

    def checked(self) -> "Graph":
        """Itself, or one sentence if its train mask leaves nothing to learn from."""
        if not bool(self.train.any()):
            raise DataDamaged(f"{self.name} has no training node; mark some in its train mask.")
        return self

    def warm(self) -> "Graph":
        """Build everything that depends on the dataset alone; returns itself."""
        for name in _MADE_FROM:
            getattr(self, name)
        return self

    def to(self, device: torch.device) -> "Graph":
        """The graph on another device."""
        if device == self.device:
            return self
        moved = {
            f.name: getattr(self, f.name).to(device)
            for f in dataclasses.fields(self)
            if isinstance(getattr(self, f.name), Tensor)
        }
        return dataclasses.replace(self, **moved)


def summed(mass: Tensor, rows: Tensor) -> Tensor:
    """massᵀ rows (C, F) for any number of dense rows (L, F) and their weights (L, C)."""
    whole = len(rows) // SUMMED * SUMMED
    rest = mass[whole:].t() @ rows[whole:]
    if whole == 0:
        return rest
    mass_blocks = mass[:whole].unflatten(0, (-1, SUMMED))
    blocks = mass_blocks.transpose(1, 2) @ rows[:whole].unflatten(0, (-1, SUMMED))
    return (blocks.sum(0, dtype=torch.float64) + rest).to(rest.dtype)


def csr_tensor(crow: Tensor, col: Tensor, values: Tensor, size: Any) -> Tensor:
    """A CSR tensor with 32-bit indices, which its products are faster with."""
    return torch.sparse_csr_tensor(
        crow.to(torch.int32), col.to(torch.int32), values, tuple(size), device=values.device
    )
