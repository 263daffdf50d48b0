"""Maps: the preview, and the UMAP that is kept on disk or shipped."""

import numpy as np
import pytest
import torch

from spear_core import Settings, defaults, embed, load, make_graph
from spear_core.datasets import store
from spear_core.embed import __main__ as command
from spear_core.embed import keep, maps
from tests.embed.conftest import pretend


def forbidden(first, say, pause):
    raise AssertionError("the map was fitted again")


def test_preview_is_pca_with_a_fixed_sign():
    from sklearn.decomposition import PCA

    graph = load(Settings())
    made = embed.preview(graph, 0.15, 2)
    assert made.kind == "PCA preview"
    theirs = PCA(2, svd_solver="full").fit_transform(made.rows.numpy())
    for mine, other in zip(made.xy.numpy().T, theirs.T, strict=True):
        assert min(np.abs(mine - other).max(), np.abs(mine + other).max()) < 1e-4
    maps._previews.clear()
    assert torch.equal(embed.preview(graph, 0.15, 2).xy, made.xy)


def test_one_feature_is_enough_for_a_preview():
    y = torch.tensor([0, 0, 1, 1])
    edges = torch.zeros(2, 0, dtype=torch.long)
    graph = make_graph(torch.tensor([[1.0], [2], [-1], [-2]]), edges, y, y >= 0)
    made = embed.fit(graph, 0.15, 2)  # four nodes: nothing to fit
    assert made.kind == "PCA preview"
    assert made.xy.shape == (4, 2)
    assert torch.isfinite(made.xy).all()


def test_a_kept_map_is_read_and_a_damaged_one_made_anew(monkeypatch):
    graph = load(Settings())
    monkeypatch.setattr(maps, "fitted", pretend)
    said = []
    made = embed.fit(graph, 0.4, 2, lambda sentence, fraction: said.append(fraction))
    assert made.kind == "UMAP"
    assert said == sorted(said)
    assert said[-1] == 1.0
    (file,) = (store.cache_folder() / "maps").iterdir()
    maps.fitted_maps.clear()
    monkeypatch.setattr(maps, "fitted", forbidden)
    assert torch.equal(embed.fit(graph, 0.4, 2).xy, made.xy)
    assert embed.ready(graph, 0.45, 2) is None
    monkeypatch.setattr(maps, "fitted", pretend)
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"not a map"):
        maps.fitted_maps.clear()
        file.write_bytes(damaged)
        assert embed.ready(graph, 0.4, 2) is None
        assert torch.equal(embed.fit(graph, 0.4, 2).xy, made.xy)
        assert file.read_bytes() == whole


def test_a_cache_that_cannot_be_written_still_gives_a_map(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(maps, "fitted", pretend)
    assert embed.fit(load(Settings()), 0.4, 2).kind == "UMAP"


@pytest.mark.parametrize("name", ["digits", "karate", "synthetic"])
def test_built_in_graphs_ship_their_map(name):
    s = defaults(name)
    graph = load(s)
    made = embed.ready(graph, s.alpha, s.steps)
    assert made is not None, "run make maps"
    assert made.kind == "UMAP"
    assert len(made.xy) == graph.num_nodes
    near = torch.cdist(made.xy, made.xy).fill_diagonal_(torch.inf).topk(5, largest=False).indices
    assert (graph.y[near] == graph.y[:, None]).float().mean() > 1.4 / graph.classes
    assert embed.ready(graph, s.alpha + 0.05, s.steps) is None
    assert embed.ready(graph.replace(edge_index=graph.edge_index[:, 2:]), s.alpha, s.steps) is None


def test_the_command_writes_into_the_cache_and_leaves_the_shipped_maps_alone(tmp_path, monkeypatch):
    def contents(folder):
        return {path.name: path.read_bytes() for path in folder.glob("*.npz")}

    monkeypatch.setattr(command, "fitted", lambda first, say: pretend(first, say, None))
    shipped, asked = contents(keep.SHIPPED), tmp_path / "asked"
    command.main([])
    command.main(["--out", str(asked)])
    assert contents(keep.SHIPPED) == shipped
    assert set(contents(asked)) == set(shipped)
    assert contents(asked) == contents(keep.folders()[1])
