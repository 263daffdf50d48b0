"""The command line: `spear COMMAND …`, or `python -m spear_core COMMAND …`.

One file a command. Each has `add(commands)`, which adds its parser to argparse's subparsers and
sets `command`, the function that is called with the parsed arguments.
"""

import argparse
import io
import os
import sys
from typing import NoReturn

from spear_core.cli import (
    app,
    baseline,
    check,
    data,
    federation,
    field,
    notebook,
    paper,
    run,
    sweep,
)
from spear_core.cli.options import program
from spear_core.errors import SpearError, one_line
from spear_core.memory import free

NO_ROOM = "There is not enough memory for these settings; use a smaller graph or fewer clients."
COMMANDS = (run, app, notebook, data, check, paper, sweep, baseline, field, federation)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.\n")


def main(argv: list[str] | None = None) -> int:
    """Run a command; 0 when it worked, 2 with one sentence when it cannot."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks Greek letters gets a "?"
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    args = parser().parse_args(argv)
    try:
        with free.lifted(getattr(args, "allow_large", False)):
            args.command(args)
        sys.stdout.flush()
    except SpearError as error:
        print(one_line(error), file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader went away, as `| head` does
        sys.stderr.close()
        return 0
    except MemoryError:
        print(NO_ROOM, file=sys.stderr)
        return 2
    except RuntimeError as error:
        if "allocate memory" not in str(error):  # as torch says it
            raise
        print(NO_ROOM, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"The output cannot be written ({error.strerror}).", file=sys.stderr)
        os._exit(2)  # Python would try to write it once more
    except KeyboardInterrupt as stop:
        print(str(stop) or "Stopped.", file=sys.stderr)
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    whole = _Parser(prog=program(), description="SPEAR from the command line.")
    commands = whole.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    for command in COMMANDS:
        command.add(commands)
    return whole
