"""Raw files in every public format, with their splits, sizes and class names."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import torch

from spear_core import Settings, SpearError, load, run
from spear_core.datasets import CATALOGUE, store
from spear_core.datasets.public import read_raw
from tests import rawfiles
from tests.conftest import need
from tests.datasets.helpers import load_anew


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


def test_two_read_arxiv_at_once(data, monkeypatch, capfd):
    """Both are inside OGB's reader at the same time; what one prints meanwhile is seen."""
    rawfiles.arxiv(data)
    outdated, out, err = sys.modules.get("outdated"), sys.stdout, sys.stderr
    real, both = pd.read_csv, threading.Barrier(2)

    def together(*args, **kwargs):
        both.wait(timeout=600)
        assert (sys.stdout, sys.stderr) == (out, err)
        return real(*args, **kwargs)

    monkeypatch.setattr(pd, "read_csv", together)
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(read_raw, [CATALOGUE["ogbn-arxiv"]] * 2, [data] * 2)
    assert np.array_equal(one["x"], two["x"])
    assert sys.modules.get("outdated") is outdated
    assert (sys.stdout, sys.stderr) == (out, err)
    assert capfd.readouterr() == ("", "")


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


def test_published_and_drawn_splits_are_said(data):
    rawfiles.webkb(data)
    rawfiles.amazon(data)
    assert "Split 3 of the 10 published ones." in load(Settings(dataset="Cornell", split=3)).notes
    assert any("drawn by the seed" in note for note in load(Settings(dataset="Photo")).notes)
    with pytest.raises(SpearError, match="no published split"):
        load(Settings(dataset="Photo", split=3))
    same = [load(Settings(dataset="Cornell", seed=s)) for s in (1, 2)]
    assert same[0] is same[1]


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        (
            "Cora",
            {
                "Theory": 351,
                "Reinforcement Learning": 217,
                "Genetic Algorithms": 418,
                "Neural Networks": 818,
                "Probabilistic Methods": 426,
                "Case Based": 298,
                "Rule Learning": 180,
            },
        ),
        ("CiteSeer", {"AI": 264, "ML": 590, "IR": 668, "DB": 701, "Agents": 596, "HCI": 508}),
        (
            "PubMed",
            {"experimental diabetes": 4103, "type 2 diabetes": 7739, "type 1 diabetes": 7875},
        ),
    ],
)
def test_names_stand_at_their_labels(name, counts):
    """The publishers count so many papers of each topic, and no two counts are alike."""
    need(name)
    graph = load(Settings(dataset=name))
    found = torch.bincount(graph.y).tolist()
    assert dict(zip(graph.class_names, found, strict=True)) == counts


def test_citeseers_papers_without_words_count_as_the_first_topic():
    """249 papers are on AI; PyG gives 15 nodes of which nothing is known label 0 too."""
    need("CiteSeer")
    graph = load(Settings(dataset="CiteSeer"))
    empty = graph.x.crow_indices().diff() == 0
    assert torch.bincount(graph.y[empty], minlength=6).tolist() == [15, 0, 0, 0, 0, 0]


def test_pubmeds_types_of_diabetes_are_told_apart_by_their_words():
    """The word "2" is in 10,867 papers, "1" in 10,588: no other column is as full as these."""
    need("PubMed")
    graph = load(Settings(dataset="PubMed"))
    has = graph.x.to_dense() > 0
    for word, papers in (("1", 10588), ("2", 10867)):
        (column,) = (has.sum(0) == papers).nonzero()[:, 0].tolist()
        share = [float(has[graph.y == c, column].float().mean()) for c in range(3)]
        assert graph.class_names[share.index(max(share))] == f"type {word} diabetes"


@pytest.mark.parametrize("name", ["Computers", "Coauthor-CS"])
def test_names_are_those_in_the_file(name):
    need(name)
    graph = load(Settings(dataset=name))
    found = store.names_in(CATALOGUE[name], store.data_folder())
    assert [n.lower() for n in graph.class_names] == [n.lower().replace("_", " ") for n in found]


def test_names_in_a_file_are_shown_where_the_entry_has_none(data):
    names = np.array(["Lenses", "Flashes", "Tripods", "Films"])
    rawfiles.amazon(data, class_names=names)
    assert load(Settings(dataset="Photo")).class_names == tuple(names)
    rawfiles.amazon(data, class_names=names.astype(object))  # pickled, as older files have them
    assert load_anew("Photo").class_names == ()


def test_a_compact_copy_of_before_gets_its_names(data):
    """The copies in a user's cache hold no names."""
    rawfiles.planetoid(data)
    arrays = store.read(CATALOGUE["Cora"], data)
    assert "class_names" not in arrays
    assert load(Settings(dataset="Cora")).class_names == ()  # two classes are not the seven topics
    for copy in (store.cache_folder() / "graphs").glob("Cora-*.npz"):
        store.save_whole(copy, arrays | {"y": np.arange(len(arrays["y"])) % 7})
    assert load_anew("Cora").class_names[3] == "Neural Networks"
