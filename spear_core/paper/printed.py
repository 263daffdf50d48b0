"""The figures that the paper prints, read from one file: nothing of them is written elsewhere."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

REPORTED = Path(__file__).with_name("reported.json")


@lru_cache(maxsize=1)
def reported() -> dict[str, Any]:
    """The printed figures, table by table."""
    return json.loads(REPORTED.read_text())


def row(table: str, name: str) -> dict[str, float]:
    """One printed row, by column; what is not reported is left out.

    >>> row("ablation", "without shrinkage")["Cora"]
    55.13
    """
    made = reported()[table]
    cells = zip(made["columns"], made["rows"][name], strict=True)
    return {column: value for column, value in cells if isinstance(value, int | float)}


def claim(words: str) -> float:
    """A figure of the paper's running text, in percent."""
    return float(reported()["claims"][words])


def quoted(table: str) -> tuple[tuple[str, float, float], ...]:
    """What the text quotes of a curve whose points are drawn but not printed: (row, x, y)."""
    if table == "α curve":
        usual = row("main_accuracy", "SPEAR")["Cora"]
        cora, texas = claim("Cora alpha=0.80"), claim("Texas alpha>=0.30")
        return ("Cora", 0.8, cora), ("Cora", 0.15, usual), ("Texas", 0.3, texas)
    if table == "boundary":
        return (("Coauthor-CS", 1.0, claim("Coauthor-CS beta=1.0 SPEAR")),)
    return ()


def errors() -> dict[str, tuple[float, float, float]]:
    """Appendix: mean cosine distances to the centroids, local, plain mean and global."""
    return {name: tuple(values) for name, values in reported()["prototype_error"]["rows"].items()}


def errors_in_text() -> dict[str, tuple[float, None, float]]:
    """Main text, which fits the test nodes: local and global; it prints no plain mean."""
    said = reported()["prototype_error_main_text_cora"]
    return {"Cora": (said["local"], None, said["global"])}
