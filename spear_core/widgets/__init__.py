"""The explorer in a notebook cell, and maps alone: the same live map as the pages'.

`explore(Settings(dataset="Cora"))` as the last line of a cell is the explorer; `live_map(result)`
is a map, `live_map(a, b)` two of them side by side. In JupyterLab and Notebook 7.
"""

from importlib.util import find_spec

from spear_core.errors import LibraryMissing

if not (find_spec("anywidget") and find_spec("ipywidgets")):
    raise LibraryMissing(
        "The explorer in a notebook needs anywidget and ipywidgets; say "
        'pip install "spear-explorer[notebook]".'
    )

from spear_core.widgets.explorer import Explorer, explore
from spear_core.widgets.maps import LiveMaps, live_map

__all__ = ["Explorer", "LiveMaps", "explore", "live_map"]
