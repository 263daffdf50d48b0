"""The pictures of the page Noise in Python, for a download of its view."""

CURVE = """from spear_core.figures import noise as draw
from spear_core.studies.noise_curve import curve
"""
RULES = """from spear_core.figures import noise as draw
from spear_core.paper.perturbation import read
"""


def lines_over_rate(given: str, here: tuple[float, float] | None, pinned: bool) -> str:
    """Accuracy over a rate, with the present one and the pinned curve where there are any."""
    more = f", {here}" if here else ""
    more += f", pinned=curve(pinned.settings, {given})" if pinned else ""
    return f"{CURVE}found = curve(s, {given})\ndraw.over_rate(found{more})"
