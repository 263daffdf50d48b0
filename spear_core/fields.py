"""What a setting is made of: its value, words, symbol, unit, format and limits, in one field.

`Settings` and the `Training` of the baselines are dataclasses of such fields. Whoever shows a
setting to people reads them: controls, charts, notebooks and the command line.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import Field, field, fields
from typing import Any

from spear_core.errors import SettingError


def plain(value: Any) -> str:
    """A value as it is written: ∞ for infinity, few digits, on or off for a switch.

    >>> plain(math.inf), plain(0.05), plain(True), plain("mean")
    ('∞', '0.05', 'on', 'mean')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return "∞" if value == math.inf else f"{value:g}"
    return str(value)


def exact(value: float) -> str:
    """A number that comes back as it was: in few digits where they are enough, else in all.

    >>> exact(0.05), exact(1.0), exact(math.inf), exact(0.1234567)
    ('0.05', '1', 'inf', '0.1234567')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def times(value: float) -> str:
    """A factor as it is written.

    >>> times(1000.0)
    '× 1,000'
    """
    return f"× {value:,g}"


def spaced(value: str) -> str:
    """A word of several parts as people read it.

    >>> spaced("most-training-nodes")
    'most training nodes'
    """
    return value.replace("-", " ")


def all_at_zero(value: float) -> str:
    """A number that leaves nothing out when it is 0.

    >>> all_at_zero(0), all_at_zero(3)
    ('all', '3')
    """
    return plain(value) if value else "all"


def as_clients(value: float) -> str:
    """A number of inference's own, or none.

    >>> as_clients(-1), as_clients(0.5)
    ("as the clients'", '0.5')
    """
    return plain(value) if value >= 0 else "as the clients'"


def setting(
    default: Any,
    help: str,
    symbol: str = "",
    label: str = "",
    unit: str = "",
    form: Callable[[Any], str] = plain,
    stages: str = "",
    **limits: Any,
) -> Any:
    """A field with all that is said of it.

    `label` names it in a few words, `symbol` is the paper's, `help` goes on where the label ends,
    `form` writes a value, `stages` name the steps of a run that make its data from it: load, split,
    spoil, mislabel, whose outcomes are kept, and test. Limits are low, above, high, below,
    infinite, whole, choices and a hint, and `unset` is the one value outside them; every number
    has an upper one. A link may go no further than `link_high` or `link_below`, where there is
    one: it was made by others, and all visitors of the app wait for what it asks for.
    """
    words = {"help": help, "symbol": symbol, "label": label, "unit": unit, "form": form}
    return field(default=default, metadata=words | {"stages": stages.split()} | limits)


def stage_of(settings: Any, stage: str) -> tuple[tuple[str, Any], ...]:
    """Name and value of every field that a stage depends on: the key of what it gives."""
    return tuple((name, getattr(settings, name)) for name in stage_names(settings, stage))


def stage_names(settings: Any, *stages: str) -> tuple[str, ...]:
    """The fields that any of some stages depends on, in their order."""
    return tuple(f.name for f in fields(settings) if {*stages} & {*f.metadata["stages"]})


def changed(settings: Any, usual: Any = None) -> dict[str, Any]:
    """Name and value of every field that differs from its default, or from other settings."""
    other = usual or type(settings)()
    both = ((f.name, getattr(settings, f.name), getattr(other, f.name)) for f in fields(settings))
    return {name: value for name, value, was in both if value != was}


def as_options(given: dict[str, Any]) -> list[str]:
    """Values as words of the command line, which come back as they were.

    >>> as_options({"label_noise": 0.1234567, "draw": -1, "shrinkage": False})
    ['--label-noise', '0.1234567', '--draw=-1', '--no-shrinkage']
    """
    words = []
    for name, value in given.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            text = exact(value) if isinstance(value, float) else str(value)
            words += [f"--{flag}={text}"] if text.startswith("-") else [f"--{flag}", text]
    return words


def as_call(settings: Any) -> str:
    """The line of Python that makes them: its dataset, and what differs from the defaults."""
    given = {"dataset": settings.dataset} | changed(settings)
    values = {k: '"inf"' if v == math.inf else repr(v) for k, v in given.items()}
    words = ", ".join(f"{k}={v}" for k, v in values.items())
    return f"{type(settings).__name__}({words})".replace("'", '"')


def name_of(f: "Field[Any]") -> str:
    """Symbol, label and unit of a field, where it has them: `ρ, edges changed (share)`."""
    words = ", ".join(part for part in (f.metadata["symbol"], f.metadata["label"]) if part)
    return f"{words} ({f.metadata['unit']})" if f.metadata["unit"] else words


def capital(text: str) -> str:
    """The text with a capital at its beginning; the rest stays."""
    return text[:1].upper() + text[1:]


def checked(name: str, kind: Any, value: Any, rule: Any) -> Any:
    """The value in its declared type, or one sentence that says what to give instead."""
    kind = kind if isinstance(kind, str) else kind.__name__
    if kind == "str":
        if not isinstance(value, str):
            raise SettingError(f"{name} must be a word, got {value!r}.")
        if "choices" in rule and value not in rule["choices"]:
            raise SettingError(f"{name} must be one of {', '.join(rule['choices'])}, got {value}.")
        return number_list(name, value, rule["numbers_below"]) if "numbers_below" in rule else value
    if kind == "bool":
        if not isinstance(value, bool):
            raise SettingError(f"{name} must be true or false, got {value!r}.")
        return value
    number = _whole(name, value) if kind == "int" else _real(name, value)
    if number != rule.get("unset"):
        _within(name, number, rule)
    return number


def number_list(name: str, text: str, below: int) -> str:
    """Client numbers in order, each once: `"7, 3,3"` becomes `"3,7"`."""
    try:
        numbers = {int(part) for part in text.split(",") if part.strip()}
        if min(numbers, default=0) < 0 or max(numbers, default=0) >= below:
            raise ValueError
    except ValueError:
        raise SettingError(
            f"{name} must be client numbers, as in 0,3,7, got {text[:40]!r}."
        ) from None
    return ",".join(str(k) for k in sorted(numbers))


def limited(name: str, value: Any, rule: Any) -> Any:
    """A checked value of a link, or one sentence where links stop before Settings do."""
    below = rule.get("link_below")
    if below is not None and value and int(value.rpartition(",")[2]) >= below:
        raise SettingError(
            f"{name} must be client numbers below {below} in a link; the command line takes more."
        )
    most = rule.get("link_high")
    if most is not None and most < value < math.inf:
        raise SettingError(
            f"{name} must be at most {most:g} in a link, got {_brief(value)}; "
            "the command line takes more."
        )
    return value


def _whole(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(f"{name} must be a whole number, got {str(value)[:40]!r}.") from None


def _real(name: str, value: Any) -> float:
    try:
        if isinstance(value, bool):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(f"{name} must be a number, got {str(value)[:40]!r}.") from None


def _within(name: str, number: float, rule: Any) -> None:
    low, above = rule.get("low", -math.inf), rule.get("above", -math.inf)
    high, below = rule.get("high", math.inf), rule.get("below", math.inf)
    endless = number == math.inf and not rule.get("infinite")
    if number != number or endless:
        wanted = "a finite number"
    elif number < low:
        wanted = f"at least {low:g}"
    elif number <= above:
        wanted = f"above {above:g}"
    elif high < number < math.inf:
        wanted = f"at most {high}" + (" or inf" if rule.get("infinite") else "")
    elif number >= below and "below" in rule:
        wanted = f"below {below:g}"
    elif rule.get("whole") and number < math.inf and number != int(number):
        wanted = "a whole number or inf"
    else:
        return
    hint = f" {rule['hint']}" if "hint" in rule else ""
    raise SettingError(f"{name} must be {wanted}, got {_brief(number)}.{hint}")


def _brief(number: float) -> str:
    if isinstance(number, float):
        return f"{number:g}"
    return str(number) if abs(number) < 10**15 else "a far larger number"
