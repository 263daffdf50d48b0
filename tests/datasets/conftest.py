"""What the tests of loading share: an empty data folder, and no network."""

import os

import pytest

from spear_core.datasets import _base, _load, fetch


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty $SPEAR_DATA and an empty cache; nothing loaded before is remembered."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("REAL_SPEAR_DATA", os.environ.get("SPEAR_DATA", ""))
    monkeypatch.setenv("SPEAR_DATA", str(folder))
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / "cache"))
    _load.clear()
    _base.clear()
    yield folder
    _load.clear()
    _base.clear()


@pytest.fixture
def offline(monkeypatch):
    """No source answers, as on a machine without a network."""

    def nothing(*_):
        raise fetch.DataMissing("no connection")

    monkeypatch.setattr(fetch, "_supervise", nothing)
