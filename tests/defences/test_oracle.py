"""The oracle leaves out the liars and nobody else."""

from spear_core import Settings, estimate
from spear_core.defences import defend
from tests.defences.made import draw, sent


def test_the_oracle_drops_the_liars_and_nobody_else():
    up, settings = draw(1), Settings(defence="oracle")
    kept = defend(up, settings, None, (1, 4))
    assert set(kept.client.tolist()) == set(up.client.tolist()) - {1, 4}
    assert defend(up, settings, None, ()) is up


def test_only_under_the_oracle_a_class_can_be_lost():
    up = sent([(0, 0, 3, [1.0, 0]), (1, 1, 3, [0, 1.0])])
    assert estimate(up, Settings(defence="oracle"), None, (1,)).seen.tolist() == [True, False]
