"""What is wrong with somebody's files is one sentence, by row and column, and nothing is kept."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from spear_core import SpearError
from spear_core.datasets import mine
from spear_core.own import Choices, Given, Sources, given_file, given_path, keep, read_graph
from tests.own.test_shapes import EDGES, NODES, as_bytes, made

BOMB = b'<!DOCTYPE a [<!ENTITY b "ha">]><graphml>&b;</graphml>'
FAR = b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><graphml/>'


def five_rows(file):
    np.save(file, np.ones((5, 2)))


def flat(file):
    np.save(file, np.ones(6))


def nodes(old=b"", new=b""):
    assert old in NODES
    return NODES.replace(old, new, 1)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"nodes": nodes(b"0.5\ncid", b"half\ncid")}, "row 3, column f1: 'half' is no number"),
        ({"nodes": nodes(b"dia,blue,train,0,1", b"dia,blue,train,0")}, "row 5 has 4 cells and"),
        ({"nodes": nodes(b"dia,", b",")}, "row 5, column id: a node has no id"),
        ({"nodes": nodes(b"dia,blue,train", b"dia,blue,often")}, "row 5, column split: 'often' is"),
        ({"nodes": NODES.replace(b"blue", b"red")}, "every label is 'red'; give at least two"),
        ({"nodes": NODES.replace(b"blue", b"").replace(b"red", b"")}, "no node has a label"),
        ({"nodes": NODES.replace(b"label", b"colour")}, "has no column of labels"),
        ({"nodes": NODES.replace(b"train", b"val")}, "no training node with a label"),
        ({"nodes": NODES.replace(b"test", b"val")}, "no test node with a label"),
        ({"nodes": NODES.replace(b"f1", b"f0")}, "has the column 'f0' twice, as number 4 and 5"),
        ({"nodes": b"id,label,f0\n"}, "a header and no row"),
        ({"nodes": NODES.decode().encode("utf-16")}, "no table in UTF-8"),
        ({"nodes": nodes(b"red", b"r\xe9d")}, "row 2, is not in UTF-8"),
        ({"nodes": b"id,label," + b",".join(b"%d" % i for i in range(10**6)) + b"\n"}, "more than"),
        ({"nodes": b"a" * (2**24 + 10)}, "first line of more than"),
        ({"edges": b"source,target\n"}, "has a header and no row"),
        ({"edges": b"source,target\nana,\n"}, "row 2: an edge lacks one of its ends"),
        ({"edges": b"source,target\nx,y\nz,w\n"}, "no edge joins two nodes of the node table"),
        ({"edges": b"source\nana\n"}, "has one column; give two"),
        ({"edges": b"source,target\nana,bob\nbob\n"}, "row 3 has 1 cells and the header 2"),
        ({"choices": Choices(label="colour")}, "no column 'colour' for label; the columns are id"),
        (
            {"features": given_file("x.npy", as_bytes(lambda f: np.save(f, np.ones((5, 2)))))},
            "5 rows",
        ),
        (
            {"features": given_file("x.npy", as_bytes(lambda f: np.save(f, np.ones(6))))},
            "the shape",
        ),
        ({"features": given_file("x.pkl", b"\x80\x04K\x01.")}, "is no .npz, .npy or .parquet"),
        ({"features": given_file("x.npz", b"PK nonsense")}, "holds no plain matrix"),
        ({"nodes": None}, "needs a list of edges and a table of nodes"),
    ],
)
def test_a_sentence_that_says_where_and_how_to_mend_it(cache, parts, words):
    given_parts = {"edges": EDGES, "nodes": NODES} | parts
    choices = given_parts.pop("choices", Choices())
    files = {
        name: Given(f"{name}.csv", value) if isinstance(value, bytes) else value
        for name, value in given_parts.items()
    }
    with pytest.raises(SpearError) as caught:
        read_graph(Sources(**files), choices)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert mine.entries() == {}


@pytest.mark.parametrize(
    ("edges", "table", "words"),
    [
        (EDGES + b"ana,bob,9\n", NODES, "1 repeated edge counted once"),
        (EDGES + b"ana,ana,1\n", NODES, "1 self-loop kept"),
        (EDGES + b"ana,zoe,1\n", NODES, "1 edges name a node that is not in the node table"),
        (EDGES, NODES + b"ana,blue,train,1,1\n", "1 rows name a node again, the first 'ana'"),
        (
            EDGES,
            NODES.replace(b",2\n", b",nan\n"),
            "1 cells without a finite number are 0",
        ),
        (EDGES, NODES.replace(b",2\n", b",inf\n"), "nodes.csv, row 6, column f1"),
        (EDGES, NODES.replace(b"train,", b"train,a"), "Left out, since most cells are no numbers"),
    ],
)
def test_what_can_be_put_right_is_said(cache, edges, table, words):
    from spear_core import load
    from spear_core.settings import defaults

    keep(made(edges, table), "mine")
    assert words in " ".join(load(defaults("mine")).notes)


def test_rows_are_those_of_the_file_however_long_it_is(cache):
    many = 700_000  # more than one block
    lines = [b"id,label,f0\n", *(b"node number %d,%d,0.25\n" % (i, i % 2) for i in range(many))]
    lines[many - 5] = b"x,1,oops\n"
    with pytest.raises(SpearError, match=rf"row {many - 4}, column f0: 'oops'"):
        made(nodes=b"".join(lines))


def test_pickles_are_never_opened(cache):
    objects = as_bytes(lambda f: np.save(f, np.array([{}], dtype=object), allow_pickle=True))
    inside = as_bytes(lambda f: np.savez(f, x=np.array([{}], dtype=object)))
    for name, data in (("x.npy", objects), ("x.npz", inside)):
        with pytest.raises(SpearError, match="objects or text"):
            made(features=given_file(name, data))


def test_what_unpacks_to_too_much_is_refused(cache, monkeypatch):
    monkeypatch.setenv("SPEAR_MEMORY_GB", "0.01")  # 2.5 MB a file
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("x.npy", bytes(10**8))
    frame = pd.DataFrame({f"f{i}": np.zeros(10**6, np.float32) for i in range(4)})
    for name, data in (("x.npz", out.getvalue()), ("x.parquet", as_bytes(frame.to_parquet))):
        assert len(data) < 10**6
        with pytest.raises(SpearError, match=r"more than the 2\.5 MB"):
            made(features=given_file(name, data))
    with pytest.raises(SpearError, match=r"nodes.csv takes 3\.0 MB, more than the 2\.5 MB"):
        given_file("nodes.csv", bytes(3 * 10**6))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (BOMB, "declares a document type"),
        (FAR, "declares a document type"),
        (b"<graphml", "is no XML"),
        (b"<html></html>", "is no GraphML"),
    ],
)
def test_graphml_that_declares_entities_is_refused(cache, data, words):
    with pytest.raises(SpearError, match=words):
        read_graph(Sources(graphml=given_file("g.graphml", data)))


def test_names_of_files_are_said_safely(tmp_path):
    assert given_file("../../etc/pass\x1b[2Jwd.csv", b"a").name == "pass[2Jwd.csv"
    assert given_file("C:\\secret\\n.csv", b"a").name == "n.csv"
    with pytest.raises(SpearError, match="is empty"):
        given_file("n.csv", b"")
    with pytest.raises(SpearError, match="There is no file"):
        given_path(tmp_path / "none.csv")
    with pytest.raises(SpearError, match="There is no file"):
        given_path("/dev/zero")


def test_a_huge_file_is_refused_by_its_size_alone(tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(10**13)  # takes no room on the disk
    with pytest.raises(SpearError, match=r"huge\.csv takes 10000\.0 GB, more than"):
        given_path(path)
