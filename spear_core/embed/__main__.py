"""`python -m spear_core.embed`: fit the maps of the built-in graphs anew, into the cache.

With `--out spear_core/embed/shipped`, as `make maps` says, those that ship with the package: to be
done after a change of `keep.VERSION` or of the built-in graphs.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from spear_core.datasets import CATALOGUE, load
from spear_core.datasets.store import ready
from spear_core.embed import keep
from spear_core.embed.maps import fitted, preview
from spear_core.settings import defaults


def main(argv: Sequence[str] | None = None) -> None:
    """Write the maps of the built-in graphs at their default settings, in the place of older."""
    parser = argparse.ArgumentParser(description="Fit the maps of the built-in graphs.")
    parser.add_argument("--out", type=Path, metavar="FOLDER", default=keep.folders()[1])
    folder = parser.parse_args(argv).out
    ready(folder)
    for name in (entry.name for entry in CATALOGUE.values() if entry.map):
        s = defaults(name)
        made = fitted(preview(load(s), s.alpha, s.steps), lambda sentence, fraction: None)
        path = folder / keep.file_name(load(s), made.key)
        if folder.resolve() == keep.SHIPPED.resolve():  # one map a graph ships
            for old in folder.glob(f"{name}-*.npz"):
                old.unlink()
        keep.write(path, made.xy, made.lengths, made.hollow_below)
        path.chmod(0o644)
        print(path)


if __name__ == "__main__":
    main()
