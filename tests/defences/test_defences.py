"""Defences on uploads one can do on paper, what they must never do, and the stored table."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Settings, Uploads, estimate, run
from spear_core.defences import cosine, defend, keep, krum, median_cap, share_cap
from spear_core.defences.consensus import consensus, trust, votes
from spear_core.defences.robust import geometric, robust_mean, trimmed
from spear_core.settings import DEFENCES
from spear_core.studies.defence_table import (
    SEEDS,
    SERVERS,
    STORED,
    accuracies,
    store,
    stored,
    table,
)
from tests.conftest import need, random_graph


def sent(rows, clients=None, classes=None):
    """Uploads from (client, class, count, prototype) tuples."""
    client, label, counts, prototypes = zip(*rows, strict=True)
    return Uploads(
        torch.tensor(client),
        torch.tensor(label),
        torch.tensor(counts),
        torch.tensor(prototypes, dtype=torch.float32),
        clients or max(client) + 1,
        classes or max(label) + 1,
    )


def one_class(counts, prototypes=None):
    """Every client holds the one class."""
    prototypes = prototypes or [[1.0, 0.0]] * len(counts)
    pairs = zip(counts, prototypes, strict=True)
    return sent([(k, 0, n, p) for k, (n, p) in enumerate(pairs)])


def draw(seed, clients=6, classes=3, width=5, honest=True):
    """Random uploads: noisy class directions, some pairs missing, counts from 1 to 20."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(clients):
        for c in range(classes):
            if rng.random() < 0.7:
                centre = np.eye(classes, width)[c] if honest else rng.standard_normal(width)
                noisy = centre + 0.3 * rng.standard_normal(width)
                p = noisy / max(1.0, np.linalg.norm(noisy))
                rows.append((k, c, int(rng.integers(1, 20)), p.tolist()))
    rows = rows or [(0, 0, 1, [1.0] + [0.0] * (width - 1))]
    return sent(rows, clients, classes)


# caps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "share", "expected"),
    [
        ([700, 2, 1], 0.5, [3, 2, 1]),  # 3 is half of 3 + 2 + 1
        ([700, 7], 0.5, [7, 7]),
        ([700, 7], 0.3, [7, 7]),  # two holders cannot both have less than a half
        ([700, 7], 0.8, [28, 7]),  # 28 is four fifths of 35
        ([700, 700, 2, 1], 0.4, [6, 6, 2, 1]),  # both are cut: 6 is two fifths of 15
        ([5, 4, 4], 0.5, [5, 4, 4]),  # within the share: nothing is cut
        ([700], 0.3, [700]),  # a lone holder is all there is
        ([9, 0], 0.5, [9, 0]),  # who claims nothing is no second holder
        ([0, 0], 0.5, [0, 0]),
        ([10, 5], 1.0, [10, 5]),
    ],
)
def test_share_cap_by_hand(counts, share, expected):
    assert share_cap(one_class(counts), share).tolist() == pytest.approx(expected)


@given(
    counts=st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=8), share=st.floats(0.01, 1.0)
)
def test_share_cap_holds_and_is_as_large_as_it_can_be(counts, share):
    capped = share_cap(one_class(counts), share).double()
    attainable = max(share, 1 / len(counts))
    assert (capped <= attainable * capped.sum() * (1 + 1e-4)).all()
    assert (capped > 0).all()
    cut = capped < torch.tensor(counts).double() * (1 - 1e-6)
    if cut.any():  # those that were cut stand exactly at the share, unless all are equal
        assert torch.allclose(capped[cut], attainable * capped.sum(), rtol=1e-4)


def test_inflating_by_more_changes_nothing_under_the_cap():
    modest, wild = one_class([70, 5, 2]), one_class([10**9, 5, 2])
    assert torch.equal(share_cap(modest, 0.5), share_cap(wild, 0.5))


def test_median_cap_limits_what_a_client_claims_in_all():
    rows = [(0, 0, 4, [1.0]), (1, 0, 2, [1.0]), (1, 1, 2, [1.0]), (2, 0, 300, [1.0])]
    capped = median_cap(sent([*rows, (2, 1, 100, [1.0])]))
    assert capped.tolist() == [4, 2, 2, 3, 1]  # totals 4, 4, 400: the last is cut to 4, as 3 : 1


def test_median_cap_counts_only_clients_that_sent_something():
    assert median_cap(sent([(0, 0, 4, [1.0]), (9, 0, 4, [1.0])])).tolist() == [4, 4]


# filters -------------------------------------------------------------------------------------


def test_krum_keeps_the_row_in_the_middle_of_the_crowd():
    up = one_class([1] * 5, [[0.0, 0], [0.1, 0], [0.2, 0], [0.3, 0], [1, 1]])
    # five holders allow one liar, so two neighbours: 0.05, 0.02, 0.02, 0.05, far
    assert krum(up, 3, several=False).tolist() == [False, True, True, False, False]  # a tie
    assert krum(up, 3, several=True).tolist() == [True, True, True, True, False]


def test_krum_with_few_holders():
    two = one_class([1, 9], [[1.0, 0], [0, 1.0]])
    three = one_class([1] * 3, [[1.0, 0], [0.9, 0], [0, 1.0]])
    assert krum(two, 3, several=False).all()  # they tie
    assert krum(three, 3, several=False).tolist() == [True, True, False]  # one neighbour each
    assert krum(three, 3, several=True).all()  # no liar can be allowed for
    assert krum(one_class([4]), 3, several=False).all()


def test_cosine_drops_what_points_elsewhere():
    up = one_class([1] * 5, [[1.0, 0], [0.98, 0.1], [1, 0.1], [0.9, 0.05], [0, 1.0]])
    assert cosine(up).tolist() == [True] * 4 + [False]
    assert cosine(one_class([1, 1], [[1.0, 0], [0, 1.0]])).all()  # two say nothing
    assert cosine(one_class([1] * 4)).all()  # all alike
    scattered = one_class([1] * 3, [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])  # median is zero
    assert cosine(scattered).all()


def test_the_oracle_drops_the_liars_and_nobody_else():
    up, settings = draw(1), Settings(defence="oracle")
    kept = defend(up, settings, None, (1, 4))
    assert set(kept.client.tolist()) == set(up.client.tolist()) - {1, 4}
    assert defend(up, settings, None, ()) is up


def test_only_under_the_oracle_a_class_can_be_lost():
    up = sent([(0, 0, 3, [1.0, 0]), (1, 1, 3, [0, 1.0])])
    assert estimate(up, Settings(defence="oracle"), None, (1,)).seen.tolist() == [True, False]


# robust means --------------------------------------------------------------------------------


def test_median_and_trimmed_mean_by_hand():
    points = [[0.0, 9], [1, 8], [2, 7], [3, 6], [9, -9]]
    up = one_class([1, 1, 1, 1, 100], points)
    assert robust_mean(up, Settings(defence="median")).tolist() == [[2, 7]]
    assert robust_mean(up, Settings(defence="trimmed", trim=0.2)).tolist() == [[2, 7]]
    assert robust_mean(up, Settings(defence="trimmed", trim=0.0)).tolist() == [
        [3, pytest.approx(4.2)]
    ]
    four = one_class([1] * 4, points[:4])
    assert robust_mean(four, Settings(defence="median")).tolist() == [[1.5, 7.5]]
    assert trimmed(torch.tensor([[0.0], [4.0]]), 0.4).tolist() == [2]  # nothing to cut of two
    assert robust_mean(up, Settings(defence="krum")) is None


def test_geometric_median_by_hand():
    corners = torch.tensor([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    ones = torch.ones(4)
    assert geometric(corners, ones).tolist() == pytest.approx([0.5, 0.5])
    # of an equilateral triangle: its centre
    third = torch.tensor([[0.0, 0], [1, 0], [0.5, math.sqrt(3) / 2]])
    assert geometric(third, ones[:3]).tolist() == pytest.approx([0.5, math.sqrt(3) / 6], abs=1e-5)
    # a row in the middle, or one that weighs more than the rest, is the answer
    assert geometric(torch.tensor([[0.0], [1.0], [5.0]]), ones[:3]).tolist() == [1]
    assert geometric(corners, torch.tensor([4.0, 1, 1, 1])).tolist() == [0, 0]
    # two rows of equal weight: half way; duplicates add up; no weight at all counts as equal
    assert geometric(corners[:2], ones[:2]).tolist() == pytest.approx([0.5, 0])
    assert geometric(torch.tensor([[0.0], [0.0], [3.0]]), ones[:3]).tolist() == [0]
    assert geometric(corners, torch.zeros(4)).tolist() == pytest.approx([0.5, 0.5])


@given(seed=st.integers(0, 200))
def test_no_other_point_is_nearer_to_all(seed):
    rng = np.random.default_rng(seed)
    points = torch.tensor(rng.standard_normal((6, 3)), dtype=torch.float32)
    weight = torch.tensor(rng.integers(1, 9, 6), dtype=torch.float32)

    def cost(m):
        return float((weight * (points - m).norm(dim=1)).sum())

    best = geometric(points, weight)
    for _ in range(20):
        step = torch.tensor(0.05 * rng.standard_normal(3), dtype=torch.float32)
        assert cost(best) <= cost(best + step) + 1e-5


def test_counts_weigh_in_the_geometric_median_only_if_they_weigh_at_all():
    up = one_class([9, 1, 1], [[1.0, 0], [0, 1.0], [0, 0.9]])
    by_count, alike = (
        robust_mean(up, Settings(defence="geometric", count_weights=on)) for on in (True, False)
    )
    assert by_count.tolist() == [[1, 0]]
    assert alike[0, 1] > 0.8


def test_a_median_of_zeros_does_not_lose_the_class():
    up = one_class([1, 1, 1], [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    found = estimate(up, Settings(defence="median"))
    assert found.prototypes[0].tolist() == pytest.approx([3**-0.5] * 3)


# consensus -----------------------------------------------------------------------------------


def world(liars=(), clients=7, classes=3, shift=1, seed=0):
    """Every client holds every class, the liars under the wrong names."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(clients):
        for c in range(classes):
            p = np.eye(classes, 6)[c] * 0.8 + 0.05 * rng.standard_normal(6)
            named = (c + shift) % classes if k in liars else c
            rows.append((k, named, int(rng.integers(2, 9)), p.tolist()))
    return sent(rows)


@pytest.mark.parametrize("liars", [(), (2,), (0, 3), (1, 5, 6)])
@pytest.mark.parametrize("shift", [1, 2])
def test_consensus_finds_who_calls_the_classes_by_other_names(liars, shift):
    up = world(liars, shift=shift)
    kept = consensus(up, median_cap(up), None)
    assert set(up.client[~kept].tolist()) == set(liars)


def test_votes_are_symmetric_and_have_the_right_sign():
    up = world((2,))
    found = votes(up, median_cap(up), None)
    assert torch.allclose(found, found.t())
    assert found.diagonal().abs().max() == 0
    honest = [k for k in range(7) if k != 2]
    assert (found[2, honest] < 0).all()
    assert all(found[i, j] > 0.5 for i in honest for j in honest if i != j)


def test_lies_about_counts_do_not_buy_votes():
    up = world((1, 5, 6))
    loud = up.replace(counts=torch.where(torch.isin(up.client, torch.tensor([1, 5, 6])), 10**6, 1))
    kept = consensus(loud, median_cap(loud), None)
    assert set(loud.client[~kept].tolist()) == {1, 5, 6}


def test_without_witnesses_nobody_is_judged():
    rows = [(k, k // 2, 5, np.eye(4)[(k + k % 2) // 2 % 4].tolist()) for k in range(8)]
    up = sent(rows)  # four classes with two holders each, which disagree
    assert consensus(up, median_cap(up), None).all()
    assert (trust(up, median_cap(up), None) >= 1).all()


def test_a_class_whose_holders_are_all_in_doubt_keeps_them():
    up = world((2,))
    only = sent(
        [
            (int(k), 3 if (k, c) == (2, 1) else int(c), int(n), p.tolist())
            for k, c, n, p in zip(up.client, up.label, up.counts, up.prototypes, strict=True)
        ]
    )
    kept = consensus(only, median_cap(only), None)
    assert only.label[kept & (only.client == 2)].tolist() == [3]


def test_consensus_leaves_out_the_liars_of_a_run_and_nobody_else():
    result = run(Settings(beta=1.0, attacker_count=3, defence="consensus"))
    assert set(result.attackers) == set(range(10)) - set(result.uploads.client.tolist())
    honest = run(Settings(beta=1.0, defence="consensus"))
    assert honest.uploads is honest.sent


# every defence -------------------------------------------------------------------------------


def test_without_a_defence_the_uploads_are_the_same_object():
    up = draw(0)
    assert defend(up, Settings(), None, (1, 2)) is up
    assert keep(up, torch.ones(len(up.client), dtype=torch.bool)) is up
    assert robust_mean(up, Settings()) is None
    result = run(Settings(dataset="karate", clients=3))
    assert result.uploads is result.sent


@pytest.mark.parametrize("defence", DEFENCES)
@given(seed=st.integers(0, 30), honest=st.booleans())
def test_no_defence_loses_a_class_or_makes_a_nan(defence, seed, honest):
    up = draw(seed, honest=honest)
    found = estimate(up, Settings(defence=defence), None, ())
    held = torch.zeros(up.classes, dtype=torch.bool)
    held[up.label] = True
    assert torch.equal(found.seen, held)
    assert torch.isfinite(found.prototypes).all()
    length = found.prototypes.norm(dim=1)
    assert torch.allclose(length, held.float(), atol=1e-5)


@pytest.mark.parametrize("defence", DEFENCES)
@given(seed=st.integers(0, 30))
def test_the_order_and_the_numbers_of_the_clients_do_not_matter(defence, seed):
    up = draw(seed)
    rng = np.random.default_rng(seed)
    renamed = torch.as_tensor(rng.permutation(up.clients))
    order = torch.as_tensor(rng.permutation(len(up.client)))
    other = up.replace(
        client=renamed[up.client][order],
        label=up.label[order],
        counts=up.counts[order],
        prototypes=up.prototypes[order],
    )
    settings = Settings(defence=defence)
    a = estimate(up, settings, None, (0,)).prototypes
    b = estimate(other, settings, None, (int(renamed[0]),)).prototypes
    assert torch.allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("defence", [d for d in DEFENCES if d != "oracle"])
def test_lone_holders_and_copies_are_left_as_they_are(defence):
    settings = Settings(defence=defence)
    lone = sent([(0, 0, 5, [0.6, 0.8]), (1, 1, 700, [1.0, 0])])
    assert torch.allclose(estimate(lone, settings).prototypes, torch.tensor([[0.6, 0.8], [1.0, 0]]))
    copies = one_class([3, 3, 900, 3], [[0.6, 0.8]] * 4)
    assert torch.allclose(estimate(copies, settings).prototypes, torch.tensor([[0.6, 0.8]]))
    single = sent([(0, 0, 2, [1.0, 0]), (0, 1, 9, [0, 1.0])])
    assert torch.equal(estimate(single, settings).prototypes, torch.eye(2))


@pytest.mark.parametrize("defence", DEFENCES)
def test_nothing_sent_and_nothing_counted(defence):
    settings = Settings(defence=defence)
    empty = keep(draw(0), torch.zeros(len(draw(0).client), dtype=torch.bool))
    found = estimate(empty, settings, random_graph(0), (1,))
    assert not found.seen.any()
    assert torch.isfinite(found.prototypes).all()
    uncounted = draw(1).replace(counts=torch.zeros_like(draw(1).counts))
    assert torch.isfinite(estimate(uncounted, settings).prototypes).all()


@pytest.mark.parametrize("defence", DEFENCES)
@pytest.mark.parametrize("liars", [0, 3])
def test_every_defence_runs_the_whole_line(defence, liars):
    settings = Settings(dataset="karate", clients=5, attacker_count=liars, defence=defence)
    result = run(settings)
    assert torch.isfinite(result.estimate.prototypes).all()
    assert 0 <= result.metrics.accuracy <= 1


# what is claimed -----------------------------------------------------------------------------


def test_small_tables_come_back_from_their_file(tmp_path):
    path = tmp_path / "made" / "attacks.csv"
    rows = list(table(["karate"], [1.0], [42]))
    assert len(rows) == 4 * len(SERVERS)
    store(rows, path)
    back = stored(path)
    assert [r.defence for r in back] == [r.defence for r in rows]
    for a, b in zip(rows, back, strict=True):
        assert b.accuracy == pytest.approx(a.accuracy, abs=1e-5)
        assert (a.recovered is None) == (b.recovered is None)
        assert replace(a, **dict.fromkeys(NUMBERS, 0)) == replace(b, **dict.fromkeys(NUMBERS, 0))
    assert stored(tmp_path / "absent.csv") == []


NUMBERS = ("clean", "undefended", "oracle", "accuracy", "std", "recovered", "clean_cost")


def test_the_stored_table_is_whole():
    rows = stored()
    assert STORED.exists()
    assert len(rows) == 4 * 2 * 4 * len(SERVERS)
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


def test_consensus_wins_back_half_of_the_gap_and_costs_at_most_a_point():
    rows = {_key(r): r for r in stored()}
    for dataset in ("Cora", "CiteSeer", "PubMed"):
        row = rows[(dataset, 1.0, "random", 1, "consensus")]
        assert row.recovered >= 0.5
        assert row.clean_cost <= 0.01


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
