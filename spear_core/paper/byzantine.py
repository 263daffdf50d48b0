"""The printed Byzantine table beside ours."""

from collections.abc import Sequence

from spear_core.measures.spread import with_spread
from spear_core.paper.measured import AGREES, Measured


def beside_the_paper(rows: Sequence[Measured]) -> list[dict[str, object]]:
    """The printed Byzantine table and ours, cell by cell.

    "Not reproduced" is a printed figure further from our mean than two of its standard errors
    over seeds, or than 3 points.
    """
    return [
        {
            "variant": row.row,
            "graph": row.column.replace(" beta=", ", β = "),
            "printed": row.printed,
            "measured": with_spread(row.mean, row.std or 0),
            "difference": round(row.mean - row.printed, 1),
            "two standard errors": round(2 * row.error, 1),
            "verdict": "agrees" if row.mark == AGREES else "not reproduced",
        }
        for row in rows
        if row.table == "byzantine" and row.mean is not None and row.printed is not None
    ]
