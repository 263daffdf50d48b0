"""The pictures of the page Shrink in Python, for a download of its view."""

from collections.abc import Sequence

from spear_core.fields import exact

CHECKED = """from spear_core.figures import theory
from spear_core.studies.risk_check import check
theory."""
SIMULATED = """from spear_core.figures import theory
from spear_core.studies.risk import simulate
"""


def lines_over_gamma(gammas: Sequence[float], band: bool, pinned: bool) -> str:
    """Accuracy over γ, with the band of five seeds and the pinned curve where there are any."""
    values = ", ".join(map(exact, gammas)).replace("inf", 'float("inf")')
    lines = ["from spear_core.studies.ablation import gamma_curve", f"gammas = [{values}]"]
    lines += ["mine, more = gamma_curve(s, gammas, [s.seed])[0], {}"]
    if band:
        lines += ["from spear_core import PAPER_SEEDS"]
        lines += ['more["band"] = gamma_curve(s, gammas, PAPER_SEEDS)']
    if pinned:
        one = "pinned.settings, gammas, [pinned.settings.seed]"
        lines += [f'more["pinned"] = gamma_curve({one})[0]']
    lines += ["here = (s.gamma, 100 * r.metrics.accuracy)"]
    return "\n".join([*lines, "draw.accuracy_over_gamma(gammas, mine, here, **more)"])
