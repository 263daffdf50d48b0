"""What tests of graphs of one's own share: a cache of their own."""

import pytest

from spear_core.datasets import _base, _load


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache; nothing that was kept there before is remembered afterwards."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SPEAR_CACHE", str(folder))
    yield folder
    _load.clear()
    _base.clear()
