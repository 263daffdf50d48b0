"""The table of what sketches give away: whole as it is stored, and taken up where it stopped."""

import pytest

from spear_core.datasets import CATALOGUE, store
from spear_core.studies import sketch_exposure


def test_the_stored_table_is_whole():
    rows = sketch_exposure.rows()
    assert [row.key for row in rows] == list(sketch_exposure.plan())
    for row in rows:
        assert row.found <= min(row.named, row.rows)
        assert row.whole == 0 or row.cap == "no"


def test_a_stored_line_is_what_the_code_gives_today():
    if not store.on_disk(CATALOGUE["Cora"]):
        pytest.skip("Cora is not on disk")
    stored = next(row for row in sketch_exposure.rows() if row.key == ("Cora", 42, 8.0, "yes"))
    now = sketch_exposure.measured(*stored.key)
    assert (now.whole, now.exact) == (stored.whole, stored.exact)
    assert (now.found, now.named) == pytest.approx((stored.found, stored.named), abs=1)
    assert (now.both, now.both_edges) == pytest.approx((stored.both, stored.both_edges), abs=1e-3)


def test_it_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(sketch_exposure, "DATASETS", ("karate",))
    monkeypatch.setattr(sketch_exposure, "PAPER_SEEDS", (1,))
    path = tmp_path / "table.csv"
    sketch_exposure.measure(path, ("karate",))
    whole = path.read_text()
    assert len(sketch_exposure.rows(path)) == len(sketch_exposure.VARIANTS)
    path.write_text("".join(whole.splitlines(keepends=True)[:3]))
    sketch_exposure.measure(path, ("karate",))
    assert path.read_text() == whole
