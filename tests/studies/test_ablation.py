"""The 2 × 2 × 2 ablation, and that its words never say more than its numbers."""

from dataclasses import replace

import numpy as np
import pytest

from spear_core import PAPER_SEEDS, Settings, grid, run
from spear_core.explain.ablation import gamma_words, words
from spear_core.studies.ablation import (
    ALL,
    CELLS,
    NONE,
    SWITCHES,
    Ablation,
    Effect,
    ablation,
    cell_settings,
    gamma_curve,
)
from tests.conftest import need


def made(effects, noise=0.0, **changes):
    """Cells to which each switch adds its effect, with noise over five seeds."""
    cells = np.full((2, 2, 2, 5), 50.0)
    for cell in CELLS:
        cells[cell] += sum(e for e, on in zip(effects, cell, strict=True) if on)
        cells[cell] += noise * np.array([-2, -1, 0, 1, 2]) * (1 if cell == ALL else 0)
    return Ablation(Settings(**changes), PAPER_SEEDS, cells)


def test_effects_by_hand():
    found = made((1.0, -2.0, 8.0))
    for switch, expected in zip(SWITCHES, (1.0, -2.0, 8.0), strict=True):
        for kind in (found.main, found.alone, found.removed):
            assert kind(switch).mean == pytest.approx(expected)
            assert kind(switch).std == 0
    assert found.effect(ALL, NONE).mean == pytest.approx(7.0)


def test_the_gain_is_the_main_effects_and_what_all_three_add_together():
    rng = np.random.default_rng(0)
    found = Ablation(Settings(), PAPER_SEEDS, rng.random((2, 2, 2, 5)))
    sign = {cell: (-1) ** (3 - sum(cell)) for cell in CELLS}
    together = sum(sign[c] * found.cells[c] for c in CELLS).mean() / 4
    mains = sum(found.main(s).mean for s in SWITCHES)
    assert found.effect(ALL, NONE).mean == pytest.approx(mains + together)


@pytest.mark.parametrize(
    ("each", "spread", "verdict"),
    [
        ([0.0] * 5, 0.0, "none"),
        ([0.0] * 5, 1.0, "none"),
        ([0.3] * 5, 0.4, "within the spread"),
        ([0.4] * 5, 0.4, "within the spread"),
        ([-0.3] * 5, 0.4, "within the spread"),
        ([0.5] * 5, 0.4, "up"),
        ([-0.5] * 5, 0.4, "down"),
        ([3, 3, 3, 3, -0.1], 0.0, "not with every seed"),
        ([3, 3, 3, 3, 0.0], 0.0, "not with every seed"),
        ([5, -5, 5, -5, 1], 0.0, "within the spread"),
    ],
)
def test_verdicts(each, spread, verdict):
    assert Effect(np.array(each, dtype=float), spread).verdict == verdict


def test_words_name_what_carries_the_gain():
    said = " ".join(words(made((1.0, 0.0, 8.0))))
    assert "Count weights carry most of it: +8.0" in said
    assert "Smoothing: +1.0\u00a0±\u00a00.0 points on average, a gain" in said
    assert "shrinkage" not in said.split("Shrinkage:")[0]
    assert "points, no change at all" in said


def test_words_do_not_claim_what_is_within_the_spread():
    said = " ".join(words(made((0.2, 0.2, 0.2), noise=1.0)))
    assert "carr" not in said
    assert "lead" not in said
    assert "gain above" not in said
    assert said.count("within the spread") >= 4


def test_a_narrow_lead_is_called_one():
    found = made((3.0, 0.0, 4.0), noise=0.8)  # the method's spread is 1.13, the lead 1.00
    said = " ".join(words(found))
    assert "Count weights lead: " in said
    assert "ahead of smoothing, but within the spread" in said


def test_losses_and_switches_that_do_nothing_are_said():
    said = " ".join(words(made((-4.0, 0.0, 9.0), alpha=0.0, gamma="inf")))
    assert "Smoothing: −4.0" in said
    assert "a loss above the spread" in said
    assert "With α = 0 or T = 0 nothing is smoothed" in said
    assert "With γ = ∞ nothing is shrunk" in said


def test_the_reason_is_given_only_where_shrinkage_gains_without_counts():
    cells = np.full((2, 2, 2, 5), 60.0)
    cells[:, 0, 0] = 50.0  # neither shrinkage nor counts
    said = words(Ablation(Settings(), PAPER_SEEDS, cells))
    assert "part of their work" in said[-1]
    assert "part of their work" not in " ".join(words(made((1.0, 0.0, 8.0))))


def test_cells_equal_single_runs():
    settings = Settings(dataset="karate", clients=3, shrinkage=False, count_weights=False)
    found = ablation(settings, seeds=(42, 7))
    for cell in CELLS:
        for i, seed in enumerate((42, 7)):
            alpha = 0.15 if cell[0] else 0.0
            one = Settings(
                dataset="karate",
                clients=3,
                seed=seed,
                alpha=alpha,
                shrinkage=bool(cell[1]),
                count_weights=bool(cell[2]),
            )
            assert cell_settings(replace(settings, seed=seed), cell) == one
            assert found.cells[(*cell, i)] == 100 * run(one).metrics.accuracy


def test_full_shrinkage_without_counts_is_the_plain_mean():
    found = ablation(Settings(gamma=0.0), seeds=(42, 0))  # every client hands all to its peers
    assert found.effect((1, 1, 0), (1, 0, 0)).verdict == "none"


def test_no_test_node_gives_nothing():
    assert ablation(Settings(), accuracy=lambda _: None) is None


def test_tables_have_every_cell_and_switch():
    found = made((1.0, 2.0, 3.0))
    assert [len(c) for c in found.cell_table().values()] == [8] * 5
    assert found.effect_table()["in SPEAR it is"] == ["a gain"] * 3
    assert found.cell_table()["which is"][-1] == "SPEAR"


def test_gamma_curve_equals_the_grid():
    gammas = (0.0, 0.1, 0.5, float("inf"))
    settings = Settings()
    curve = gamma_curve(settings, gammas, seeds=(42, 0))
    expected = grid(settings, [settings.alpha], gammas, [settings.steps]).accuracy[0, :, 0]
    assert curve[0] / 100 == pytest.approx(expected.numpy())
    assert curve[1, 2] == 100 * run(replace(settings, seed=0)).metrics.accuracy
    said = gamma_words(gammas, np.array([60.0, 80.0, 79.0, 79.5]), 0.5)
    assert "from 60.0 % at γ = 0 to 80.0 % at γ = 0.1" in said
    assert "moves by 0.5 points" in said
    assert "γ = ∞" in gamma_words(gammas, np.array([60.0, 61.0, 62.0, 63.0]), 0.5)


def test_cora_equals_the_protocol():
    need("Cora")
    found = ablation(Settings(dataset="Cora"))
    means = {cell: round(float(found.cells[cell].mean()), 2) for cell in CELLS}
    assert means[ALL] == 63.08
    assert found.cells[ALL].std() == pytest.approx(0.45, abs=0.005)
    assert means[(0, 1, 1)] == 59.14
    assert means[(0, 0, 1)] == 59.70
    assert means[(1, 0, 1)] == 63.28
    assert round(means[(1, 0, 0)], 1) == 51.8
    assert found.removed("shrinkage").verdict == "within the spread"
    assert found.removed("count weights").verdict == "up"
    said = " ".join(words(found))
    assert "Count weights lead" in said
    assert "The paper prints 55.13 %" in said
    assert "where count weights are off too" in said
