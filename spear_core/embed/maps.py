"""`Map`: the preview at once, and the UMAP from memory, from disk, fitted now or in the background.

A `pause` is called between pieces of work, so that whoever asked can go first or leave.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from spear_core.datasets.store import Progress
from spear_core.embed import fitting, keep
from spear_core.embed.jobs import Job, Jobs
from spear_core.embed.nodes import Pause, choose, cosines, no_pause, smoothed
from spear_core.errors import SpearError, StorageError
from spear_core.graph import Graph
from spear_core.memory.budget import Shelf

# A prototype is drawn hollow when its best cosine to any node is below what 95 % of the nodes
# themselves reach with their nearest: it then lies outside the cloud, though a barycentre never
# does. No fixed cosine would do: the usual one is 0.97 on digits, 0.4 on Cora, 0.07 on karate.
HOLLOW_SHARE = 0.05
FEWEST = 5  # nodes that can be fitted


@dataclass(frozen=True, eq=False)
class Map:
    """Background nodes in the plane, and what is needed to place other vectors among them."""

    nodes: Tensor  # (M): which nodes of the graph
    xy: Tensor  # (M, 2) float32
    kind: str  # "PCA preview" or "UMAP"
    rows: Tensor  # (M, d): their smoothed features Z as unit rows; d = F, or 256 random directions
    lengths: Tensor  # (M): of the rows of Z
    hollow_below: float  # a best cosine below this is unusually low, see HOLLOW_SHARE
    graph: Graph
    alpha: float
    steps: int
    key: str  # of everything the map depends on

    @property
    def fitted(self) -> bool:
        return self.kind == "UMAP"

    @property
    def final(self) -> bool:
        """Whether nothing better will come: the UMAP, or too few nodes for one."""
        return self.fitted or len(self.nodes) < FEWEST

    @property
    def radius(self) -> float:
        """Root mean square distance from the middle: divide by it to draw all maps in one frame."""
        return float(self.xy.square().sum(1).mean().sqrt()) or 1.0


_previews: Shelf[Map] = Shelf(most=8)
fitted_maps: Shelf[Map] = Shelf(most=8)
jobs = Jobs(rest=1.0, interrupt=fitting.stop)


def preview(graph: Graph, alpha: float, steps: int, pause: Pause = no_pause) -> Map:
    """The two leading principal components of the background, at once."""
    nodes = choose(graph)
    key = keep.map_key(graph, nodes, alpha, steps)
    made = _previews.peek(key)
    if made is None:
        z = smoothed(graph, nodes, alpha, steps, pause)
        rows = torch.nn.functional.normalize(z, dim=1, eps=1e-30)
        few = torch.arange(0, len(rows), max(1, len(rows) // 300), device=graph.device)
        usual = _usual(rows[few] @ rows.t(), few)
        xy, lengths = _principal(rows), z.norm(dim=1)
        made = Map(nodes, xy, "PCA preview", rows, lengths, usual, graph, alpha, steps, key)
        _previews.put(key, made)
    return made


def ready(graph: Graph, alpha: float, steps: int) -> Map | None:
    """The fitted map, if it is in memory, shipped or on disk."""
    key = keep.map_key(graph, choose(graph), alpha, steps)
    made = fitted_maps.peek(key)
    if made is None:
        for folder in keep.folders():
            found = keep.read(folder / keep.file_name(graph, key), len(choose(graph)))
            if found is not None:
                made = _finished(preview(graph, alpha, steps), *found)
                fitted_maps.put(key, made)
                break
    return made


def fit(
    graph: Graph,
    alpha: float,
    steps: int,
    progress: Progress | None = None,
    pause: Pause = no_pause,
) -> Map:
    """The UMAP of the background, from disk or fitted now and kept there.

    With fewer than five nodes there is nothing to fit and the preview comes back.
    """
    say = progress or (lambda sentence, fraction: None)
    say("Smoothing the features", 0.0)
    first = preview(graph, alpha, steps, pause)
    made = ready(graph, alpha, steps)
    if made is None and not first.final:
        made = fitted(first, say, pause)
        fitted_maps.put(first.key, made)
        try:
            path = keep.folders()[1] / keep.file_name(graph, first.key)
            keep.write(path, made.xy, made.lengths, made.hollow_below)
        except StorageError:
            pass  # a map that cannot be kept is still a map
    say("The map is ready", 1.0)
    return made or first


def background_fit(
    graph: Graph, alpha: float, steps: int, pause: Pause = no_pause, by: Hashable = None
) -> Job[str]:
    """The job that fits this map and gives its key, whoever asks; call this again to poll.

    One map is fitted at a time, the one asked for last first. `jobs.leave(by)` says that whoever
    asked waits no more.
    """

    def work(job: Job[str]) -> str:
        def between() -> None:
            job.pause()
            if job.askers <= {by}:  # another who waits for it is not held up
                pause()

        try:
            return fit(graph, alpha, steps, job.say, between).key
        except SpearError:
            raise
        except Exception as error:  # whatever umap or numba raise
            words = f"The map could not be fitted ({error}); the PCA preview stays."
            raise SpearError(words) from error

    key = keep.map_key(graph, choose(graph), alpha, steps)
    job = jobs.ask(key, work, "Waiting to fit the UMAP", by)
    if job.value and ready(graph, alpha, steps) is None:  # memory let it go, the disk is full
        jobs.forget(key)
        job = jobs.ask(key, work, "Waiting to fit the UMAP", by)
    return job


def fitted(first: Map, say: Progress, pause: Pause = no_pause) -> Map:
    """The UMAP of a preview, made anew."""
    say("Finding every node's neighbours", 0.1)
    rows = first.rows * first.lengths[:, None]
    near, lengths = cosines(first.graph, first.nodes, rows, first.alpha, first.steps, pause)
    usual = _usual(near, torch.arange(len(near), device=near.device))
    xy = fitting.layout(near, first.xy, say)
    return _finished(first, xy, lengths.cpu().numpy(), usual)


def _finished(first: Map, xy: np.ndarray, lengths: np.ndarray, usual: float) -> Map:
    places, long = (
        torch.as_tensor(a, dtype=torch.float32, device=first.xy.device) for a in (xy, lengths)
    )
    return replace(first, xy=places, lengths=long, hollow_below=usual, kind="UMAP")


def _principal(rows: Tensor) -> Tensor:
    """The two leading principal components, (M, 2), each with its largest loading positive."""
    centred = rows - rows.mean(0)
    loading = torch.linalg.eigh(centred.t() @ centred).eigenvectors[:, -2:].flip(1)  # (d, 2)
    peak = loading.gather(0, loading.abs().argmax(0, keepdim=True))
    xy = centred @ (loading * peak.sign())
    return torch.nn.functional.pad(xy, (0, 2 - xy.shape[1]))  # a single feature has one component


def _usual(near: Tensor, itself: Tensor) -> float:
    """The nearest-neighbour cosine that 95 % of some nodes reach; `near` is (some, M)."""
    others = near.scatter(1, itself[:, None], -1.0)
    return float(others.max(1).values.quantile(HOLLOW_SHARE))
