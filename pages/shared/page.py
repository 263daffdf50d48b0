"""What an entry of the table of pages is made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Choices = tuple[str, ...] | Callable[[], tuple[str, ...]]  # a call where a table may have grown


@dataclass(frozen=True)
class Notebook:
    """The notebook of a page, and what a download of the page's view says first."""

    name: str  # of the file in `notebooks/`, without its ending
    about: str
    formula: str  # LaTeX


@dataclass(frozen=True)
class Page:
    """One page."""

    script: str  # beside app.py; its name is the page's path in the address
    title: str
    group: str
    task: str  # what to do there, a sentence
    notebook: Notebook | None = None
    views: Mapping[str, Choices] = field(default_factory=dict)
    # what it shows beside the settings: parameter of the link -> choices, the first is the default
    idle: Mapping[str, str] = field(default_factory=dict)  # controls that do nothing there -> why

    @property
    def name(self) -> str:
        """The page's path in the address."""
        return Path(self.script).stem


def rivals() -> tuple[str, ...]:
    """The trained methods, read when they are wanted: a table of pages needs none of the engine."""
    from spear_core.baselines import METHODS

    first = "fedavg"  # what everybody knows, and quick
    return (first, *(name for name in METHODS if name != first))
