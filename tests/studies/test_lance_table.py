"""The table of LANCE: whole as it is stored, and taken up where it stopped."""

from statistics import mean

from spear_core import Settings
from spear_core.studies import beyond, lance_table
from spear_core.studies.lance_table import (
    DATASETS,
    KEYS,
    STORED,
    VARIANTS,
    key,
    measure,
    plan,
    rows,
)


def test_the_stored_table_is_whole():
    stored = [tuple(row[name] for name in KEYS) for row in rows(STORED)]
    assert len(set(stored)) == len(stored)
    assert set(stored) == {key(*one) for one in plan(DATASETS)}


def test_lance_is_no_more_than_a_point_below_spear_where_label_skew_was_drawn():
    found: dict[tuple[str, ...], list[float]] = {}
    for row in rows(STORED):
        if row["partition"] == "dirichlet":
            place = row["dataset"], row["beta"], row["variant"]
            found.setdefault(place, []).append(100 * float(row["accuracy"]))
    for (dataset, beta, variant), values in found.items():
        if variant in ("rank 8", "rank 8 capped", "rank 32"):
            assert mean(values) > mean(found[dataset, beta, "SPEAR"]) - 1


def test_it_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(lance_table, "PARTS", ({"partition": "iid", "clients": 3},))
    monkeypatch.setattr(lance_table, "PAPER_SEEDS", (1,))
    path = tmp_path / "table.csv"
    measure(path, ("karate",))
    whole = path.read_text()
    path.write_text("".join(whole.splitlines(keepends=True)[:3]))
    measure(path, ("karate",))
    assert path.read_text() == whole
    path.write_text(whole[: whole.index("gated cosine") + 20])  # torn in the second line
    measure(path, ("karate",))
    assert [row["variant"] for row in rows(path)] == list(VARIANTS)


def test_so_do_the_other_figures_of_the_page(tmp_path, monkeypatch):
    karate = Settings(dataset="karate", clients=3)
    figures = [((kind, "karate", "", "", ""), karate) for kind in ("affinity", "central")]
    monkeypatch.setattr(beyond, "plan", lambda: figures)
    path = tmp_path / "beyond.csv"
    beyond.measure(path)
    whole, found = path.read_text(), beyond.rows(path)
    path.write_text(whole[: whole.index("central") + 14])
    assert list(beyond.rows(path)) == [figures[0][0]]
    beyond.measure(path)
    assert beyond.rows(path) == found
    assert len(found) == 2
