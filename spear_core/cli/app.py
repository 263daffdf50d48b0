"""`spear app`: the explorer in a browser, from any folder."""

import argparse
import importlib.util
import os
import socket
from pathlib import Path
from typing import Any

from spear_core.cli.options import program
from spear_core.errors import SpearError
from spear_core.memory import budget

ADDRESS = "127.0.0.1"  # this machine alone: there is no login
BESIDE = Path(__file__).resolve().parents[2]  # the project, or what it was installed into
SCRIPTS = (BESIDE / "spear_app" / "app.py", BESIDE / "app.py")  # installed, in the project


def add(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser("app", help="serve the explorer, for your browser")
    parser.set_defaults(command=main)
    parser.add_argument("--port", type=port, default=8501, help="of 127.0.0.1 (default 8501)")
    parser.add_argument(
        "--memory-gb",
        metavar="GB",
        help="that graphs and results may keep in memory (default: a quarter of the machine's)",
    )


def main(args: argparse.Namespace) -> None:
    """Serve the app until it is stopped with Ctrl-C.

    Streamlit reads the `.streamlit/config.toml` beside the script, whatever the current folder is.
    """
    script = next(filter(Path.is_file, SCRIPTS), None)
    if script is None:
        raise SpearError(f"The app is missing: there is no {SCRIPTS[0]}. Install the project anew.")
    if importlib.util.find_spec("streamlit") is None:
        raise SpearError("Streamlit is not installed; say pip install streamlit.")
    if taken(args.port):
        raise SpearError(
            f"Port {args.port} is taken; say {program()} app --port {args.port % 65535 + 1}."
        )
    if args.memory_gb is not None:
        os.environ[budget.VARIABLE] = args.memory_gb
    budget.limit()  # says so now if it is no number
    from streamlit.web import cli

    options = {
        "server.address": ADDRESS,
        "server.port": args.port,
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
    }
    words = [f"--{name}={value}" for name, value in options.items()]
    cli.main(["run", str(script), *words], prog_name="streamlit", standalone_mode=False)


def port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"needs a whole number from 1 to 65535, got {text!r}")
    return int(text)


def taken(number: int) -> bool:
    """Whether somebody listens on a port of this machine, or we may not."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, number))
        except OSError:
            return True
    return False
