"""What somebody gives: a file by its path, or bytes with a name; how much of it is taken."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePath
from typing import IO

from spear_core.errors import DataDamaged, DataMissing, one_line
from spear_core.memory import budget

MOST_COLUMNS = 10**5 + 16  # features, and what stands beside them
PART = 0.25  # of the budget that one file may take as it is: read, it takes a few times that


@dataclass(frozen=True)
class Given:
    """One file. A page gives bytes, since it never opens a path that a visitor names."""

    name: str
    content: Path | bytes

    @property
    def size(self) -> int:
        if isinstance(self.content, Path):
            return self.content.stat().st_size
        return len(self.content)

    @property
    def suffix(self) -> str:
        return PurePath(self.name).suffix.lower()

    def open(self) -> IO[bytes]:
        return BytesIO(self.content) if isinstance(self.content, bytes) else self.content.open("rb")


def given_path(path: str | Path) -> Given:
    """A file of this machine, named on the command line."""
    path = Path(path).expanduser()
    if not path.is_file():
        raise DataMissing(f"There is no file {one_line(path)}; give the path of one.")
    return given_file(path.name, path)


def given_folder(path: str | Path) -> tuple[Given, ...]:
    """The text files and splits of a folder of this machine; what else lies there is left."""
    path = Path(path).expanduser()
    if not path.is_dir():
        raise DataMissing(f"There is no folder {one_line(path)}; give the path of one.")
    files = sorted(p for p in path.iterdir() if p.suffix in (".txt", ".npz") and p.is_file())
    return tuple(given_path(p) for p in files)


def given_file(name: str, content: Path | bytes) -> Given:
    """A file that is not too large, under a name that is safe to say."""
    one = Given(short(PurePath(name.replace("\\", "/")).name), content)
    try:
        check_size(one.name, one.size)
    except OSError as error:
        raise DataMissing(f"{one.name} cannot be read ({error.strerror}).") from error
    if one.size == 0:
        raise DataDamaged(f"{one.name} is empty; give a file with a graph in it.")
    return one


def short(text: object, most: int = 40) -> str:
    """A word of others in a sentence of ours."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def most_bytes() -> float:
    """Bytes that one file may have, and what is made of it a few times as many."""
    return PART * budget.limit()


def check_size(name: str, size: float, what: str = "takes") -> None:
    """A sentence where that is too much."""
    most = most_bytes()
    if size > most:
        raise DataDamaged(
            f"{name} {what} {human(size)}, more than the {human(most)} that may be read here; give "
            f"a smaller graph, or more memory with {budget.VARIABLE}."
        )


def human(size: float) -> str:
    """Bytes for people.

    >>> human(1.5e9), human(200)
    ('1.5 GB', '200 B')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:.0f} B"
