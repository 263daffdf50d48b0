"""What keeps LANCE from losing to SPEAR: round features and uneven classes."""

from dataclasses import replace
from statistics import mean

import pytest
import torch

from spear_core import Settings, estimate, run, split, upload
from spear_core.datasets import load
from spear_core.lance import lance
from spear_core.lance.ridge import LEVEL, ROUNDEST, roundness

ROUND = Settings(dataset="synthetic")


def of(rows):
    """How round the scatter of rows is that are all known."""
    return roundness((rows @ rows.t()).double(), 0.0, len(rows), len(rows), rows.shape[1])


def test_a_cloud_is_round_and_a_line_is_not():
    drawn = torch.Generator().manual_seed(0)
    cloud = torch.randn(100, 300, generator=drawn)
    line = cloud.clone()
    line[:, 0] *= 50
    assert of(cloud) > 0.95
    assert of(line) < 0.05
    assert of(cloud[:1]) == ROUNDEST  # one row tells no direction from another
    assert of(torch.zeros(3, 5)) == ROUNDEST


def test_what_no_sketch_says_is_taken_for_round():
    gram = torch.eye(4, dtype=torch.float64)
    told = roundness(gram, 0.0, 4, 50.0, 40)
    assert roundness(gram, 46.0, 4, 50.0, 40) > told


@pytest.mark.parametrize("rank", [8.0, 32.0])
def test_sketches_of_round_features_teach_no_chance(rank):
    seeds = [replace(ROUND, seed=seed) for seed in (42, 0)]
    ours = [replace(lance(s), sketch=rank, sketch_cap=False) for s in seeds]
    reached = [mean(100 * run(s).metrics.accuracy for s in each) for each in (seeds, ours)]
    assert reached[1] > reached[0] - 1


def test_a_larger_penalty_leaves_w_what_it_explains():
    s = replace(lance(ROUND), sketch=32.0, sketch_cap=False)
    made = estimate(upload(split(load(s), s), s), s).ridge
    assert made.grown > 1
    assert torch.isfinite(made.w).all()


def test_scores_are_levelled_by_the_shares():
    s = lance(Settings(dataset="digits"))
    head = run(s).estimate.ridge
    assert torch.allclose(head.lift, head.prior**-LEVEL)
    assert torch.allclose(head.weights, head.w / head.prior**LEVEL)
    absent = replace(head, prior=torch.tensor([0.0, 1.0]).double())
    assert absent.lift.tolist() == [0.0, 1.0]  # and scores -inf besides
