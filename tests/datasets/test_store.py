"""The cache: compact copies, folders that cannot be written, and a data folder left alone."""

import shutil
from io import BytesIO

import hypothesis.extra.numpy
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Settings, SpearError, load, run
from spear_core.datasets import _base, _load, store
from spear_core.datasets.arrays import decoded, digest, read_whole
from spear_core.sweeps import store as sweeps
from tests import rawfiles
from tests.datasets.helpers import load_anew, snapshot


def test_second_load_reads_the_compact_copy(data, monkeypatch):
    rawfiles.amazon(data)
    first = load(Settings(dataset="Photo"))
    _load.clear()
    _base.clear()
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


def test_a_running_app_sees_that_raw_files_changed(data):
    """What is kept in memory goes by the same signature as what a sweep keeps on disk."""
    folder, photo = rawfiles.amazon(data), Settings(dataset="Photo")
    first, key = load(photo), sweeps.key(photo)
    assert load(photo) is first
    assert sweeps.key(photo) == key
    shutil.rmtree(folder)
    rawfiles.amazon(data, nodes=50)
    assert sweeps.key(photo) != key
    assert load(photo).num_nodes == 50


def test_a_damaged_compact_copy_is_made_anew(data):
    rawfiles.amazon(data)
    load(Settings(dataset="Photo"))
    (copy,) = (store.cache_folder() / "graphs").iterdir()
    whole = copy.read_bytes()
    for damage in (whole[:200], b"", b"PK\x03\x04" + b"x" * 100, whole.replace(b"y.npy", b"z.npy")):
        copy.write_bytes(damage)
        assert load_anew("Photo").num_nodes == 40


def hostile(arrays):
    """What a valid npz can hold that no graph is; each ended a process or changed a result."""
    col, edges = arrays["x_col"].copy(), arrays["edge_index"].copy()
    col[0], edges[0, 0] = 10**8, 10**6
    less = {name: array for name, array in arrays.items() if name not in ("train", "val", "test")}
    yield arrays | {"x_col": col}  # read past the end of the memory
    yield arrays | {"x_crow": arrays["x_crow"][::-1].copy()}
    yield arrays | {"x_shape": np.array([len(arrays["y"]), 1])}
    yield arrays | {"edge_index": edges}
    yield less  # masks are drawn at random then
    yield arrays | {"train": arrays["train"][:-1]}
    yield arrays | {"y": -arrays["y"]}
    many, values, nodes = arrays["y"].copy(), arrays["x_values"], len(arrays["y"])
    many[0], nan, twice = 10**6, values.copy(), arrays["x_col"].copy()
    nan[0] = np.nan
    row = int(np.flatnonzero(np.diff(arrays["x_crow"]) > 1)[0])
    first = arrays["x_crow"][row]
    twice[first + 1] = twice[first]
    yield arrays | {"x_shape": np.array([nodes, 2**40])}  # allocated as soon as it is smoothed
    yield arrays | {"x_shape": arrays["x_shape"].astype(np.float64)}
    yield arrays | {"y": many}  # a matrix of clients and classes of any size
    yield arrays | {"x_values": nan}
    yield arrays | {"x_values": values > 0}
    yield arrays | {"x_values": values.astype(np.int32)}
    yield arrays | {"x_col": twice}
    yield arrays | {"x": np.ones((nodes, 2), np.float32)}
    yield arrays | {"what": np.ones(3)}
    yield arrays | {"train": np.zeros_like(arrays["train"])}


@pytest.mark.parametrize("sealed", [False, True])
def test_a_copy_with_hostile_content_is_made_anew(data, sealed):
    """With the digest of what it was, and with a digest that fits: then the structure tells."""
    rawfiles.planetoid(data)
    first = load(Settings(dataset="Cora"))
    (copy,) = (store.cache_folder() / "graphs").iterdir()
    whole = read_whole(copy)
    assert "x_col" in whole
    for arrays in hostile(whole):
        if sealed:
            store.save_whole(copy, arrays)
        else:
            np.savez(copy, **arrays, digest=digest(whole))
        again = load_anew("Cora")
        assert torch.equal(again.train, first.train)
        assert torch.equal(again.edge_index, first.edge_index)
        assert torch.equal(again.features.to_dense(), first.features.to_dense())
        assert np.array_equal(read_whole(copy)["x_col"], whole["x_col"])  # and it is whole again


def test_one_changed_number_is_noticed(data):
    rawfiles.planetoid(data)
    first = load(Settings(dataset="Cora"))
    (copy,) = (store.cache_folder() / "graphs").iterdir()
    whole = read_whole(copy)
    other = whole | {"x_values": 2 * whole["x_values"], "y": whole["y"][::-1].copy()}
    np.savez(copy, **other, digest=digest(whole))
    assert torch.equal(load_anew("Cora").y, first.y)


@pytest.mark.parametrize(
    ("shape", "kind", "why"),
    [
        ((10**11, 10), "<f4", "does not fit its length"),
        ((-1, 4), "<f4", "does not fit its length"),
        ((4,), ">f4", "of the kind"),
        ((4,), "<U9", "of the kind"),
        ((4,), "|O", "of the kind"),
    ],
)
def test_a_header_is_not_believed(shape, kind, why):
    """A header may claim any size: it is compared with the bytes that are there."""
    file = BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(ValueError, match=why):
        decoded(file.getvalue() + bytes(16))


@given(hypothesis.extra.numpy.arrays(np.float32, st.tuples(st.integers(0, 4), st.integers(0, 4))))
def test_an_array_comes_back_as_it_was(array):
    for one in (array, np.asfortranarray(array), array.view(np.int32), array > 0):
        file = BytesIO()
        np.save(file, one)
        assert np.array_equal(decoded(file.getvalue()), one, equal_nan=one.dtype.kind == "f")
        assert decoded(file.getvalue(), (4, 4)).dtype == one.dtype
    with pytest.raises(ValueError, match="at most"):
        decoded(file.getvalue(), (-1, 4))


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


def test_no_home_folder(monkeypatch):
    monkeypatch.setenv("SPEAR_CACHE", "~nobody-of-that-name/x")
    with pytest.raises(SpearError, match="set SPEAR_CACHE"):
        store.cache_folder()
    monkeypatch.delenv("SPEAR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert store.cache_folder().is_absolute()
