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
DENSE_ABOVE = 0.5  # denser features are kept dense; below, CSR products were measured faster

_ALSO_NEEDS = {  # derived attribute -> the fields it is made from
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

    @property
    def num_nodes(self) -> int:
        return self.x.shape[0]

    @property
    def num_features(self) -> int:
        return self.x.shape[1]

    @property
    def num_edges(self) -> int:
        return self.edge_index.shape[1]

    @cached_property
    def classes(self) -> int:
        """Number of classes C: the largest label plus one, or the number of class names."""
        return max(int(self.y.max()) + 1, len(self.class_names))

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
        return _csr(crow, self.x.col_indices(), values / length[row], self.x.shape)

    @cached_property
    def features_t(self) -> Tensor:
        """X̃ᵀ (F, N): stored as CSR when sparse, since multiplying by a CSC tensor is slow."""
        if self.features.layout != torch.sparse_csr:
            return self.features.t()
        flipped = self.features.to_sparse_csc()
        return _csr(
            flipped.ccol_indices(), flipped.row_indices(), flipped.values(), self.x.shape[::-1]
        )

    @cached_property
    def exact_features_t(self) -> Tensor:
        """The same in float64: what near ties and grids on sparse features are summed with."""
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
        """A copy with some fields changed that keeps every derived tensor still true."""
        new = dataclasses.replace(self, **changes)
        for name, needs in _ALSO_NEEDS.items():
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
        for name in _ALSO_NEEDS:
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


def make_graph(
    x: Any,
    edge_index: Any,
    y: Any,
    train: Any,
    val: Any = None,
    test: Any = None,
    name: str = "graph",
    class_names: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Graph:
    """A checked graph from tensors or arrays: refuses in one sentence, notes what was put right.

    `val` and `test` may be missing: `test` is then all that is neither train nor val. Repeated
    edges count once, an existing self-loop weighs 2 in A + I, sparse features become CSR.
    """
    y = _labels(y, name)
    x = _features(x, y, name)
    edges, repeated = _once(_edges(edge_index, y, name), len(y))
    train = _mask("train", train, y, name)
    val = torch.zeros_like(train) if val is None else _mask("val", val, y, name)
    test = ~(train | val) if test is None else _mask("test", test, y, name)
    graph = Graph(x, edges, y, train, val, test, name, class_names, notes).checked()
    if class_names and len(class_names) < graph.classes:
        raise DataDamaged(
            f"{name} has {graph.classes} classes and {len(class_names)} class names; name them all."
        )
    return graph.replace(notes=notes + tuple(_oddities(graph, repeated)))


def _tensor(value: Any, what: str, name: str) -> Tensor:
    try:
        return value if isinstance(value, Tensor) else torch.as_tensor(value, device="cpu")
    except (TypeError, ValueError, RuntimeError):
        raise DataDamaged(f"{name} has no usable {what}; give a tensor or an array.") from None


def _labels(y: Any, name: str) -> Tensor:
    y = _tensor(y, "labels", name)
    if y.dim() != 1 or y.is_floating_point() or len(y) == 0:
        raise DataDamaged(f"{name} has no labels; give one whole number a node.")
    if bool((y < 0).any()):
        missing = int((y < 0).sum())
        raise DataDamaged(f"{name}: {missing} nodes have no label; drop them or label them.")
    return y.long()


def _features(x: Any, y: Tensor, name: str) -> Tensor:
    x = _tensor(x, "features", name)
    if x.dim() != 2 or x.shape[0] != len(y) or x.shape[1] == 0:
        raise DataDamaged(
            f"{name} has features of shape {tuple(x.shape)} for {len(y)} labels; "
            "give one row of features a node."
        )
    x = x.to(torch.float32)
    if x.layout == torch.strided:
        x = _lean(x)
    else:
        csr = x if x.layout == torch.sparse_csr else x.to_sparse_coo().coalesce().to_sparse_csr()
        x = _csr(csr.crow_indices(), csr.col_indices(), csr.values(), x.shape)
    if not bool(torch.isfinite(x.values() if x.layout == torch.sparse_csr else x).all()):
        raise DataDamaged(
            f"{name} has NaN or infinite features; replace them, for example by 0, and try again."
        )
    return x


def _edges(edge_index: Any, y: Tensor, name: str) -> Tensor:
    edges = _tensor(edge_index, "edges", name)
    if edges.dim() != 2 or edges.shape[0] != 2 or edges.is_floating_point():
        raise DataDamaged(
            f"{name} has edges of shape {tuple(edges.shape)}; give whole numbers of shape (2, E)."
        )
    if edges.numel() and (int(edges.max()) >= len(y) or int(edges.min()) < 0):
        raise DataDamaged(
            f"{name} has edges that name nodes outside 0 to {len(y) - 1}; get the files again."
        )
    return edges


def _mask(which: str, mask: Any, y: Tensor, name: str) -> Tensor:
    mask = _tensor(mask, f"{which} mask", name)
    if mask.shape != y.shape:
        raise DataDamaged(
            f"{name}: the {which} mask has {tuple(mask.shape)} entries for {len(y)} nodes; "
            "give true or false for every node."
        )
    return mask.bool()


def _once(edge_index: Tensor, n: int) -> tuple[Tensor, int]:
    """Edges sorted by row with repeats dropped, and how many repeats there were."""
    key = edge_index[0].long() * n + edge_index[1].long()
    if bool((key[1:] > key[:-1]).all()):  # sorted and without repeats already
        return edge_index.long(), 0
    unique = torch.unique(key)
    return torch.stack([unique // n, unique % n]), len(key) - len(unique)


def _lean(x: Tensor) -> Tensor:
    """CSR with 32-bit indices when sparse enough, dense otherwise."""
    filled = int(torch.count_nonzero(x))
    if filled > DENSE_ABOVE * x.numel():
        return x.contiguous()
    csr = x.to_sparse_csr()
    return _csr(csr.crow_indices(), csr.col_indices(), csr.values(), x.shape)


def _csr(crow: Tensor, col: Tensor, values: Tensor, size: Any) -> Tensor:
    return torch.sparse_csr_tensor(
        crow.to(torch.int32), col.to(torch.int32), values, tuple(size), device=values.device
    )


def _oddities(graph: Graph, repeated: int) -> list[str]:
    """One sentence for everything unusual in the graph that was handled."""
    notes = []
    loops = int((graph.edge_index[0] == graph.edge_index[1]).sum())
    touched = torch.zeros(graph.num_nodes, dtype=torch.bool, device=graph.device)
    ends = graph.edge_index[:, graph.edge_index[0] != graph.edge_index[1]]
    touched[ends[0]] = True
    touched[ends[1]] = True
    alone = int((~touched).sum())
    if graph.x.layout == torch.sparse_csr:
        empty = int((graph.x.crow_indices().diff() == 0).sum())
    else:
        empty = int((graph.x == 0).all(dim=1).sum())
    if repeated:
        notes.append(f"{_count(repeated, 'repeated edge')} counted once.")
    if loops:
        notes.append(f"{_count(loops, 'self-loop')} kept: A + I gives such a node weight 2.")
    if alone:
        notes.append(f"{_count(alone, 'node')} without a neighbour: smoothing leaves them as is.")
    if empty:
        notes.append(
            f"{_count(empty, 'node')} without any feature: only their neighbours speak for them."
        )
    return notes


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
