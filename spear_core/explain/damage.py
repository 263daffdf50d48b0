"""What liars cost and what a defence gets back, in sentences."""

from collections.abc import Sequence

from spear_core.defences import DEFENCES
from spear_core.measures.spread import with_spread
from spear_core.studies.damage import ORACLE, UNDEFENDED, Defended


def words(rows: Sequence[Defended]) -> str:
    """What the comparison shows, in two sentences: with the liars, and under the best defence."""
    found = {row.defence: row for row in rows}
    none, oracle = found[UNDEFENDED], found[ORACLE]
    said = (
        f"Nobody lies: {none.clean:.1f} %; undefended {with_spread(none.accuracy, none.std)} %; "
        f"an oracle that knows the liars and drops them reaches {oracle.accuracy:.1f} %."
    )
    others = [row for row in rows if row.defence not in (UNDEFENDED, ORACLE)]
    best = max(others, key=lambda row: row.accuracy, default=none)
    if best.recovered is None or best.accuracy <= none.accuracy:
        return f"{said} No defence here does better than none."
    return (
        f"{said} The best defence is {DEFENCES[best.defence].words}: "
        f"{with_spread(best.accuracy, best.std)} %, {best.recovered:.0f} % of the gap to the "
        f"oracle, at a cost of {best.clean_cost:.1f} points when nobody lies."
    )
