"""Command lines as nobody would type them, and what `main` makes of them."""

import contextlib
import io
import random
from pathlib import Path

from spear_core.cli import main
from spear_core.settings import FIELDS
from tests.fuzz import NUMBERS, WORDS, value

STARTS = (
    ("run", "--dataset", "karate", "--clients", "3"),
    ("run", "--dataset", "synthetic", "--json"),
    ("sweep", "--dataset", "karate", "--clients", "3"),
    ("baseline", "fedavg", "--dataset", "karate", "--clients", "3", "--rounds", "1"),
    ("export-client", "--dataset", "karate", "--clients", "3"),
    ("data",),
)
OTHERS = {  # options that are no settings, by command
    "run": ("--seeds",),
    "sweep": ("--seeds", "--measures", "--jobs"),
    "baseline": ("--seeds", "--epochs", "--learning-rate", "--hidden", "--dropout"),
    "export-client": ("--client",),
    "data": (),
}
LARGE = ("nodes", "degree", "classes", "features")  # only sizes that take no time


def drawn(count: int, seed: int, folder: Path) -> list[list[str]]:
    """So many command lines that write into the folder alone."""
    rng = random.Random(seed)
    return [_one(rng, folder) for _ in range(count)]


def _one(rng: random.Random, folder: Path) -> list[str]:
    line = list(rng.choice(STARTS))
    if line[0] == "data":
        return [*line, rng.choice(WORDS[2:]).lstrip("-")]
    if line[0] == "baseline":
        line += ["--store", str(folder / "runs.csv")]
    if line[0] == "export-client":
        line += ["--out", str(folder / "client.npz")]
    names = [name for name in FIELDS if name not in (*LARGE, "dataset", "device")]
    for name in rng.sample(names, rng.randint(1, 4)):
        if FIELDS[name].type in (bool, "bool"):
            line.append(rng.choice(("--", "--no-")) + name.replace("_", "-"))
        else:
            line.append(f"--{name.replace('_', '-')}={value(rng, name)}")
    if OTHERS[line[0]]:
        other = rng.choice(OTHERS[line[0]])
        line.append(f"{other}={rng.choice((*NUMBERS, *WORDS, '1', '0,1', 'paper', 'all'))}")
    if rng.random() < 0.1:
        line.append(rng.choice(WORDS))
    return line


def wrong(line: list[str]) -> str:
    """What a command line raised, if it was not ended in one of the agreed ways."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main(line)
    except SystemExit:
        pass
    except Exception as error:
        return f"{error!r} of {line}"
    return f"a traceback of {line}" if "Traceback" in said.getvalue() else ""
