"""The cache: compact copies, folders that cannot be written, and a data folder left alone."""

import shutil

import numpy as np
import pytest
import torch

from spear_core import Settings, SpearError, load, run
from spear_core.datasets import _base, _load, store
from spear_core.sweeps import store as sweeps
from tests import rawfiles
from tests.datasets.helpers import load_anew, snapshot


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
