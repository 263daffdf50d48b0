"""The cache keeps within its budget: the oldest goes first, raw files and tables stay."""

import os

import pytest

from spear_core import SpearError
from spear_core.cli import main
from spear_core.datasets import room
from spear_core.sweeps import store as sweeps


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Four files of 100 bytes that can be made again, the first the oldest, and three that stay."""
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path))
    monkeypatch.setattr(room, "_looked", -room.PAUSE)
    again = ("sweeps/old/Cora.log", "maps/a.npz", "baselines/b.pt", "sweeps/new/Cora.log")
    stay = ("raw/Planetoid/Cora/raw/ind.cora.x", "graphs/Cora-1.npz", "baselines/results.csv")
    for age, name in enumerate((*stay, *again)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 100)
        os.utime(path, (age, age))
    return tmp_path


def names(cache):
    return sorted(str(p.relative_to(cache)) for p in cache.rglob("*") if p.is_file())


def test_the_oldest_goes_first(cache, monkeypatch, capsys):
    before = names(cache)
    assert main(["data", "--clean"]) == 0  # two gigabytes are enough
    assert names(cache) == before
    monkeypatch.setenv("SPEAR_CACHE_GB", "250e-9")
    assert main(["data", "--clean"]) == 0
    assert "0.2 kB freed, 0.2 kB left" in capsys.readouterr().out
    assert set(before) - set(names(cache)) == {"sweeps/old/Cora.log", "maps/a.npz"}
    assert not (cache / "sweeps" / "old").exists()
    monkeypatch.setenv("SPEAR_CACHE_GB", "0")
    assert room.clean() == (200, 0)
    stay = ["baselines/results.csv", "graphs/Cora-1.npz", "raw/Planetoid/Cora/raw/ind.cora.x"]
    assert names(cache) == stay


def test_a_write_makes_room_though_not_every_one(cache, monkeypatch):
    monkeypatch.setenv("SPEAR_CACHE_GB", "1e-9")
    sweeps.append("digits", "key", {"problem": "none", "points": []})
    log = sweeps.log("digits")
    assert log.exists()  # what was just written stays, over the budget or not
    assert not list(cache.glob("maps/*"))
    (cache / "maps" / "late.npz").write_bytes(b"x")
    sweeps.append("digits", "key", {"problem": "none", "points": []})
    assert (cache / "maps" / "late.npz").exists()  # the disk was looked at a moment ago


def test_a_budget_that_is_none(cache, monkeypatch):
    monkeypatch.setenv("SPEAR_CACHE_GB", "plenty")
    with pytest.raises(SpearError, match="SPEAR_CACHE_GB is 'plenty'"):
        room.clean()
