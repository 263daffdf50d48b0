"""`Graph`: features, edges, labels and masks, with what is derived from them kept beside them.

Everything here is a tensor on one device. What is derived is made on first use and shared with
copies for which it still holds, so that a second run on the same dataset builds nothing.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from spear_core.errors import DataDamaged
from spear_core.memory.kept import Kept, made_from
from spear_core.propagate import Adjacency, adjacency, as_double, select_rows, transition

TINY = 1e-38  # keeps a division by zero away
SUMMED = 4096  # nodes summed in float32 at a time; a long sum of small numbers loses digits


@dataclass(frozen=True, eq=False)
class Extra:
    """What a graph of one's own brings along: who owns a node, and names as lines of plain text."""

    owner: Tensor | None = None  # (N)
    owners: tuple[str, ...] = ()  # by number
    ids: Any = None  # bytes, a line a node
    words: Any = None  # bytes, a line a feature
    text: bool = False  # whether the features are terms of a text
    unlabelled: bool = False  # whether the last class stands for nodes without a label

    def lines(self, which: str) -> list[str]:
        """The ids of the nodes, or the words of the features; none where they are not known."""
        found = getattr(self, which)
        return [] if found is None else found.tobytes().decode("utf-8", "replace").split("\n")


NOTHING = Extra()


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
    extra: Extra = NOTHING  # of a graph of one's own
    kept: Kept = field(
        default_factory=Kept, init=False, repr=False
    )  # what is derived from the others

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
    def names(self) -> tuple[str, ...]:
        """A name for every class: its own, or its number."""
        return self.class_names or tuple(str(c) for c in range(self.classes))

    @property
    def known(self) -> Tensor:
        """The nodes that have a label, (N)."""
        return self.y < self.classes - 1 if self.extra.unlabelled else torch.ones_like(self.train)

    @property
    def device(self) -> torch.device:
        return self.y.device

    @made_from("x")
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

    @made_from("x")
    def features_t(self) -> Tensor:
        """X̃ᵀ (F, N): stored as CSR when sparse, since multiplying by a CSC tensor is slow."""
        if self.features.layout != torch.sparse_csr:
            return self.features.t()
        flipped = self.features.to_sparse_csc()
        return csr_tensor(
            flipped.ccol_indices(), flipped.row_indices(), flipped.values(), self.x.shape[::-1]
        )

    @made_from("x")
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

    @made_from("edge_index", "nodes")
    def adjacency(self) -> Adjacency:
        """A + I as CSR: what both operators are made from."""
        return adjacency(self.edge_index, self.num_nodes)

    @made_from("edge_index", "nodes")
    def reverse(self) -> Adjacency:
        """(A + I)ᵀ; the same object where the graph is symmetric."""
        return self.adjacency.reverse()

    @made_from("edge_index", "nodes")
    def operator(self) -> Tensor:
        """Â = D̃⁻¹(A + I), (N, N)."""
        return transition(self.adjacency)

    @made_from("edge_index", "nodes")
    def operator_t(self) -> Tensor:
        """Âᵀ, (N, N)."""
        return transition(self.reverse, of=self.adjacency)

    @made_from("edge_index", "nodes", "test")
    def test_operator(self) -> Tensor:
        """The test rows of Â, (number of test nodes, N)."""
        return select_rows(self.operator, self.test_nodes)

    @made_from("test")
    def test_nodes(self) -> Tensor:
        """The nodes of the test mask, ascending."""
        return self.test.nonzero().squeeze(1)

    @made_from("train")
    def train_nodes(self) -> Tensor:
        """The nodes of the train mask, ascending."""
        return self.train.nonzero().squeeze(1)

    def replace(self, **changes: Any) -> "Graph":
        """A copy with some fields changed that shares everything derived which still holds.

        Other labels never make the number of classes smaller.
        """
        changed = set(changes)
        if "x" in changes and len(changes["x"]) != self.num_nodes:
            changed.add("nodes")
        new = dataclasses.replace(self, **changes)
        new.kept.share(self.kept, frozenset(changed))
        return new

    def differs(self, other: "Graph") -> frozenset[str]:
        """The fields in which another graph is not the very same, `nodes` if their number is."""
        names = {f.name for f in dataclasses.fields(self)} - {"kept"}
        changed = {n for n in names if getattr(self, n) is not getattr(other, n)}
        return frozenset(changed | ({"nodes"} if self.num_nodes != other.num_nodes else set()))

    def checked(self) -> "Graph":
        """Itself, or one sentence if its train mask leaves nothing to learn from."""
        if not bool(self.train.any()):
            raise DataDamaged(f"{self.name} has no training node; mark some in its train mask.")
        return self

    def warm(self) -> "Graph":
        """Itself, with what every run on it needs built."""
        sparse = self.features.layout == torch.sparse_csr
        names = ("features_t", "operator", "operator_t", "test_operator", "train_nodes")
        for name in (*names, "exact_features_t") if sparse else names:
            getattr(self, name)
        return self

    def to(self, device: torch.device) -> "Graph":
        """The graph on another device."""
        if device == self.device:
            return self
        moved: dict[str, Any] = {
            f.name: getattr(self, f.name).to(device)
            for f in dataclasses.fields(self)
            if isinstance(getattr(self, f.name), Tensor)
        }
        if self.extra.owner is not None:
            moved["extra"] = dataclasses.replace(self.extra, owner=self.extra.owner.to(device))
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
