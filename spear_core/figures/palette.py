"""Colours that people with colour-blindness can tell apart: of lines, classes and clients."""

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8A8A8A"
PINNED = "#CC79A7"  # the pinned run, on every figure
BLUE_BAND = "rgba(0,114,178,0.18)"  # behind a blue line

# Okabe and Ito's seven colours and three more, chosen so that any two of the ten are at least 15
# apart in CIELAB, also as an eye without green cones sees them, and show on a dark page as well
HUES = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442"),
    *("#9944FF", "#666622", "#FF9977"),
)
_SHADES = (0.0, -0.35, 0.45, 0.25)  # below 0 towards black, above 0 towards white
SYMBOLS = ("circle", "square", "triangle-up", "x")  # of dots, one for every ten classes

RIGHT, WRONG = HUES[0], HUES[5]


def class_colours(n: int) -> list[str]:
    """One colour for each of `n` classes; the first 40 all differ, then they come round again.

    Beyond ten the same hues return in another shade, and `class_symbols` has another shape.

    >>> class_colours(2)
    ['#0072B2', '#E69F00']
    """
    return [_shade(HUES[i % 10], _SHADES[i // 10 % len(_SHADES)]) for i in range(n)]


def class_symbols(n: int) -> list[str]:
    """The shape of the dots of each of `n` classes: ten circles, ten squares and so on.

    >>> class_symbols(12)[9:]
    ['circle', 'square', 'square']
    """
    return [SYMBOLS[i // 10 % len(SYMBOLS)] for i in range(n)]


def _shade(colour: str, amount: float) -> str:
    goal = 255 if amount > 0 else 0
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(p + (goal - p) * abs(amount)):02X}" for p in parts)
