"""`make_graph`: a graph of your own, checked, with what was out of the ordinary put into words."""

from typing import Any

import torch
from torch import Tensor

from spear_core.errors import DataDamaged
from spear_core.graph import Graph, csr_tensor
from spear_core.wanted import still_wanted

DENSE_ABOVE = 0.5  # denser features are kept dense; below, CSR products were measured faster


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
    still_wanted()
    edges, repeated = _once(_edges(edge_index, y, name), len(y))
    still_wanted()
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
        x = csr_tensor(csr.crow_indices(), csr.col_indices(), csr.values(), x.shape)
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
    return csr_tensor(csr.crow_indices(), csr.col_indices(), csr.values(), x.shape)


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
