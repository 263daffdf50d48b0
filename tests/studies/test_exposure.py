"""What an upload gives away, and what noise hides."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Settings, run
from spear_core.studies.exposure import exposure, roc_area


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
)
def test_roc_area_by_counting_pairs(members, others):
    pairs = [(m > o) + 0.5 * (m == o) for m in members for o in others]
    area = roc_area(np.array(members, float), np.array(others, float))
    assert area == pytest.approx(sum(pairs) / len(pairs))


def test_a_lone_node_is_sent_as_it_is():
    """α = 0 and n = 1: the upload is the node, so it is found and told from all others."""
    result = run(Settings(alpha=0))
    seen = exposure(result)
    counts = result.partition.train_counts
    assert len(seen.counts) == int((counts > 0).sum())
    assert seen.alone.sum() == 2
    assert seen.cosine[seen.alone] == pytest.approx([1, 1], abs=1e-6)
    assert seen.found[seen.alone].all()
    assert seen.auc[seen.alone].tolist() == pytest.approx([1, np.nan], nan_ok=True)  # no others
    for i in np.flatnonzero(seen.alone):
        node = int(seen.nearest[i])
        assert int(result.partition.owner[node]) == seen.client[i]
        assert int(result.graph.y[node]) == seen.label[i]
        assert bool(result.graph.train[node])


def test_noise_hides_lone_nodes_and_members():
    s = Settings()
    plain = exposure(run(s))
    noisy = [exposure(run(replace(s, epsilon=1, draw=d))) for d in range(8)]
    assert plain.membership > 0.56
    assert np.mean([one.membership for one in noisy]) == pytest.approx(0.5, abs=0.04)
    assert np.mean([one.auc[one.alone][0] for one in noisy]) == pytest.approx(0.5, abs=0.25)
    assert sum(one.found[one.alone].sum() for one in noisy) <= 2  # of 16
