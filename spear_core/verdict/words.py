"""A verdict in sentences: what to do, why, and how sure that is."""

from typing import TYPE_CHECKING

from spear_core.settings import equation

if TYPE_CHECKING:
    from spear_core.verdict import Estimate, Verdict

SMOOTHED = {
    "none": "no smoothing",
    "paper": "light smoothing",
    "middle": "smoothing",
    "strong": "strong smoothing",
    "far": "far smoothing",
    "gated": "smoothing where affinity asks for it",
}


def sentences(found: "Verdict") -> list[str]:
    """The recommendation first, then its reasons."""
    return [
        _recommendation(found),
        _training(found),
        _smoothing(found),
        _head(found),
        _shrinkage(found),
        _federation(found),
        *_warnings(found),
    ]


def _points(one: "Estimate") -> str:
    return f"{100 * one.value:+.1f} ± {200 * one.error:.1f} points"


def _recommendation(found: "Verdict") -> str:
    head, smoothing = found.best
    s, one = found.recommended, found.expected
    how = f"{equation('alpha', s.alpha)}, {equation('steps', s.steps)}"
    if smoothing == "gated":
        gated = f"{equation('alpha', s.gate_alpha)}, {equation('steps', s.gate_steps)}"
        how = f"{gated} where neighbours are alike, {how} elsewhere"
    expected = f"{100 * one.value:.0f} ± {200 * one.error:.0f}\u00a0%"
    guess = f"{100 * found.majority:.0f}\u00a0%"
    return (
        f"Take {head} with {SMOOTHED[smoothing]} ({how}): expect {expected} (guessing the largest "
        f"class: {guess}), by {found.left_out:,} training nodes left out in turn."
    )


def _training(found: "Verdict") -> str:
    gap = found.fedavg
    if gap is None or found.fedavg_accuracy is None:
        return (
            "Whether training would do better is not known before FedAvg is run: ask for its short "
            "live run."
        )
    side = "win" if gap.value > 0 else "lose"
    likely = (
        f"Training-free is likely to {side} by {abs(100 * gap.value):.0f} points"
        if gap.clear
        else "Training-free and FedAvg are not told apart"
    )
    return (
        f"{likely}: FedAvg reaches {100 * found.fedavg_accuracy.value:.0f} % in a short run of 20 "
        f"rounds ({_points(gap)}); more rounds may give it more."
    )


def _smoothing(found: "Verdict") -> str:
    if found.best[1] == "none":
        return "Smoothing does not help here: no point of the grid that smooths is clearly better."
    one = found.smoothing
    if not one.clear:
        return f"Smoothing matters little here ({_points(one)} against none)."
    return f"Smoothing {'helps' if one.value > 0 else 'harms'} here ({_points(one)} against none)."


def _head(found: "Verdict") -> str:
    one = found.head
    if not one.clear:
        return f"LANCE's regression and SPEAR's cosine are not told apart ({_points(one)})."
    better = "helps" if one.value > 0 else "harms"
    return f"LANCE's regression {better} ({_points(one)} against SPEAR's cosine)."


def _shrinkage(found: "Verdict") -> str:
    one = found.shrinkage
    if not one.clear:
        return f"Shrinkage does not matter ({_points(one)})."
    return f"Shrinkage {'helps' if one.value > 0 else 'harms'} ({_points(one)})."


def _federation(found: "Verdict") -> str:
    one = found.central
    if not one.clear:
        return f"Hardly anything is lost to the federation ({_points(one)} for one client alone)."
    if one.value > 0:
        return f"One client that held everything would have more ({_points(one)})."
    return (
        f"The clients have more than one that held everything ({_points(one)}): the draw by labels "
        "itself says what nodes are."
    )


def _warnings(found: "Verdict") -> list[str]:
    known = {fact.name: fact for fact in found.facts}
    said = []
    if alone := known["one_class_clients"].value:
        of = int(known["clients"].value or 0)
        said.append(f"{int(alone)} of {of} clients hold training nodes of one class alone.")
    if none := known["untrained_clients"].value:
        said.append(f"{int(none)} clients have no training node and send nothing.")
    if (known["largest_feature"].value or 0) > 0.5:
        said.append(f"Mind the scale: {known['largest_feature'].words}.")
    if known["classes_without_training"].value:
        said.append("A class without a training node is never predicted.")
    if found.left_out < 50:
        said.append(f"Only {found.left_out} nodes could be left out: all of this is uncertain.")
    return said
