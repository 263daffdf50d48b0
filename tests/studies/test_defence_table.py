"""The stored table of attacks and defences, and what is claimed of it."""

from dataclasses import replace

import pytest

from spear_core import Settings
from spear_core.studies.defence_table import (
    SEEDS,
    STORED,
    accuracies,
    main,
    own,
    servers,
    store,
    stored,
    table,
)
from tests.conftest import need


def test_small_tables_come_back_from_their_file(tmp_path):
    path = tmp_path / "made" / "attacks.csv"
    rows = list(table(["karate"], [1.0], [42]))
    assert len(rows) == 4 * len(servers())
    store(rows, path)
    back = stored(path)
    assert [r.defence for r in back] == [r.defence for r in rows]
    for a, b in zip(rows, back, strict=True):
        assert b.accuracy == pytest.approx(a.accuracy, abs=1e-5)
        assert (a.recovered is None) == (b.recovered is None)
        assert replace(a, **dict.fromkeys(NUMBERS, 0)) == replace(b, **dict.fromkeys(NUMBERS, 0))
    assert stored(tmp_path / "absent.csv") == []


def test_the_command_leaves_the_shipped_table_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path))
    rows = list(table(["karate"], [1.0], [42]))
    monkeypatch.setattr("spear_core.studies.defence_table.table", lambda **_: rows)
    shipped = STORED.read_bytes()
    assert main([]) == 0
    assert STORED.read_bytes() == shipped
    assert {row.dataset for row in stored(own())} == {"karate"}
    asked = tmp_path / "new" / "mine.csv"
    main(["--out", str(asked)])
    assert asked.read_bytes() == own().read_bytes()


NUMBERS = ("clean", "undefended", "oracle", "accuracy", "std", "recovered", "clean_cost")


def test_the_stored_table_is_whole():
    rows = stored()
    assert STORED.exists()
    again = "make it anew: make tables"
    assert {row.defence for row in rows} == set(servers()), again
    assert len(rows) == 4 * 2 * 4 * len(servers()), again
    for row in rows:
        assert row.seeds == " ".join(map(str, SEEDS))
        assert row.date
        assert row.versions
        if row.defence == "oracle":
            assert row.accuracy == row.oracle
            assert row.clean_cost == 0
        if row.defence == "none":
            assert row.accuracy == row.undefended
            assert row.clean_cost == 0


@pytest.mark.slow
def test_the_stored_table_is_what_the_engine_gives():
    [row] = [r for r in stored() if _key(r) == ("digits", 1.0, "random", 1, "consensus")]
    settings = Settings(beta=1.0)
    found = accuracies(settings, {"attacker_count": 3}, SEEDS)["consensus"]
    assert row.accuracy == pytest.approx(found.mean(), abs=2e-3)


def test_consensus_wins_back_a_part_of_the_gap_and_costs_nothing_on_clean_data():
    rows = {_key(r): r for r in stored()}
    for dataset, least in (("Cora", 0.5), ("CiteSeer", 0.3), ("PubMed", 0.5), ("digits", 0.9)):
        assert rows[(dataset, 1.0, "random", 1, "consensus")].recovered >= least
        for beta in (0.05, 1.0):
            assert rows[(dataset, beta, "random", 1, "consensus")].clean_cost <= 0.001


@pytest.mark.slow
def test_inflated_counts_cost_little_under_a_cap():
    """Cora, β 0.05, 3 random clients, labels to the next class, eight seeds."""
    need("Cora")
    cora = Settings(dataset="Cora")
    flip = {"attacker_count": 3}
    plain, wild = accuracies(cora, flip, SEEDS), accuracies(cora, flip | {"inflate": 100.0}, SEEDS)
    mean = {name: (plain[name].mean(), wild[name].mean()) for name in plain}
    assert mean["none"][0] - mean["none"][1] > 0.1  # without a defence it costs a lot
    assert mean["cap"][0] - mean["cap"][1] <= 0.03  # with the cap on, next to nothing more
    assert mean["none"][0] - mean["cap-median"][1] <= 0.03  # even against no defence at all


def _key(row):
    return (row.dataset, row.beta, row.attackers, row.inflate, row.defence)
