"""What noise costs and what smoothing repairs, in sentences, from accuracies given by hand."""

import numpy as np
import pytest

from spear_core import Settings
from spear_core.explain.noise_curve import words
from spear_core.measures.spread import signed_spread
from spear_core.studies.noise_curve import Curve


def curve(gain_under_noise, knob="feature_noise", values=(0.0, 0.9), alpha=0.15):
    """Two runs: smoothing gives 2 ± 1 points without noise, and so much at the strongest."""
    clean, noisy = np.array([80.0, 82.0]), np.array([60.0, 62.0])
    raw = [clean - np.array([1.0, 3.0]), noisy - gain_under_noise]
    both = np.array([clean, noisy]), np.array(raw)
    if values[0] != 0:  # the value without noise stands last
        both = both[0][::-1], both[1][::-1]
    return Curve(Settings(alpha=alpha), knob, values, *both)


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        ([6.0, 8.0], "+5.0 ± 0.0, so it repairs part of the damage."),
        ([0.0, 2.0], "−1.0 ± 0.0, so it is worth less under this noise."),
        ([3.0, 1.0], "+0.0 ± 2.0, within the spread."),
    ],
)
def test_whether_smoothing_repairs_is_told_run_by_run(gain, said):
    text = words(curve(np.array(gain))).replace("\u00a0", " ")
    assert text.startswith("From η = 0 to η = 0.9 accuracy changes by −20.0 ± 0.0 points, to 61")
    assert "Smoothing with α = 0.15 gives +2.0 ± 1.0 points at η = 0 and " in text
    assert text.endswith(f" at η = 0.9: {said}")


def test_without_smoothing_both_curves_are_one():
    assert words(curve(0.0, alpha=0.0)).endswith("Smoothing is off, so both curves are one.")


def test_fewest_labels_are_the_strongest_noise():
    text = words(curve(np.array([6.0, 8.0]), "labels_per_class", (1, 0)))
    assert "−20.0" in text
    assert "to 61.0 %." in text


def test_a_minus_is_a_minus():
    assert signed_spread(np.array([-1.0, -3.0])) == "−2.0\u00a0±\u00a01.0"
