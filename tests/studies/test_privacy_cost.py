"""What privacy costs, against single runs."""

import numpy as np
import pytest

from spear_core import Settings, run
from spear_core.studies.privacy_cost import privacy_cost


def test_cost_of_privacy():
    s = Settings(seed=7, epsilon=3)
    cost = privacy_cost(s, epsilons=(1.0, 1e9), seeds=(42, 0), draws=2)
    assert cost.noisy.shape == (2, 2, 2)
    exact = [100 * run(Settings(seed=seed)).metrics.accuracy for seed in (42, 0)]
    assert cost.exact.tolist() == pytest.approx(exact)
    assert cost.noisy[1] == pytest.approx(np.array([[e, e] for e in exact]))
    once = run(Settings(seed=0, epsilon=1, draw=1)).metrics.accuracy
    assert cost.noisy[0, 1, 1] == pytest.approx(100 * once)
    assert cost.constant == pytest.approx(11.6)
