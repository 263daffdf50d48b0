"""Maps: what they depend on, where things are placed, what is kept, and the figure of them."""

import dataclasses
import os
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from spear_core import Settings, defaults, embed, load, make_graph, run
from spear_core.datasets import store
from spear_core.embed import Map, background, fitting, jobs, keep, maps, placing
from spear_core.figures.map import alt_text, distances, map_figure
from spear_core.figures.palette import class_colours
from tests.conftest import random_graph

WIDE = Settings(dataset="synthetic", nodes=150, features=600, classes=3, strength=2.0, clients=4)


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch, tmp_path_factory):
    """Every test starts without maps in memory; those on disk are its own."""
    maps._previews.clear()
    maps.fitted_maps.clear()
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path_factory.mktemp("maps")))


@pytest.fixture(scope="module")
def fitted() -> Map:
    """A real UMAP of a small graph with wide features; its first fit compiles for some seconds."""
    graph = load(WIDE)
    return maps.fitted(embed.preview(graph, 0.15, 2), lambda sentence, fraction: None)


def explicit(graph, alpha, steps):
    """Z by the formula, dense."""
    x = graph.features.to_dense() if graph.features.is_sparse_csr else graph.features
    z = x
    for _ in range(steps):
        z = (1 - alpha) * x + alpha * (graph.operator.to_dense() @ z)
    return z


def pretend(first, say):
    """Stands for the slow fit where it does not matter."""
    return maps._finished(first, first.xy.numpy() + 1, first.lengths.numpy(), first.hollow_below)


def forbidden(first, say):
    raise AssertionError("the map was fitted again")


# -- which nodes, which key


def test_a_small_graph_shows_every_node():
    assert torch.equal(embed.choose(load(Settings())), torch.arange(1797))


def test_a_large_graph_shows_every_class_in_proportion():
    y = torch.tensor([0] * 9000 + [1] * 2998 + [2] * 2)
    x, train = torch.rand(12000, 3), torch.ones(12000, dtype=torch.bool)
    nodes = embed.choose(make_graph(x, torch.zeros(2, 0, dtype=torch.long), y, train))
    assert len(nodes) <= embed.MOST
    assert torch.bincount(y[nodes]).tolist() == [2247, 748, 1]
    assert torch.equal(nodes, nodes.unique())
    again = embed.choose(make_graph(x, torch.zeros(2, 0, dtype=torch.long), y.clone(), train))
    assert torch.equal(nodes, again)


def test_the_map_depends_on_features_edges_alpha_and_steps_alone():
    graph = load(Settings())
    key = embed.preview(graph, 0.15, 2).key
    relabelled = graph.replace(y=graph.y.flip(0), train=graph.test, test=graph.train)
    assert embed.preview(relabelled, 0.15, 2).key == key
    assert embed.preview(load(Settings(seed=7)), 0.15, 2).key == key
    one_pixel = graph.x.clone()
    one_pixel[5, 20] += 8
    others = (
        embed.preview(graph, 0.2, 2),
        embed.preview(graph, 0.15, 3),
        embed.preview(graph.replace(x=one_pixel), 0.15, 2),
        embed.preview(graph.replace(edge_index=graph.edge_index[:, :-1]), 0.15, 2),
    )
    assert len({key, *(m.key for m in others)}) == 5
    assert embed.preview(graph, 0.0, 2).key == embed.preview(graph, 0.5, 0).key


def test_the_last_bit_of_a_feature_does_not_change_the_key():
    graph = load(Settings(dataset="synthetic"))
    rounded = graph.x * (1 + 6e-8 * torch.randn(graph.x.shape, generator=background.generator()))
    assert not torch.equal(rounded, graph.x)
    assert keep.digest(rounded) == keep.digest(graph.x)


# -- the preview


@pytest.mark.parametrize("steps", [0, 2])
def test_background_rows_are_the_smoothed_features(steps):
    graph = load(Settings())
    made = embed.preview(graph, 0.3, steps)
    z = torch.nn.functional.normalize(explicit(graph, 0.3, steps), dim=1)
    torch.testing.assert_close(made.rows, z, atol=1e-5, rtol=0)


@pytest.mark.parametrize("nodes", [[0, 5, 9], range(40)])
def test_any_alpha_is_mixed_from_the_same_powers(nodes):
    graph = random_graph(3)
    for alpha, steps in ((0.3, 2), (0.9, 6), (0.15, 20), (0.0, 3), (0.5, 1), (0.7, 0), (0.9, 4)):
        z = explicit(graph, alpha, steps)[list(nodes)]
        rows = background.smoothed(graph, torch.tensor(nodes), alpha, steps)
        torch.testing.assert_close(rows, z, atol=1e-6, rtol=0)


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


# -- the fit, and what is kept


@pytest.mark.slow
def test_fitted_map_of_wide_features_is_exact(fitted):
    z = explicit(fitted.graph, 0.15, 2)
    torch.testing.assert_close(fitted.lengths, z.norm(dim=1), atol=1e-4, rtol=0)
    unit = torch.nn.functional.normalize(z, dim=1)
    torch.testing.assert_close(
        placing._cosines(fitted, z[:7]), unit[:7] @ unit.t(), atol=1e-4, rtol=0
    )
    nearest = (unit @ unit.t()).fill_diagonal_(-1).max(1).values.quantile(maps.HOLLOW_SHARE)
    assert fitted.hollow_below == pytest.approx(float(nearest), abs=1e-4)


@pytest.mark.slow
def test_umap_keeps_neighbours_and_is_repeatable(fitted):
    same = fitted.graph.y[:, None] == fitted.graph.y
    near = torch.cdist(fitted.xy, fitted.xy).fill_diagonal_(torch.inf)
    alike = same.gather(1, near.topk(5, largest=False).indices).float().mean()
    assert alike > 0.9  # three clear classes; a third at random
    again = maps.fitted(embed.preview(fitted.graph, 0.15, 2), lambda sentence, fraction: None)
    assert torch.equal(again.xy, fitted.xy)


@pytest.mark.slow
def test_curve_is_that_of_umap():
    from umap.umap_ import find_ab_params

    assert find_ab_params(1.0, fitting.MIN_DIST) == pytest.approx((fitting.A, fitting.B), rel=1e-4)


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
    assert made is not None, "run python -m spear_core.embed"
    assert made.kind == "UMAP"
    assert len(made.xy) == graph.num_nodes
    near = torch.cdist(made.xy, made.xy).fill_diagonal_(torch.inf).topk(5, largest=False).indices
    assert (graph.y[near] == graph.y[:, None]).float().mean() > 1.4 / graph.classes
    assert embed.ready(graph, s.alpha + 0.05, s.steps) is None
    assert embed.ready(graph.replace(edge_index=graph.edge_index[:, 2:]), s.alpha, s.steps) is None


def test_sessions_share_one_background_job(monkeypatch):
    started = []

    def slow(first, say):
        started.append(first.key)
        say("half way", 0.5)
        time.sleep(0.2)
        return pretend(first, say)

    monkeypatch.setattr(maps, "fitted", slow)
    jobs._jobs.clear()
    graph = load(Settings())
    job = embed.background_fit(graph, 0.6, 2)
    assert embed.background_fit(load(Settings(seed=3)), 0.6, 2) is job
    _wait(job)
    assert (job.map.kind, job.fraction, job.error) == ("UMAP", 1.0, None)
    assert started == [job.map.key]
    assert embed.background_fit(graph, 0.6, 2) is job


def test_a_failed_job_says_so_in_a_sentence(monkeypatch):
    def broken(first, say):
        raise RuntimeError("numba is out of sorts")

    monkeypatch.setattr(maps, "fitted", broken)
    jobs._jobs.clear()
    job = embed.background_fit(load(Settings()), 0.65, 2)
    _wait(job)
    assert job.map is None
    assert "numba is out of sorts" in job.error


def test_a_moving_slider_starts_one_fit_alone(monkeypatch):
    started = []
    monkeypatch.setattr(
        maps, "fitted", lambda first, say: started.append(first.alpha) or slow(first)
    )
    monkeypatch.setattr(jobs, "REST", 0.3)
    monkeypatch.setattr(jobs, "FORGET", 0.4)

    def slow(first):
        time.sleep(0.5)  # meanwhile nobody asks for the others
        return pretend(first, None)

    jobs._jobs.clear()
    moved = [jobs.background_fit(load(Settings()), alpha, 2) for alpha in (0.71, 0.72, 0.73)]
    _wait(moved[-1])
    for _ in range(100):
        if jobs._worker is None:
            break
        time.sleep(0.05)
    assert started == [0.73]
    assert not moved[0].done


@pytest.mark.slow
def test_what_umap_raises_is_told_and_the_next_fit_is_made():
    near = torch.eye(8)
    with pytest.raises(RuntimeError, match="min_dist"):
        fitting._ask({"index": np.zeros((8, 3)), "far": np.zeros((8, 3)), "start": np.zeros(8)})
    assert fitting.layout(near, torch.rand(8, 2), lambda sentence, fraction: None).shape == (8, 2)
    fitting.stop()  # as if it had crashed
    assert fitting.layout(near, torch.rand(8, 2), lambda sentence, fraction: None).shape == (8, 2)


ENDING = """
import time
from spear_core import Settings, embed, load
from spear_core.embed import fitting, jobs

jobs.REST = 0
job = embed.background_fit(load(Settings()), 0.37, 2)
while fitting._child is None:
    time.sleep(0.05)
time.sleep(1)
assert not job.done
print(fitting._child.pid)
"""


@pytest.mark.slow
def test_the_program_ends_cleanly_while_a_map_is_fitted():
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def _wait(job):
    for _ in range(200):
        if job.done:
            return
        time.sleep(0.05)
    raise AssertionError("the job never ended")


# -- where things are placed


def two_groups() -> Map:
    """20 nodes to the right at x = 10, 20 upwards at x = -10, a little spread."""
    angle = torch.cat([torch.linspace(0, 0.1, 20), torch.linspace(1.47, 1.57, 20)])
    x = torch.stack([angle.cos(), angle.sin()], dim=1)
    y = torch.arange(40) // 20
    graph = make_graph(x, torch.zeros(2, 0, dtype=torch.long), y, y >= 0)
    xy = torch.stack([torch.where(y == 0, 10.0, -10.0), torch.linspace(0, 1, 40)], dim=1)
    return dataclasses.replace(embed.preview(graph, 0.0, 0), xy=xy, kind="UMAP")


def test_a_vector_is_placed_among_the_nodes_like_it():
    made = two_groups()
    xy, cosine = embed.place(made, torch.tensor([[3.0, 0.1], [0.0, 5.0]]))
    assert xy[:, 0].tolist() == pytest.approx([10, -10])
    assert cosine.tolist() == pytest.approx([1, 1], abs=1e-4)
    _, cosine = embed.place(made, torch.tensor([[-1.0, -1.0]]))
    assert cosine.item() < made.hollow_below


def test_refining_leaves_the_empty_middle_and_a_preview_as_it_is():
    made = two_groups()
    between = torch.tensor([[1.0, 1.02]])  # a little more upwards: neighbours of both groups
    made = dataclasses.replace(made, xy=torch.cat([made.xy[:20], made.xy[20:] * 0.2]))
    near = placing._nearest(made, between)[0][0]
    assert 0 < int((near < 20).sum()) < 15
    at_first, _ = embed.place(made, between)
    refined, _ = embed.refine(made, between)

    def closest(xy):
        return torch.cdist(xy, made.xy).min()

    assert closest(refined) < closest(at_first)
    first = dataclasses.replace(made, kind="PCA preview")
    assert torch.equal(embed.refine(first, between)[0], at_first)


def test_global_prototypes_lie_in_their_class_and_a_strange_one_is_hollow():
    result = run(Settings(beta=10.0))
    made = embed.ready(result.graph, 0.15, 2)
    xy, cosine = embed.refine(made, result.estimate.prototypes)
    near = torch.cdist(xy, made.xy).topk(15, largest=False).indices
    assert (result.graph.y[near].mode(1).values == torch.arange(10)).all()
    assert (cosine > made.hollow_below).all()
    _, strange = embed.place(made, torch.eye(64)[:3])
    assert (strange < made.hollow_below).all()


# -- the figure and the words


@pytest.fixture
def shown():
    result = run(Settings())
    return embed.ready(result.graph, 0.15, 2), result


def traces(figure, name):
    return [t for t in figure.data if t.name == name]


def test_the_figure_carries_every_prototype(shown):
    made, result = shown
    figure = map_figure(made, result)
    (local,), (glob,) = traces(figure, "local"), traces(figure, "global")
    up = result.uploads
    pairs = list(zip(up.client.tolist(), up.label.tolist(), strict=True))
    assert [(d["client"], d["label"]) for d in local.customdata] == pairs
    assert f"n = {up.counts[0]}" in local.hovertext[0]
    big, small = up.counts.argmax(), up.counts.argmin()
    assert local.marker.size[big] > local.marker.size[small]
    assert len(glob.x) == 10
    assert sum(len(t.x) for t in figure.data if t.type == "scattergl") == 1797
    assert "UMAP" in figure.layout.annotations[0].text
    assert "PCA preview" in (
        map_figure(embed.preview(result.graph, 0.15, 2), result).layout.annotations[0].text
    )
    assert not traces(map_figure(made, result, show="global"), "local")
    assert not traces(map_figure(made, result, show="local"), "global")


@pytest.mark.slow
@pytest.mark.parametrize("colour", ["class", "client", "right or wrong"])
@pytest.mark.parametrize("classes", [3, 12, 40])
def test_the_legend_is_short(colour, classes):
    result = run(Settings(dataset="synthetic", nodes=400, classes=classes, clients=30))
    figure = map_figure(embed.preview(result.graph, 0.15, 2), result, colour=colour)
    assert len([t for t in figure.data if t.showlegend is not False]) <= 12


def test_right_or_wrong_counts_the_wrong_nodes(shown):
    made, result = shown
    figure = map_figure(made, result, colour="right or wrong")
    (wrong,) = traces(figure, "wrong")
    labels = result.every_prediction.labels
    assert len(wrong.x) == int((labels != result.graph.y).sum())


def test_a_strange_prototype_is_hollow_with_its_cosine(shown):
    made, result = shown
    strict = dataclasses.replace(made, hollow_below=2.0, key="strict")
    (local,) = traces(map_figure(strict, result), "local")
    assert set(local.marker.symbol) == {"diamond-open"}
    assert "unusually low" in local.hovertext[0]
    assert "drawn hollow" in alt_text(strict, result)
    assert "drawn hollow" not in alt_text(made, result)


def test_trails_join_what_is_in_both_results(shown):
    made, result = shown
    earlier = run(Settings(alpha=0.6))  # the same split, so the same pairs
    (trail,) = traces(map_figure(made, result, before=earlier), "trail")
    expected = set()
    for name in ("local", "global"):
        (was,) = traces(map_figure(made, earlier), name)
        (now,) = traces(map_figure(made, result), name)
        for a, b, c, d in zip(was.x, was.y, now.x, now.y, strict=True):
            if max(abs(a - c), abs(b - d)) > 1e-3:  # else there is nothing to see
                expected.add((float(a), float(b), float(c), float(d)))
    ends = (trail.x[0::3], trail.y[0::3], trail.x[1::3], trail.y[1::3])
    assert len(expected) > 15
    assert set(zip(*ends, strict=True)) == expected
    other = run(Settings(dataset="karate", clients=3))
    assert not traces(map_figure(made, result, before=other), "trail")


def test_the_chosen_prototype_has_a_ring_and_a_line_to_its_peers(shown):
    made, result = shown
    up = result.uploads
    held = torch.bincount(up.label, minlength=10)
    shared = int((held[up.label] > 1).nonzero()[0])
    pair = (int(up.client[shared]), int(up.label[shared]))
    figure = map_figure(made, result, chosen=pair)
    (ring,), (line,), (local,) = (traces(figure, n) for n in ("chosen", "peers", "local"))
    assert (ring.x[0], ring.y[0]) == (local.x[shared], local.y[shared])
    xy, _ = embed.refine(made, result.estimate.peers[shared : shared + 1])
    assert [line.x[1], line.y[1]] == pytest.approx((xy[0] / made.radius).tolist(), abs=1e-5)
    absent = map_figure(made, result, chosen=(99, 0))
    assert not traces(absent, "chosen")


def test_distances_are_those_of_the_metrics(shown):
    _, result = shown
    table, metrics = distances(result), result.metrics
    assert list(table["class"]) == [str(c) for c in range(10)]
    means = [table[name].mean() for name in ("local", "mean", "global")]
    expected = [metrics.error_local, metrics.error_mean, metrics.error_spear]
    assert means == pytest.approx(expected, abs=1e-6)


def test_alt_text_says_the_numbers(shown):
    made, result = shown
    words = alt_text(made, result)
    assert words.startswith("UMAP of 1,797 nodes of digits in 10 classes")
    assert f"{len(result.uploads.client)} local prototypes of 10 clients" in words
    assert f"{result.metrics.error_spear:.3f}" in words


def test_colours_differ():
    assert len(set(class_colours(40))) == 40
    assert class_colours(8) == class_colours(40)[:8]
    assert len(class_colours(100)) == 100
