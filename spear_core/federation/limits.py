"""What a node allows, set by itself: how private its answers have to be, and how many it gives.

The server chooses ε, so a node that promised its people something has to hold the server to it.
The limits stand in the node's own config: max-epsilon, max-delta, max-answers and max-sketch.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spear_core.datasets.store import writing
from spear_core.errors import SpearError
from spear_core.settings import FIELDS, Settings

USUAL_DELTA = 1e-5  # of a node that names an ε only


def allow(config: Mapping[str, Any], path: Path, settings: Settings, what: str) -> None:
    """Count one more answer about the data at `path`, or raise the sentence why there is none.

    A node that limits ε without a number of answers gives one: the ε of several add up.
    """
    epsilon = _number(config, "max-epsilon", math.inf)
    delta = _number(config, "max-delta", USUAL_DELTA)
    if settings.epsilon > epsilon:
        raise SpearError(
            f"This node answers with an ε of at most {epsilon:g}; ask for that much privacy."
        )
    if epsilon < math.inf and settings.mechanism == "gaussian" and settings.delta > delta:
        raise SpearError(f"This node answers with a δ of at most {delta:g}; ask with a smaller δ.")
    most = _number(config, "max-answers", 1 if epsilon < math.inf else math.inf)
    if most < math.inf:
        line = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {what} ε {settings.epsilon:g}\n"
        _count(path.with_name(path.name + ".answers"), line, most)


def private(config: Mapping[str, Any], settings: Settings) -> bool:
    """Whether nothing exact may leave: the run says so, or the node does."""
    return min(settings.epsilon, _number(config, "max-epsilon", math.inf)) < math.inf


def limited(config: Mapping[str, Any], settings: Settings) -> Settings:
    """The settings with no more rows in a sketch than this node sends."""
    most = _number(config, "max-sketch", math.inf, least=0)
    if settings.sketch <= most:
        return settings
    return replace(settings, sketch=math.floor(min(most, FIELDS["sketch"].metadata["high"])))


def _count(ledger: Path, line: str, most: float) -> None:
    """Write a line for an answer before it is given, unless there are so many already.

    The file lies beside the data, so a node that starts again still knows what it has told.
    """
    import fcntl

    with writing(ledger.parent), ledger.open("a+", encoding="utf-8") as lines:
        fcntl.flock(lines, fcntl.LOCK_EX)  # two questions may come at once
        lines.seek(0)
        given = sum(1 for _ in lines)
        if given >= most:
            raise SpearError(f"This node has given its {given} answers; it gives no more.")
        lines.write(line)


def _number(
    config: Mapping[str, Any], name: str, usual: float, least: float = math.ulp(0.0)
) -> float:
    """A limit of the node's config; one that is not a number above 0 lets nothing pass."""
    value = config.get(name, usual)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
        wanted = "above 0" if least else "0 or above"
        raise SpearError(f"{name} in the config of this node must be a number {wanted}.")
    return float(value)
