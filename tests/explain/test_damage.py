"""What liars cost, in sentences, from rows given by hand."""

from spear_core.explain.damage import words
from spear_core.studies.damage import Defended


def row(defence, accuracy, recovered, clean_cost=0.0):
    return Defended(defence, accuracy, 0.5, recovered, 70.0 - clean_cost, clean_cost)


NONE, ORACLE = row("none", 40.0, 0.0), row("oracle", 60.0, 100.0)


def test_the_best_defence_is_named_with_its_cost():
    said = words([NONE, row("clip", 45.0, 25.0), row("cap", 50.5, 52.0, 4.0), ORACLE])
    assert said.startswith("Nobody lies: 70.0 %; undefended 40.0\u00a0±\u00a00.5 %; an oracle")
    assert "drops them reaches 60.0 %." in said
    assert "The best defence is cap on shares: 50.5\u00a0±\u00a00.5 %, 52 % of the gap" in said
    assert said.endswith("at a cost of 4.0 points when nobody lies.")


def test_no_defence_is_praised_that_does_not_help():
    none_better = "No defence here does better than none."
    assert words([NONE, ORACLE]).endswith(none_better)
    assert words([NONE, row("cap", 39.0, -5.0), ORACLE]).endswith(none_better)
    no_gap = [row(name, 50.0, None) for name in ("none", "cap", "oracle")]
    assert words(no_gap).endswith(none_better)
