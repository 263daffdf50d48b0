"""`python -m spear_core notebook [PAGE]`: the notebook of a page, or of a link, where you are."""

import argparse
import json
import re
from dataclasses import fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from spear_core.cli.app import BESIDE
from spear_core.cli.options import program
from spear_core.errors import SpearError
from spear_core.fields import as_call
from spear_core.settings import Settings, defaults

FOLDERS = (BESIDE / "spear_app" / "notebooks", BESIDE / "notebooks")  # installed, in the project
FIRST = "explore"
HERE = re.compile(r"http://localhost:8501/\w*")  # the link to its page that each begins with
GIVEN = re.compile(r"^settings = Settings\(.*$", re.MULTILINE)
OTHER = re.compile(r"\[([^\]]+)\]\(\d+_(\w+)\.ipynb\)")  # a link to a notebook beside it


def add(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser("notebook", help="write the notebook of a page or of a link")
    parser.set_defaults(command=main)
    parser.add_argument(
        "page", nargs="?", help=f"its name in the address (default: the link's, or {FIRST})"
    )
    parser.add_argument(
        "--settings", metavar="LINK", help="a link of the app: the notebook runs its settings"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to (default: its own name)")


def main(args: argparse.Namespace) -> None:
    """Write it, and say how to open it."""
    books = offered()
    address, settings = read_link(args.settings) if args.settings else ("", None)
    page = args.page or urlsplit(address).path.rpartition("/")[2] or FIRST
    if page not in books:
        raise SpearError(f"There is no notebook {page}; use one of {', '.join(books)}.")
    target = args.out or Path(books[page].name)
    if target.exists():
        raise SpearError(f"{target} is there already; say --out and another name.")
    book = written(books[page], address, settings)
    target.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"Wrote {target}. Open it with: jupyter lab {target}")
    if not (find_spec("jupyterlab") and find_spec("anywidget")):
        print('JupyterLab and the explorer need: pip install "spear-explorer[notebook]"')


def offered() -> dict[str, Path]:
    """Every notebook by the name of its page, in reading order."""
    folder = next(filter(Path.is_dir, FOLDERS), None)
    if folder is None:
        raise SpearError("The notebooks are missing. Install the project anew.")
    return {path.stem.partition("_")[2]: path for path in sorted(folder.glob("[0-9]*.ipynb"))}


def read_link(link: str) -> tuple[str, Settings]:
    """The link as an address, and its settings; what a page shows beside them is left alone."""
    parts = urlsplit(link if "?" in link or "/" in link else f"?{link}")
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    start = defaults(query.get("dataset", Settings().dataset)) if "v" in query else Settings()
    given: dict[str, Any] = {
        f.name: {"true": True, "false": False}.get(query[f.name], query[f.name])
        for f in fields(Settings)
        if f.name in query
    }
    base = f"{parts.scheme}://{parts.netloc}" if parts.netloc else "http://localhost:8501"
    return f"{base}{parts.path or '/'}?{parts.query}", replace(start, **given)


def written(source: Path, address: str, settings: Settings | None) -> dict[str, Any]:
    """The notebook as it is, or with these settings and so without what it has shown."""
    book: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    command = f"{program()} notebook"
    for cell in book["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text = OTHER.sub(rf"\1 (`{command} \2`)", text)
            if settings:
                text = HERE.sub(lambda _: address, text)
        elif settings:
            text = GIVEN.sub(lambda _: f"settings = {as_call(settings)}  # as in the link", text)
            cell |= {"outputs": [], "execution_count": None}
        cell["source"] = text
    return book
