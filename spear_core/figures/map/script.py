"""The map's own script and style as one module each, for whichever host shows it."""

from importlib.resources import files

_FILES = files("spear_core.figures.map")
SCRIPT = "\n".join(
    _FILES.joinpath(n).read_text(encoding="utf-8") for n in ("nodes.js", "livemap.js")
)
STYLE = _FILES.joinpath("livemap.css").read_text(encoding="utf-8")
