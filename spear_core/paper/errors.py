"""The prototype errors of a run beside those that the paper prints."""

from typing import Any

from spear_core.measures.prototype_error import EVERY, TEST, class_errors
from spear_core.paper import printed
from spear_core.run import Result


def error_table(result: Result) -> dict[str, list]:
    """Mean errors over the classes in both readings, beside the printed ones, as text."""
    stages = ("local", "shrunk", "mean", "spear")
    table: dict[str, list] = {name: [] for name in ("", "local", "shrunk", "plain mean", "global")}

    def add(name: str, values: dict[str, Any], form: str = ".4f") -> None:
        cells = [format(values[s], form) if values.get(s) is not None else "–" for s in stages]
        for column, cell in zip(table.values(), [name, *cells], strict=True):
            column.append("0.0000" if cell in ("-0.0000", "+0.0000") else cell.replace("-", "−"))

    for reading, where, theirs in (
        (TEST, "main text", printed.errors_in_text()),
        (EVERY, "appendix", printed.errors()),
    ):
        errors = class_errors(result.estimate, result.metrics.centroids_of(reading))
        if not errors["class"]:
            continue
        ours = {stage: sum(errors[stage]) / len(errors["class"]) for stage in stages}
        add(f"here, {reading}", ours)
        if result.settings.dataset in theirs:
            row = theirs[result.settings.dataset]
            values = dict(zip(("local", "mean", "spear"), row, strict=True))
            add(f"printed, {where}", values)
            add("difference", {s: ours[s] - v for s, v in values.items() if v is not None}, "+.4f")
    return table
