"""The shapes of input that people have: each is read, kept, run, and says what it is."""

import io
import zipfile

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from spear_core import PAPER_SEEDS, Settings, SpearError, load, run
from spear_core.datasets import CATALOGUE, mine, store
from spear_core.datasets.store import save_whole
from spear_core.own import Choices, Given, Sources, given_file, keep, read_graph
from spear_core.settings import defaults
from tests.conftest import need
from tests.own import tables

EDGES = b"source,target,weight\nana,bob,2\nbob,cid,1\ncid,ana,4\ncid,dia,1\ndia,eve,1\neve,fay,3\n"
NODES = (
    b"id,label,split,f0,f1\nana,red,train,1,0\nbob,red,train,1,0.5\ncid,red,test,0.5,0\n"
    b"dia,blue,train,0,1\neve,blue,train,0,2\nfay,blue,test,0.2,1\n"
)
TEXTS = (
    "id,label,text\n1,sea,the boat and the wave\n2,sea,a wave at sea\n3,sea,boat on a wave\n"
    "4,land,a tree and a hill\n5,land,hill and field\n6,land,tree in a field\n"
)
RING = "1,2\n2,3\n3,1\n4,5\n5,6\n6,4\n3,4\n"


def made(edges=EDGES, nodes=NODES, **more):
    choices = more.pop("choices", Choices())
    both = {"edges": Given("edges.csv", edges), "nodes": Given("nodes.csv", nodes)}
    return read_graph(Sources(**both | more), choices)


def graph_of(draft, name="mine"):
    """The graph as it comes back from the cache."""
    keep(draft, name)
    return load(defaults(name))


@pytest.mark.parametrize("name", ["Cora", "Texas"])
def test_a_dataset_rewritten_as_tables_is_the_same_graph(cache, tmp_path, monkeypatch, name):
    need(name)
    public = load(Settings(dataset=name))
    directed = Choices(directed=name == "Texas")
    draft = made(tables.edges_csv(public), tables.nodes_csv(public), choices=directed)
    own = graph_of(draft)
    assert torch.equal(own.x.to_dense(), public.x.to_dense())
    assert torch.equal(own.edge_index, public.edge_index)
    for seed in PAPER_SEEDS:
        one, other = (run(Settings(dataset=d, seed=seed)).metrics for d in (name, "mine"))
        assert one.to_dict() == other.to_dict()


def test_ids_and_labels_of_any_kind_keep_their_names(cache):
    graph = graph_of(made())
    assert graph.class_names == ("blue", "red")
    assert graph.extra.lines("ids") == ["ana", "bob", "cid", "dia", "eve", "fay"]
    assert graph.y.tolist() == [1, 1, 1, 0, 0, 0]
    assert graph.train.tolist() == [True, True, False, True, True, False]
    result = run(Settings(dataset="mine", clients=2, beta=5))
    assert result.metrics.accuracy is not None
    assert CATALOGUE["mine"].class_names == ("blue", "red")


def test_numbers_as_labels_keep_their_order(cache):
    nodes = b"id,label,f0\n" + b"".join(b"%d,%d,%d\n" % (i, (i * 5) % 12, i + 1) for i in range(24))
    graph = graph_of(made(b"0,1\n1,2\n", nodes))
    assert graph.class_names == tuple(str(c) for c in range(12))
    assert graph.y.tolist() == [(i * 5) % 12 for i in range(24)]


def test_weights_are_left_out_and_directions_asked_for(cache):
    both = made()
    assert any("left out: weight" in note for note in both.notes)
    assert any("6 edges were given one way" in note for note in both.notes)
    assert both.about["edges"] == 12
    one = made(choices=Choices(directed=True))
    assert one.about["edges"] == 6
    assert one.arrays["edge_index"].tolist() == [[0, 1, 2, 2, 3, 4], [1, 2, 0, 3, 4, 5]]


@pytest.mark.parametrize("head", ["", "from\tto\n", "# a comment\n# another\n"])
def test_a_list_with_and_without_a_header(cache, head):
    draft = made((head + RING.replace(",", "\t")).encode(), TEXTS.encode())
    assert draft.about["edges"] == 14


def test_a_text_becomes_terms(cache):
    draft = made(RING.encode(), TEXTS.encode(), choices=Choices(drawn="2"))
    graph = graph_of(draft)
    words = graph.extra.lines("words")
    assert {"wave", "boat", "hill", "tree", "field"} <= set(words)
    assert graph.extra.text
    assert graph.x.to_dense()[0, words.index("wave")] > 0
    assert torch.bincount(graph.y[graph.train]).tolist() == [2, 2]
    assert any("weighed by TF-IDF" in note for note in graph.notes)


@pytest.mark.parametrize("kind", ["", "identity", "structural", "degree"])
def test_without_features_they_are_made_and_that_is_said(cache, kind):
    nodes = b"id,label\n1,a\n2,a\n3,a\n4,b\n5,b\n6,b\n"
    draft = made(RING.encode(), nodes, choices=Choices(features=kind))
    graph = graph_of(draft)
    said = next(note for note in draft.notes if note.startswith("No features were given"))
    assert (kind or "identity") in said
    x = graph.x.to_dense()
    if kind == "structural":  # back after two steps: from 1 to 2 or 3, each of which has 2 or 3
        assert x[0, 0] == 0
        assert x[0, 1] == pytest.approx(1 / 2 * 1 / 2 + 1 / 2 * 1 / 3)
    elif kind == "degree":
        assert graph.extra.lines("words") == ["2 neighbours", "3 neighbours"]
        assert x.argmax(1).tolist() == [0, 0, 1, 1, 0, 0]
    else:
        assert torch.equal(x, torch.eye(6))


def test_walks_are_estimated_where_there_are_too_many(cache, monkeypatch):
    from spear_core.own import made as features

    edges = np.array([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
    exact = features._returns(edges, 3)[0]
    monkeypatch.setattr(features, "EXACT", 0)
    assert np.abs(features._returns(edges, 3)[0] - exact).max() < 0.15


def test_a_split_is_drawn_by_the_seed_where_there_is_none(cache):
    public = load(Settings(dataset="digits"))
    nodes = tables.nodes_csv(public, split=False)
    keep(made(tables.edges_csv(public), nodes), "mine")
    one, other = (load(Settings(dataset="mine", seed=seed)) for seed in (42, 0))
    assert not torch.equal(one.train, other.train)
    assert int(one.train.sum()) == int(0.2 * one.num_nodes)
    assert int((one.train & one.test).sum()) == 0
    assert any("20 % train" in note for note in one.notes)
    with pytest.raises(SpearError, match="use split 0"):
        load(Settings(dataset="mine", split=1))


def test_a_node_without_a_label_is_unlabelled(cache):
    nodes = NODES.replace(b"cid,red,test", b"cid,,").replace(b"bob,red,train", b"bob,NA,train")
    graph = graph_of(made(nodes=nodes))
    assert graph.class_names == ("blue", "red", "no label")
    assert graph.known.tolist() == [True, False, False, True, True, True]
    assert graph.train.tolist() == [True, False, False, True, True, False]
    assert any("2 nodes without a label" in note for note in graph.notes)
    result = run(Settings(dataset="mine", clients=2, beta=5))
    assert "no label" not in {graph.names[c] for c in result.every_prediction.labels.tolist()}
    assert result.metrics.homophily == 1.0  # of the edges of which both ends have a label
    assert load(Settings(dataset="mine")).test.tolist() == [False] * 5 + [True]


def test_a_column_of_owners_is_a_partition(cache):
    head, *rows = NODES.decode().splitlines()
    who = ["Ulm", "Ulm", "Bonn", "Bonn", "Bonn", ""]
    lines = [f"{head},hospital", *(f"{row},{name}" for row, name in zip(rows, who, strict=True))]
    draft = made(nodes="\n".join(lines).encode(), choices=Choices(owner="hospital"))
    keep(draft, "mine")
    settings = defaults("mine")
    assert settings.clients == 3
    result = run(Settings(dataset="mine", partition="owner", clients=3))
    assert result.partition.owner.tolist() == [1, 1, 0, 0, 0, 2]
    assert "0 Bonn, 1 Ulm, 2 nobody" in " ".join(result.notes)
    with pytest.raises(SpearError, match="clients must be 3"):
        run(Settings(dataset="mine", partition="owner", clients=4))
    with pytest.raises(SpearError, match="does not say who owns"):
        run(Settings(dataset="karate", partition="owner", clients=3))


def as_bytes(write):
    out = io.BytesIO()
    write(out)
    return out.getvalue()


X = np.arange(12, dtype=np.float32).reshape(6, 2)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.npy", as_bytes(lambda f: np.save(f, X))),
        ("x.npz", as_bytes(lambda f: np.savez_compressed(f, x=X.astype(np.float64)))),
        ("csr.npz", as_bytes(lambda f: sp.save_npz(f, sp.csr_matrix(X)))),
        ("csc.npz", as_bytes(lambda f: sp.save_npz(f, sp.csc_matrix(X)))),
        ("x.parquet", as_bytes(lambda f: pd.DataFrame(X, columns=["a", "b"]).to_parquet(f))),
    ],
)
def test_features_from_a_file(cache, name, data):
    graph = graph_of(made(features=given_file(name, data)))
    assert np.array_equal(graph.x.to_dense().numpy(), X)


def test_parquet_is_a_table_too(cache):
    frame = pd.read_csv(io.BytesIO(NODES)).assign(id=range(6))
    frame["label"] = frame["label"].astype("category")
    edges = pd.DataFrame({"source": [0, 1, 2, 3, 4], "target": [1.0, 2.0, 3.0, 4.0, 5.0]})
    both = {
        "edges": given_file("e.parquet", as_bytes(edges.to_parquet)),
        "nodes": given_file("n.parquet", as_bytes(frame.to_parquet)),
    }
    graph = graph_of(read_graph(Sources(**both)))
    assert graph.num_edges == 10
    assert graph.class_names == ("blue", "red")
    assert graph.x.to_dense()[5].tolist() == pytest.approx([0.2, 1])


def test_graphml(cache):
    g = nx.Graph(name="g")
    for row in NODES.decode().splitlines()[1:]:
        name, label, split, *values = row.split(",")
        g.add_node(name, label=label, split=split, a=float(values[0]), b=float(values[1]))
    g.add_weighted_edges_from([("ana", "bob", 2.0), ("dia", "eve", 1.0)])
    data = as_bytes(lambda f: nx.write_graphml(g, f))
    graph = graph_of(read_graph(Sources(graphml=given_file("g.graphml", data))))
    assert graph.num_edges == 4
    assert graph.class_names == ("blue", "red")
    assert graph.extra.lines("words") == ["a", "b"]


@pytest.mark.parametrize("name", ["Texas", "Actor"])
def test_a_folder_of_geom_gcn(cache, name):
    need(name)
    entry = CATALOGUE[name]
    folder = store.data_folder() / entry.folder
    files = tuple(given_file(f, folder / f) for f in entry.files)
    keep(read_graph(Sources(folder=files), Choices(directed=True)), "mine")
    for split in (0, 3):
        one, other = (load(Settings(dataset=d, split=split)) for d in (name, "mine"))
        for part in ("edge_index", "y", "train", "val", "test"):
            assert torch.equal(getattr(one, part), getattr(other, part)), part
        assert torch.equal(one.x.to_dense(), other.x.to_dense())


def test_a_compact_file_that_somebody_shares(cache, tmp_path):
    first = graph_of(made())
    path = store.raw_cache() / "own" / "mine.npz"
    again = read_graph(Sources(compact=given_file("shared.npz", path.read_bytes())))
    second = graph_of(again, "theirs")
    assert torch.equal(first.x.to_dense(), second.x.to_dense())
    assert second.class_names == ("blue", "red")
    assert second.extra.lines("ids") == first.extra.lines("ids")
    bare = {name: again.arrays[name] for name in ("x", "y", "edge_index")}
    save_whole(tmp_path / "bare.npz", bare)
    plain = read_graph(Sources(compact=given_file("bare.npz", tmp_path / "bare.npz")))
    assert plain.about["class_names"] == ["0", "1"]
    packed = as_bytes(lambda f: np.savez_compressed(f, **bare))
    with pytest.raises(SpearError, match="no compact graph"):
        read_graph(Sources(compact=given_file("packed.npz", packed)))
    assert zipfile.is_zipfile(path)


def test_it_is_listed_kept_whole_and_removed(cache, monkeypatch):
    keep(made(), "mine")
    assert "mine" in list(CATALOGUE)
    assert Settings(dataset="MINE").dataset == "mine"
    before = run(Settings(dataset="mine", clients=2)).graph
    for taken in ("Mine", "cora", "digits"):
        with pytest.raises(SpearError, match=rf"There is a dataset (?i:{taken}) already"):
            keep(made(), taken)
    for wrong in ("../x", "a/b", "", "a\x1b[2J", "x" * 41, ".hidden"):
        with pytest.raises(SpearError, match="cannot be the name"):
            keep(made(), wrong)
    mine.remove("mine")
    assert "mine" not in CATALOGUE
    with pytest.raises(SpearError, match="Somebody's own graph is to be added"):
        Settings(dataset="mine")
    other = NODES.replace(b"red", b"green")
    keep(made(nodes=other), "mine")
    after = run(Settings(dataset="mine", clients=2)).graph
    assert (before.class_names, after.class_names) == (("blue", "red"), ("blue", "green"))

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", stop)
    with pytest.raises(KeyboardInterrupt):
        keep(made(), "half")
    assert sorted(p.name for p in (store.raw_cache() / "own").iterdir()) == ["mine.npz"]
