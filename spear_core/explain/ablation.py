"""What carries the gain, in sentences that never say more than the ablation's numbers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spear_core.paper.printed import row
from spear_core.settings import defaults, equation
from spear_core.studies.ablation import ALL, NAMES, NONE, SWITCHES, Ablation, Effect


def words(found: Ablation) -> list[str]:
    """What carries the gain on this dataset, in sentences."""
    return [*_notes(found), _gain(found), *_shares(found), *_shrinkage(found), *_printed(found)]


def _notes(found: Ablation) -> list[str]:
    s, notes = found.settings, []
    if s.alpha == 0 or s.steps == 0:
        notes.append("With α = 0 or T = 0 nothing is smoothed, so that switch does nothing.")
    if np.isinf(s.gamma):
        notes.append("With γ = ∞ nothing is shrunk, so that switch does nothing.")
    return notes


def _gain(found: Ablation) -> str:
    gain = found.effect(ALL, NONE)
    low, high = found.accuracy(NONE), found.accuracy(ALL)
    ends = f"From the plain mean of raw features, {low} %, to SPEAR, {high} %, "
    ends += f"accuracy changes by {gain} points"
    return ends + ("." if gain.verdict in ("up", "down") else f": {_call(gain)}.")


def _shares(found: Ablation) -> list[str]:
    """Who leads by main effects, and what the switches other than shrinkage give."""
    effects = {switch: found.main(switch) for switch in SWITCHES}
    first, second, _ = sorted(SWITCHES, key=lambda switch: -effects[switch].mean)
    said, lead = [], effects[first]
    if found.effect(ALL, NONE).verdict == "up" and lead.verdict == "up":
        ahead = found.as_effect(lead.each - effects[second].each)
        many = first == "count weights"
        where = f"{lead} points on average over the other two switches"
        if ahead.verdict == "up" and lead.mean > found.effect(ALL, NONE).mean / 2:
            said.append(f"{_upper(first)} {'carry' if many else 'carries'} most of it: {where}.")
        elif ahead.verdict == "up":
            said.append(f"{_upper(first)} {'give' if many else 'gives'} most: {where}.")
        else:
            short = "within the spread" if "within" in ahead.verdict else "not with every seed"
            said.append(
                f"{_upper(first)} {'lead' if many else 'leads'}: {where}; "
                f"that is {ahead} ahead of {second}, but {short}."
            )
    for switch in ("count weights", "smoothing"):
        if not said or switch != first:
            effect = effects[switch]
            said.append(f"{_upper(switch)}: {effect} points on average, {_call(effect)}.")
    return said


def _shrinkage(found: Ablation) -> list[str]:
    """Shrinkage as the method uses it, and without the count weights."""
    inside, without = found.removed("shrinkage"), found.effect((1, 1, 0), (1, 0, 0))
    said = (
        f"Shrinkage: with count weights on, as in SPEAR, it changes accuracy by {inside} "
        f"points, {_call(inside)}. Without count weights it is {without} points, "
        f"{_call(without)}."
    )
    if without.verdict == "up" and found.settings.peers == "mean":
        said += " It then does part of their work, as it too takes weight from small n."
    return [said]


def _printed(found: Ablation) -> list[str]:
    """Which cell the paper's row fits, where its settings are the present ones."""
    s = found.settings
    theirs = row("ablation", "without shrinkage").get(s.dataset)
    if theirs is None or s != replace(defaults(s.dataset), seed=s.seed):
        return []
    cells = {cell: float(found.cells[cell].mean()) for cell in ((1, 0, 0), (1, 0, 1))}
    near = min(cells, key=lambda cell: abs(cells[cell] - theirs))
    return [
        f"The paper prints {theirs:.2f} % without shrinkage; of the two cells "
        f"without it that is nearer to the {NAMES[near]} ({cells[near]:.1f} %), "
        f"{'where count weights are off too' if near == (1, 0, 0) else 'count weights kept'}."
    ]


def gamma_words(gammas: Sequence[float], curve: np.ndarray, now: float) -> str:
    """How far accuracy moves over γ with one seed, (G), and how flat the curve is from `now` on."""
    low, high = int(curve.argmin()), int(curve.argmax())
    worst, best, here = (equation("gamma", g) for g in (gammas[low], gammas[high], now))
    later = curve[[i for i, g in enumerate(gammas) if g >= now]]
    return (
        f"With this seed accuracy runs from {curve[low]:.1f} % at {worst} to "
        f"{curve[high]:.1f} % at {best}. From the present {here} to no shrinkage at all it moves "
        f"by {later.max() - later.min():.1f} points."
    )


def _call(effect: Effect) -> str:
    """The verdict in words."""
    spread = f"{effect.spread:.1f}"
    return {
        "none": "no change at all",
        "within the spread": f"within the spread over seeds ({spread})",
        "not with every seed": f"above the spread ({spread}), but not with every seed",
        "up": f"a gain above the spread ({spread})",
        "down": f"a loss above the spread ({spread})",
    }[effect.verdict]


def _upper(words: str) -> str:
    return words[0].upper() + words[1:]
