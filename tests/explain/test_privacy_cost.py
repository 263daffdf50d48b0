"""What privacy costs, in sentences, from accuracies given by hand."""

import numpy as np

from spear_core import Settings
from spear_core.explain.privacy_cost import words
from spear_core.studies.privacy_cost import Cost


def cost(*means, epsilons=(1.0, 10.0, 100.0)):
    """Two seeds with two draws each, one point around the means; 80 ± 1 % without noise."""
    around = np.array([[-1.0, 1.0], [1.0, -1.0]])
    noisy = np.array(means)[:, None, None] + around
    return Cost(Settings(), epsilons, noisy, np.array([79.0, 81.0]), constant=12.0)


def test_the_smallest_epsilon_that_costs_little():
    assert words(cost(50.0, 79.0, 80.0)) == [
        "Without noise 80.0\u00a0±\u00a01.0 % (2 seeds).",
        "The smallest ε here that costs at most 1 point is 10.",
        "At ε = 1 accuracy is 50.0\u00a0±\u00a01.0 %, 30.0 points less than without noise.",
    ]


def test_privacy_may_cost_everything():
    said = words(cost(12.5, 40.0, 78.9))
    assert said[1] == "Even ε = 100 costs more than 1 point."
    assert "no better than always naming the largest class (12.0 %)" in said[2]
    assert said[2].endswith("privacy costs everything here.")


def test_nothing_is_said_about_an_epsilon_that_was_not_run():
    assert len(words(cost(50.0, 60.0, 80.0, epsilons=(3.0, 10.0, 100.0)))) == 2
