"""`Knobs`: what one method reads besides the settings that all share."""

from dataclasses import dataclass, fields

from spear_core.settings import _checked as checked
from spear_core.settings import _setting as setting

__all__ = ["Knobs", "checked", "setting"]


@dataclass(frozen=True)
class Knobs:
    """None at all. A method that has some declares them in a dataclass of this kind, in its file.

    A knob is an option of the command line, so no two methods may have one of the same name.
    """

    def __post_init__(self) -> None:
        for f in fields(self):
            value = checked(f.name, f.type, getattr(self, f.name), f.metadata)
            object.__setattr__(self, f.name, value)
