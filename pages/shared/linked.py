"""Settings and views as the parameters of a link, and back.

A link says what differs from the defaults of its dataset, and the version of this rule (`v=2`). One
without a version is of the earlier form, which had every parameter: what it does not say is as in
`Settings()`. A value that cannot be used is left out with a sentence; the rest still counts.
"""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pages.shared import pages
from pages.shared.affordable import affordable
from spear_core import Settings, SpearError, defaults
from spear_core.datasets import CATALOGUE
from spear_core.fields import changed, exact, limited
from spear_core.settings import FIELDS

SETTINGS = tuple(f.name for f in fields(Settings) if f.name != "device")
OLD = (  # views in the order in which links have always had them; newer ones follow
    *("view", "show", "colour", "shrink", "centroid", "digit", "split_count", "smooth_curve"),
    *("sigma2", "tau2", "samples", "learn", "learn_n", "learn_node", "compare", "sens", "sens_x"),
    *("sens_y", "paper", "paper_table", "paper_curve", "attack_view", "noise_view"),
    *("beyond", "beyond_part", "compare_method", "compare_recipe", "compare_rounds"),
    "your_files",
)
MOST_NOTES = 8  # sentences about one link
VERSION, NOW = "v", "2"
HIDE, PIN, PICK, NODE = "hide", "pin", "pick", "node"  # hidden controls, pinned setting, picks
PRESENT, BESIDE = "present", "sens_more"  # large type; further datasets beside the present one
MOST_BESIDE = 5
WORDS = {  # parameters that are neither settings nor views -> what they must look like
    PICK: re.compile(r"\d{1,6},\d{1,4}", re.ASCII),
    NODE: re.compile(r"\d{1,9}", re.ASCII),
    PRESENT: re.compile("1"),
}
OTHERS = (HIDE, PIN, *WORDS)  # held as one word each


def views() -> dict[str, tuple[str, ...]]:
    """What pages show, beside the settings: name -> choices, the first is the default."""
    found = pages.views()
    return {name: found[name] for name in (*OLD, *found) if name in found}


def choices(view: str) -> tuple[str, ...]:
    """What a view can be, as its page says."""
    return pages.views()[view]


def as_query(settings: Settings) -> dict[str, str]:
    """Settings as query parameters, every one: `{"beta": "0.05", "shrinkage": "true", …}`."""
    plain = settings.to_dict()
    return {name: _text(plain[name]) for name in SETTINGS}


def short(settings: Settings, held: Mapping[str, Any]) -> dict[str, str]:
    """What differs from the defaults of the dataset, of settings and of what a session holds."""
    usual = as_query(defaults(settings.dataset)) | {"dataset": Settings().dataset}
    query = {k: text for k, text in as_query(settings).items() if text != usual[k]}
    for name, options in views().items():
        if held.get(name, options[0]) not in (options[0], None):
            query[name] = held[name]
    query |= {BESIDE: ",".join(held[BESIDE])} if held.get(BESIDE) else {}
    query |= {name: held[name] for name in OTHERS if held.get(name)}
    return {VERSION: NOW} | query


def parse(query: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Values for every control and a sentence for each parameter that was left out."""
    usual, owned = _usual(query), views()
    values: dict[str, Any] = {name: getattr(usual, name) for name in SETTINGS}
    values |= {name: options[0] for name, options in owned.items()}
    values |= dict.fromkeys(OTHERS, "") | {BESIDE: []}
    notes = []
    for name, text in query.items():
        if name in SETTINGS:
            try:
                values[name] = checked(name, text)
            except SpearError as error:
                notes.append(f"{_quoted(name, text)} in the link was left out: {error}")
        elif name in owned and text in owned[name]:
            values[name] = text
        elif name in (HIDE, BESIDE):
            known = (
                (*SETTINGS, *owned, BESIDE, "scenario", "lab", "estimator")
                if name == HIDE
                else tuple(CATALOGUE)
            )
            values[name], wrong = _several(name, text, known)
            notes += wrong
        elif name in WORDS and WORDS[name].fullmatch(text):
            values[name] = text
        elif name == PIN:
            pinned, wrong = unpin(text)
            values[PIN] = pin(pinned) if pinned else ""
            notes += wrong
        elif (name, text) != (VERSION, NOW):
            said = _quoted(name, text)
            notes.append(f"{said} in the link was left out: there is no such control here.")
    values[HIDE] = ",".join(values[HIDE])
    try:
        affordable(Settings(**{name: values[name] for name in SETTINGS}))
    except SpearError as error:  # each value is fine by itself, together they are not
        notes.append(f"The link was left out: {error}")
        values |= {name: getattr(Settings(), name) for name in SETTINGS}
    if len(notes) > MOST_NOTES:
        notes[MOST_NOTES:] = [f"{len(notes) - MOST_NOTES} more parts of the link were left out."]
    return values, notes


def _usual(query: Mapping[str, str]) -> Settings:
    """What a link leaves unsaid."""
    try:
        return defaults(query.get("dataset", Settings().dataset) if VERSION in query else "digits")
    except SpearError:  # there is no such dataset, which is said where it is read
        return Settings()


def _several(name: str, text: str, known: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The words of a list that are known, and a sentence for each other one."""
    parts = [part for part in text.split(",") if part]
    what = "control" if name == HIDE else "dataset"
    wrong = [
        f"{_quoted(name, part)} in the link was left out: there is no such {what}."
        for part in parts
        if part not in known
    ]
    found = list(dict.fromkeys(part for part in parts if part in known))
    return (found if name == HIDE else found[:MOST_BESIDE]), wrong


def _quoted(name: str, text: str) -> str:
    """A parameter as the link has it, cut where it is long."""
    return "=".join(part if len(part) <= 40 else f"{part[:40]}…" for part in (name, text))


def pin(settings: Settings) -> str:
    """A setting in one word of the URL: what differs from the defaults."""
    texts = as_query(settings)
    changes = (f"{name}:{texts[name]}" for name in changed(settings) if name in texts)
    return ",".join(changes) or "default"


def unpin(text: str) -> tuple[Settings | None, list[str]]:
    """The setting in such a word, and a sentence where it cannot be read."""
    texts: dict[str, str] = {}  # of one that is said twice the last, as in the link itself
    try:
        for part in re.split(r",(?=[a-z_]+:)", text) if text not in ("", "default") else []:
            name, _, value = part.partition(":")
            if name not in SETTINGS:
                return None, [
                    f"The pinned setting in the link was left out: what is {name[:40]!r}?"
                ]
            texts[name] = value
        changes = {name: checked(name, value) for name, value in texts.items()}
        return affordable(Settings(**changes)), []
    except SpearError as error:
        return None, [f"The pinned setting in the link was left out: {error}"]


def checked(name: str, text: str) -> Any:
    """The value of one parameter, or SpearError with the sentence that Settings gives."""
    value: Any = {"true": True, "false": False}.get(text, text)
    return limited(name, getattr(Settings(**{name: value}), name), FIELDS[name].metadata)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return exact(value) if isinstance(value, float) else str(value)
