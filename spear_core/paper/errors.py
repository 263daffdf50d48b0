"""The prototype errors of a run beside those that the paper prints."""

from typing import Any

from spear_core.measures.prototype_error import EVERY, TEST, class_errors
from spear_core.run import Result

# mean cosine distances to the centroids: local, plain mean, global
PRINTED: dict[str, tuple[float, float, float]] = {
    "Texas": (0.376, 0.206, 0.039),
    "Actor": (0.149, 0.109, 0.002),
    "Cora": (0.327, 0.248, 0.158),
    "Coauthor-CS": (0.259, 0.199, 0.024),
    "WikiCS": (0.011, 0.008, 0.000),
    "ogbn-arxiv": (0.141, 0.105, 0.000),
}
# the paper's main text, which fits the test nodes; it prints no plain mean
PRINTED_TEXT: dict[str, tuple[float, None, float]] = {"Cora": (0.3217, None, 0.1997)}


def error_table(result: Result) -> dict[str, list]:
    """Mean errors over the classes in both readings, beside the printed ones, as text."""
    stages = ("local", "shrunk", "mean", "spear")
    table: dict[str, list] = {name: [] for name in ("", "local", "shrunk", "plain mean", "global")}

    def add(name: str, values: dict[str, Any], form: str = ".4f") -> None:
        cells = [format(values[s], form) if values.get(s) is not None else "–" for s in stages]
        for column, cell in zip(table.values(), [name, *cells], strict=True):
            column.append("0.0000" if cell in ("-0.0000", "+0.0000") else cell.replace("-", "−"))

    for reading, where, printed in (
        (TEST, "main text", PRINTED_TEXT),
        (EVERY, "appendix", PRINTED),
    ):
        errors = class_errors(result.estimate, result.metrics.centroids_of(reading))
        if not errors["class"]:
            continue
        ours = {stage: sum(errors[stage]) / len(errors["class"]) for stage in stages}
        add(f"here, {reading}", ours)
        if result.settings.dataset in printed:
            row = printed[result.settings.dataset]
            theirs = dict(zip(("local", "mean", "spear"), row, strict=True))
            add(f"printed, {where}", theirs)
            add("difference", {s: ours[s] - v for s, v in theirs.items() if v is not None}, "+.4f")
    return table
