"""A client's plain tables, damaged in every way: one sentence, and no cell of them in it."""

from io import BytesIO

import numpy as np
import pytest

from spear_core import SpearError
from spear_core.federation.files import read_client


def saved(array):
    file = BytesIO()
    np.save(file, array)
    return file.getvalue()


def claimed(shape):
    """The header of an array of that shape, with a few bytes of it."""
    file = BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + bytes(16)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n1,0\n")
    (tmp_path / "labels.csv").write_text("label\n0\n1\n")
    (tmp_path / "features.npy").write_bytes(saved(np.eye(2, dtype=np.float32)))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("labels.csv", text) for text in (b"", b"label\n", b"label\n" + b"1" * 200_000)),
        *(("labels.csv", text) for text in (b"label\n0\n" + b"9" * 30, b"label\n\xff\n1\n")),
        ("edges.csv", b"source,target\n0," + b"1" * 200_000),
        ("edges.csv", b"source,target\n0," + b"9" * 30),
        ("features.npy", b""),
        ("features.npy", claimed((10**11, 2))),
        ("features.npy", saved(np.eye(2) * 1j)),
        ("features.npy", saved(np.array([["a"], ["b"]]))),
        ("features.npy", saved(np.array(1.0))),
        ("features.npy", b"PK\x03\x04" + bytes(40)),
    ],
)
def test_a_damaged_table_gives_a_sentence(folder, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(SpearError) as caught:
        read_client(folder)
    assert str(caught.value).count("\n") == 0
    assert len(str(caught.value)) < 300


def test_no_edge_at_all_is_a_client(folder):
    for text in ("", "source,target\n"):
        (folder / "edges.csv").write_text(text)
        assert read_client(folder).num_edges == 0


def test_features_without_any_row_are_damaged(folder):
    (folder / "features.npy").unlink()
    for text in ("", "a,b\n"):
        (folder / "features.csv").write_text(text)
        with pytest.raises(SpearError, match="features"):
            read_client(folder)
