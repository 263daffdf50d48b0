"""Build docs/api.md from `spear_core.__all__`: signatures and docstrings. `make api` runs it."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import spear_core

FILE = Path(__file__).with_name("api.md")
HEAD = """# The public names of `spear_core`

Made from their docstrings by `make api`; change those, not this file. Every name can be imported
from `spear_core` itself and stays stable; modules below it may move.

`Settings → load → Graph → split → Partition → upload → Uploads → estimate → Estimate → classify →
Prediction → measure → Metrics`, and `run` does all of it.
"""


def page() -> str:
    """The whole file: what is called first, then what it gives."""
    public = {name: getattr(spear_core, name) for name in spear_core.__all__}
    functions = {name: thing for name, thing in public.items() if inspect.isfunction(thing)}
    classes = {name: thing for name, thing in public.items() if inspect.isclass(thing)}
    rest = {name: thing for name, thing in public.items() if name not in functions | classes}
    parts = [HEAD, "## Functions\n"]
    parts += [f"### `{name}`\n\n{function(name, thing)}" for name, thing in functions.items()]
    parts += ["## Types\n"]
    parts += [f"### `{name}`\n\n{kind(thing)}" for name, thing in classes.items()]
    parts += ["## Values\n", *(f"- `{name} = {value!r}`\n" for name, value in rest.items())]
    return "\n".join(parts)


def function(name: str, thing: Any) -> str:
    return f"```python\n{signature(name, thing)}\n```\n\n{words(thing)}\n"


def signature(name: str, thing: Any) -> str:
    """How it is called, one argument a line where they are many."""
    made = inspect.signature(thing)
    line = short(f"{name}{made}")
    if len(line) <= 90:
        return line
    inside = "".join(f"    {parameter},\n" for parameter in made.parameters.values())
    return short(f"{name}(\n{inside}) -> {inspect.formatannotation(made.return_annotation)}")


def short(annotated: str) -> str:
    """Types by their own names, without modules and quotes.

    >>> short("load(settings: 'Settings') -> spear_core.graph.Graph | None")
    'load(settings: Settings) -> Graph | None'
    """
    return re.sub(r"'([A-Z]\w*)'", r"\1", re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", annotated))


def kind(thing: type) -> str:
    """A class: its words, its fields, and what can be read or called."""
    parts = [words(thing)]
    if is_dataclass(thing):
        parts += ["\n".join(["| field | default | |", "|---|---|---|", *rows(thing)])]
    parts += ["\n".join(members(thing))]
    return "\n\n".join(filter(None, parts)) + "\n"


def rows(thing: Any) -> Iterator[str]:
    """One row a field: its default and its help, or the comment beside it."""
    said = comments(thing)
    for field in fields(thing):
        usual = "" if field.default is MISSING else f"`{field.default!r}`"
        symbol = field.metadata.get("symbol")
        about = field.metadata.get("help", said.get(field.name, ""))
        about = f"{symbol}: {about}" if symbol else about
        typed = short(inspect.formatannotation(field.type))
        yield f"| `{field.name}: {escaped(typed)}` | {usual} | {escaped(about)} |"


def escaped(text: str) -> str:
    """Text that may stand in a table."""
    return text.replace("|", r"\|")


def comments(thing: type) -> dict[str, str]:
    """What stands behind the fields in the source: `name: type  # this`."""
    lines = re.findall(r"^    (\w+): .*?  # (.+)$", inspect.getsource(thing), flags=re.MULTILINE)
    return dict(lines)


def members(thing: type) -> Iterator[str]:
    """Public properties and methods with their first lines; those without words stay out."""
    for name, member in vars(thing).items():
        given = isinstance(member, property | cached_property)
        if name.startswith("_") or not (given or inspect.isfunction(member)):
            continue
        about = inspect.getdoc(member.fget if isinstance(member, property) else member)
        if about:
            called = name if given else f"{name}(…)"
            yield f"- `{called}`: {' '.join(about.partition(chr(10) * 2)[0].split())}"


def words(thing: Any) -> str:
    """A docstring as Markdown: examples as code, the rest as it is."""
    blocks = (inspect.getdoc(thing) or "").split("\n\n")
    return "\n\n".join(
        f"```python\n{block}\n```" if block.startswith(">>>") else block for block in blocks
    )


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
    print(FILE)
