"""`python -m spear_core.embed`: fit the maps that ship with the package anew.

To be run after a change of `keep.VERSION` or of the built-in graphs.
"""

from pathlib import Path

from spear_core.datasets import CATALOGUE, load
from spear_core.embed import keep
from spear_core.embed.maps import fitted, preview
from spear_core.settings import defaults


def ship() -> list[Path]:
    """Write the maps of the built-in graphs at their default settings to the shipped folder."""
    written = []
    for name in (entry.name for entry in CATALOGUE.values() if entry.map):
        s = defaults(name)
        for old in keep.SHIPPED.glob(f"{name}-*.npz"):
            old.unlink()
        made = fitted(preview(load(s), s.alpha, s.steps), lambda sentence, fraction: None)
        written.append(keep.SHIPPED / keep.file_name(load(s), made.key))
        keep.write(written[-1], made.xy, made.lengths, made.hollow_below)
        written[-1].chmod(0o644)
    return written


if __name__ == "__main__":
    for path in ship():
        print(path)
