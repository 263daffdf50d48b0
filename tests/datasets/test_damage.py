"""Raw files that are cut short or wrong: one sentence each, and nothing is kept."""

import os
import shutil

import numpy as np
import pytest

from spear_core import Settings, SpearError, load
from tests import rawfiles
from tests.datasets.helpers import cut, load_anew


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


def test_labels_that_are_no_whole_numbers(data):
    rawfiles.amazon(data, labels=np.arange(40) % 4 + 0.7)
    with pytest.raises(SpearError, match="give one whole number a node"):
        load(Settings(dataset="Photo"))
