"""What privacy costs, in sentences."""

from spear_core.measures.spread import with_spread
from spear_core.studies.privacy_cost import Cost

STRONG = 1.0  # an ε that is usually called private


def words(cost: Cost) -> list[str]:
    """What the curve over ε says, a list of sentences."""
    said = [
        f"Without noise {with_spread(cost.exact.mean(), cost.exact.std())} % "
        f"({len(cost.exact)} seeds)."
    ]
    near = [e for e, m in zip(cost.epsilons, cost.mean, strict=True) if _lost(cost, m) <= 1]
    if near:
        said.append(f"The smallest ε here that costs at most 1 point is {min(near):g}.")
    else:
        said.append(f"Even ε = {max(cost.epsilons):g} costs more than 1 point.")
    if STRONG in cost.epsilons:
        said.append(_strong(cost, cost.epsilons.index(STRONG)))
    return said


def _strong(cost: Cost, i: int) -> str:
    """What is left at an ε that is usually called private."""
    mean, std = cost.mean[i], cost.std[i]
    reached = f"At ε = {STRONG:g} accuracy is {with_spread(mean, std)} %"
    if mean - std <= cost.constant:
        return (
            f"{reached}, no better than always naming the largest class "
            f"({cost.constant:.1f} %): privacy costs everything here."
        )
    return f"{reached}, {_lost(cost, mean):.1f} points less than without noise."


def _lost(cost: Cost, accuracy: float) -> float:
    """Points less than without noise."""
    return float(cost.exact.mean() - accuracy)
