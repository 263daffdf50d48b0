"""Colours for classes and clients that people with colour-blindness can tell apart."""

# Okabe and Ito's eight, with their black as a grey that shows on a dark page too
OKABE_ITO = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7"),
    *("#56B4E9", "#D55E00", "#F0E442", "#8C8C8C"),
)
_SHADES = (0.0, -0.35, 0.45, -0.18, 0.25)  # below 0 towards black, above 0 towards white

RIGHT, WRONG = OKABE_ITO[0], OKABE_ITO[5]


def class_colours(n: int) -> list[str]:
    """One colour for each of `n` classes; the first 40 all differ, then they come round again.

    Beyond eight the same hues return in another shade, so that neighbours always differ in hue.

    >>> class_colours(2)
    ['#0072B2', '#E69F00']
    """
    hues = len(OKABE_ITO)
    return [_shade(OKABE_ITO[i % hues], _SHADES[i // hues % len(_SHADES)]) for i in range(n)]


def _shade(colour: str, amount: float) -> str:
    goal = 255 if amount > 0 else 0
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(p + (goal - p) * abs(amount)):02X}" for p in parts)
