"""The printed Byzantine table beside ours."""

import math
from collections.abc import Sequence

from spear_core.paper.measured import Measured
from spear_core.settings import PAPER_SEEDS


def beside_the_paper(rows: Sequence[Measured]) -> list[dict[str, object]]:
    """The printed Byzantine table and ours, cell by cell.

    "Not reproduced" is a printed mean of five seeds that lies further from ours than two standard
    errors of the difference of two such means.
    """
    out: list[dict[str, object]] = []
    for row in rows:
        mean, std, printed = row.mean, row.std, row.printed
        if row.table != "byzantine" or mean is None or std is None or printed is None:
            continue
        error = std * math.sqrt(1 / len(PAPER_SEEDS) + 1 / len(row.values.split()))
        out.append(
            {
                "variant": row.row,
                "graph": row.column.replace(" beta=", ", β = "),
                "printed": printed,
                "measured": f"{mean:.1f} ± {std:.1f}",
                "difference": round(mean - printed, 1),
                "two standard errors": round(2 * error, 1),
                "verdict": "not reproduced" if abs(mean - printed) > 2 * error else "agrees",
            }
        )
    return out
