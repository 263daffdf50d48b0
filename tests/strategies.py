"""What hypothesis draws settings from: any number that their fields allow."""

import math
from dataclasses import fields
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st

from spear_core import Settings

# the first counterexample is enough: to make twelve numbers simple takes minutes
unshrunk = settings(phases=(Phase.explicit, Phase.reuse, Phase.generate))


def any_settings(**others: Any) -> st.SearchStrategy[Settings]:
    """Settings whose every real number is any float that a link may have."""
    reals = {f.name: _within(f.metadata) for f in fields(Settings) if f.type is float}
    return st.builds(Settings, **reals | others)


def _within(rule: Any) -> st.SearchStrategy[float]:
    if rule.get("whole"):
        return st.integers(int(rule["low"]), int(rule["high"])).map(float) | st.just(math.inf)
    low, high = rule.get("low", rule.get("above")), rule.get("high", rule.get("below"))
    some = st.floats(
        low,
        rule.get("link_high", high),
        exclude_min="above" in rule,
        exclude_max="below" in rule,
    )
    return some | st.just(math.inf) if rule.get("infinite") else some
