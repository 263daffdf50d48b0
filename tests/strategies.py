"""What hypothesis draws settings from: any number that their fields allow."""

from dataclasses import fields
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st

from spear_core import Settings

# the first counterexample is enough: to make twelve numbers simple takes minutes
unshrunk = settings(phases=(Phase.explicit, Phase.reuse, Phase.generate))


def any_settings(**others: Any) -> st.SearchStrategy[Settings]:
    """Settings whose every real number is any float within its limits."""
    reals = {f.name: _within(f.metadata) for f in fields(Settings) if f.type is float}
    return st.builds(Settings, **reals | others)


def _within(rule: Any) -> st.SearchStrategy[float]:
    low, high = rule.get("low", rule.get("above")), rule.get("high", rule.get("below"))
    return st.floats(
        low,
        high,
        exclude_min="above" in rule,
        exclude_max="below" in rule,
        allow_nan=False,
        allow_infinity=bool(rule.get("infinite")),
    )
